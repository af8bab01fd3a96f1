// SPDX-License-Identifier: Apache-2.0
// The store's rows as CSV files, and files of others as rows of the store.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "foretrain/store/store.h"

namespace foretrain::store {

struct Imported {
  std::string file;
  std::string table;
  std::size_t rows = 0;
  std::size_t skipped = 0;  // runs that the store has already
};

// Told after each line: how many were read, and what share of the bytes of all files.
using OnLines = std::function<void(std::size_t lines, double share)>;

// Imports a CSV file, told apart by its columns: training measurements, operator and collective
// files of the public data sets that docs/store.md lists, our own operators and collectives; or a
// folder that export_folder wrote, with its runs. All of it or nothing. Rows of operators,
// collectives and training carry the file's name; those of an earlier import of that name are
// replaced. Throws Error(BadInput) naming file and line, Error(Io).
std::vector<Imported> import_path(Store& store, const std::filesystem::path& path,
                                  const OnLines& on_lines = {});

// The tables of an export, in the order in which they refer to each other.
const std::vector<std::string>& export_tables();

// One table as CSV, in the order in which rows were written. Measured numbers have six significant
// digits, whole ones all. "metrics" and "steps" name their run by its number and hold those of runs
// that count (status "ok"). Throws Error(NotFound).
void export_table(const Store& store, const std::string& table, std::ostream& out);

// Every table that has rows as FOLDER/<table>.csv. Throws Error(Io).
void export_folder(const Store& store, const std::filesystem::path& folder);

}  // namespace foretrain::store
