// SPDX-License-Identifier: Apache-2.0
// The store's rows as CSV files, and files of others as rows of the store.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/store/store.h"
#include "foretrain/store/tables.h"

namespace foretrain::store {

struct Imported {
  std::string file;
  std::string table;
  std::size_t rows = 0;
  std::size_t replaced = 0;  // rows of an earlier import that are gone
  std::size_t skipped = 0;   // runs that the store has already
};

// Told after each line: how many were read, and what share of the bytes of all files, where their
// size is known.
using OnLines = std::function<void(std::size_t lines, std::optional<double> share)>;

// Imports CSV files, told apart by their columns: training measurements, operator and collective
// files of the public data sets that docs/store.md lists, our own operators and collectives; and
// folders that export_folder wrote, with their runs. "-" is standard input. All of it or nothing.
// Rows of published files carry the file's name as their source; what an earlier import brought of
// the same table, source and machine is replaced, and two files of one import that bring such rows
// are refused. Throws Error(BadInput) naming file and line, Error(Io).
std::vector<Imported> import_paths(Store& store, const std::vector<std::filesystem::path>& paths,
                                   const OnLines& on_lines = {});

// One table as CSV, in the order in which rows were written. Measured numbers have six significant
// digits, whole ones all. "metrics" and "steps" name their run by its number and hold those of runs
// that count (status "ok"). All as it is at one moment. Throws Error(NotFound).
void export_table(const Store& store, const std::string& table, std::ostream& out);

// Every table that has rows as FOLDER/<table>.csv, all as they are at one moment; a file of a table
// that has none is removed. All of them appear at once (base/output_folder.h). Returns the names of
// the files. Throws Error(Io).
std::vector<std::string> export_folder(const Store& store, const std::filesystem::path& folder);

}  // namespace foretrain::store
