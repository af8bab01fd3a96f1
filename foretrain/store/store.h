// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foretrain/store/open_mode.h"
#include "foretrain/store/rows.h"

namespace foretrain::store {

class Database;

// Which rows to list; what is empty does not restrict.
struct Filter {
  std::string campaign{};
  std::string machine{};
  std::string setting{};
  std::string split{};
  std::string status{};
};

// Measurements in one SQLite file. Everything appended by one call is one transaction that is on
// disk when the call returns (write-ahead log, synchronous=FULL): a process killed at any moment
// leaves whole transactions only, and every one whose call had returned. Several processes may
// use one file; a writer waits up to ten seconds for another. Not for use by several threads.
//
// Each call throws Error: Io for a file that cannot be read or written, is locked for too long or
// is damaged; BadInput for a file that is no store, or a row that refers to nothing known.
class Store {
 public:
  // Create makes the file where it is missing; the others throw Error(NotFound). A store written by
  // a newer program is Error(Unsupported).
  explicit Store(const std::filesystem::path& path, OpenMode mode = OpenMode::Create);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Replaces the one of the same id (name); what is empty or absent in the new one stays as it was.
  void put_machine(const Machine& machine);
  void put_campaign(const Campaign& campaign);

  // Writes a run with its metrics and steps and returns its id. Its campaign and machine must be
  // known, its configuration canonical, its steps' times finite and not negative. Throws BadInput
  // for a second run with the status "ok" of the same campaign, configuration and repeat.
  std::int64_t append_run(const RunRecord& record);

  // Whether a run with the status "ok" is there.
  bool has(const std::string& campaign, const std::string& configuration,
           std::int64_t repeat) const;

  // Whether a run of the same campaign, machine, configuration, repeat and start is there, whatever
  // its status, or one that counts for the same configuration and repeat.
  bool has_same(const Run& run) const;

  void append_operators(std::span<const Operator> rows);
  void append_collectives(std::span<const Collective> rows);
  void append_training(std::span<const Training> rows);

  // The same for what is measured anew: a row that differs in its numbers alone (time, spread,
  // repeats) is replaced.
  void put_operators(std::span<const Operator> rows);
  void put_collectives(std::span<const Collective> rows);

  // Remove the rows of a source that were measured on one machine, or of a file, and return how
  // many there were.
  std::int64_t forget_operators(const std::string& source, const std::string& machine);
  std::int64_t forget_collectives(const std::string& source, const std::string& machine);
  std::int64_t forget_training(const std::string& file);

  // Runs `work`, whose calls of this object become one transaction: all of it or nothing.
  void in_transaction(const std::function<void()>& work);

  // Runs `work`, whose calls of this object all see the store as it is at the first of them,
  // whatever others write meanwhile.
  void in_snapshot(const std::function<void()>& work) const;

  // In the order in which they were written.
  std::vector<Machine> machines() const;
  std::vector<Campaign> campaigns() const;
  std::vector<Run> runs(const Filter& filter = {}) const;
  RunRecord run(std::int64_t id) const;  // throws Error(NotFound)
  std::vector<Operator> operators(const std::string& machine = "") const;
  std::vector<Collective> collectives(const std::string& machine = "") const;
  std::vector<Training> training(const std::string& file = "") const;

  // Rows of a table, one of export_tables(). Throws Error(NotFound).
  std::int64_t count(const std::string& table) const;

 private:
  std::unique_ptr<Database> database_;
};

// JSON text in its one form: keys sorted, no spaces, whole numbers without a fraction. Two jobs are
// the same configuration where these texts are equal. Throws Error(BadInput).
std::string canonical_json(const std::string& text);

}  // namespace foretrain::store
