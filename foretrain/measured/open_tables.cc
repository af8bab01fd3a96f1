// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/open_tables.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/measured/step_file.h"
#include "foretrain/measured/torch_trace.h"
#include "foretrain/store/exchange.h"

namespace foretrain::measured {
namespace {

namespace fs = std::filesystem;

// Files of an export that hold no number to compare predictions with.
constexpr auto kBesideRuns = std::to_array<std::string_view>(
    {"machines.csv", "campaigns.csv", "metrics.csv", "steps.csv", "samples.csv"});

std::string head_of(const fs::path& file) {
  constexpr std::streamsize kHead = 1 << 16;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(ErrorKind::Io, "cannot read '" + printable(file.string()) + "'");
  std::string head(kHead, '\0');
  in.read(head.data(), kHead);
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

// Tables as they would be exported, so that a store and its export are read alike.
std::vector<Table> tables_of_store(const fs::path& file) {
  const store::Store store(file, store::OpenMode::ReadOnly);
  std::vector<Table> tables;
  store.in_snapshot([&] {
    for (const char* table : {"collectives", "operators", "runs", "training"}) {
      if (store.count(table) == 0) continue;
      auto text = std::make_unique<std::stringstream>();
      store::export_table(store, table, *text);
      const auto bytes = static_cast<std::uintmax_t>(text->tellp());
      tables.emplace_back(table, printable(file.filename().string()) + ", table " + table,
                          std::move(text), bytes);
    }
  });
  return tables;
}

std::vector<fs::path> files_of_folder(const fs::path& folder) {
  std::error_code problem;
  const bool is_export = fs::is_regular_file(folder / "runs.csv", problem);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (is_export && std::find(kBesideRuns.begin(), kBesideRuns.end(), name) != kBesideRuns.end()) {
      continue;
    }
    const fs::path ending = entry.path().extension();
    if ((ending == ".csv" || ending == ".jsonl") && entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  if (problem) {
    throw Error(ErrorKind::Io, "cannot read folder '" + printable(folder.string()) + "'");
  }
  if (files.empty()) {
    throw Error(ErrorKind::NotFound, "no .csv file in '" + printable(folder.string()) + "'");
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Table> tables_of_file(const fs::path& file, const std::string& request) {
  std::vector<Table> tables;
  switch (kind_of(file)) {
    case FileKind::Store:
      return tables_of_store(file);
    case FileKind::Steps:
      tables.push_back(step_table(file));
      break;
    case FileKind::Trace:
      if (request.empty()) {
        throw Error(ErrorKind::BadInput,
                    "file '" + printable(file.string()) +
                        "' is a profiler's trace, which does not say what ran; give --request");
      }
      tables.push_back(trace_table(file, request));
      break;
    case FileKind::Csv:
      tables.emplace_back(file);
  }
  return tables;
}

}  // namespace

FileKind kind_of(const fs::path& file) {
  using namespace std::string_view_literals;
  const std::string head = head_of(file);
  if (head.starts_with("SQLite format 3\0"sv)) return FileKind::Store;
  if (head.starts_with("\x1f\x8b")) return FileKind::Trace;  // which says to unpack it
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  const char begin = first == std::string::npos ? '\0' : head[first];
  if (begin == '[') return FileKind::Trace;
  if (begin == '{') {
    for (const char* word : {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\""}) {
      if (head.find(word) != std::string::npos) return FileKind::Trace;
    }
    return FileKind::Steps;
  }
  return file.extension() == ".jsonl" ? FileKind::Steps : FileKind::Csv;
}

std::vector<Table> open_tables(const fs::path& data, const std::string& request) {
  std::error_code problem;
  if (fs::is_directory(data, problem)) {
    std::vector<Table> tables;
    for (const fs::path& file : files_of_folder(data)) {
      for (Table& table : tables_of_file(file, request)) tables.push_back(std::move(table));
    }
    return tables;
  }
  if (!fs::exists(data, problem)) {
    throw Error(ErrorKind::NotFound, "no folder or file '" + printable(data.string()) + "'");
  }
  return tables_of_file(data, request);
}

}  // namespace foretrain::measured
