// SPDX-License-Identifier: Apache-2.0
// Files of measured collectives.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "foretrain/comm/path.h"
#include "foretrain/evaluate/measured_cluster.h"
#include "foretrain/hw/catalog.h"

namespace foretrain::evaluate {

// A size of a collective on some nodes of a cluster.
struct CollectiveCase {
  std::size_t line = 0;
  std::string cluster{};                 // of data/collectives/clusters/, or what is in `own`:
  std::optional<MeasuredCluster> own{};  // where `foretrain collect collectives` ran
  std::string collective{};  // "all-reduce", "all-gather", "reduce-scatter", "broadcast",
                             // "point-to-point"
  int nodes = 1;
  int devices = 1;             // of each node
  double bytes = 0;            // of each rank: to be summed, held in the end, or sent
  bool copied = false;         // an all-gather that copies into separate tensors
  double measured = 0;         // seconds; or with reference_bytes:
  double reference_bytes = 0;  // rate of `bytes` against that of as many
  bool suspect = false;
  std::string broken{};  // why it is left out
};

// Whether the file is one of those that read_collectives knows, by its columns.
bool has_collectives(const std::vector<std::string>& columns);

// Every row, or every cell of a table of ratios: the store's own collectives, files of ETT and Echo
// (nccl-tests) and the tables of SimAI. Throws Error(BadInput) naming the line, NotFound for an
// unknown cluster, Io.
std::vector<CollectiveCase> read_collectives(const std::filesystem::path& path);

// "all-reduce, 2 x 4": collective, nodes and devices of each.
std::string label(const CollectiveCase& one);

// Predicts collectives; paths are looked up once.
class CollectiveClock {
 public:
  CollectiveClock(const hw::Catalog& catalog, const comm::Constants& constants)
      : catalog_(catalog), constants_(constants) {}

  // What `measured` is compared with.
  double predict(const CollectiveCase& one);

 private:
  const comm::Path& path(const CollectiveCase& one);

  const hw::Catalog& catalog_;
  const comm::Constants& constants_;
  std::map<std::tuple<std::string, int, int>, comm::Path> paths_;
};

}  // namespace foretrain::evaluate
