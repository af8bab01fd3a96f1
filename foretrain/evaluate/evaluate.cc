// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/evaluate.h"

#include <algorithm>
#include <set>
#include <span>
#include <sstream>

#include "foretrain/base/embedded.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/calibrate.h"
#include "foretrain/evaluate/collective_file.h"
#include "foretrain/evaluate/lab_runs.h"
#include "foretrain/evaluate/mapping.h"
#include "foretrain/evaluate/operator_file.h"
#include "foretrain/evaluate/predictor.h"
#include "foretrain/evaluate/summary.h"
#include "foretrain/evaluate/training_file.h"

namespace foretrain::evaluate {

extern const std::span<const EmbeddedFile> kEvaluateFiles;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPortion = 256;  // rows that are predicted together
constexpr std::uintmax_t kLargestMapping = 4 << 20;

std::vector<fs::path> find_files(const fs::path& data) {
  std::error_code problem;
  if (fs::is_regular_file(data, problem)) return {data};
  if (!fs::is_directory(data, problem)) {
    throw Error(ErrorKind::NotFound, "no folder or file '" + printable(data.string()) + "'");
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(data, problem)) {
    if (entry.path().extension() == ".csv" && entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  if (problem) throw Error(ErrorKind::Io, "cannot read folder '" + printable(data.string()) + "'");
  if (files.empty()) {
    throw Error(ErrorKind::NotFound, "no .csv file in '" + printable(data.string()) + "'");
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<Mapping> find_mapping(const fs::path& file) {
  fs::path own = file;
  own.replace_extension(".json");
  std::error_code problem;
  if (fs::is_regular_file(own, problem)) {
    const std::string where = "mapping " + printable(own.filename().string());
    if (fs::file_size(own, problem) > kLargestMapping) {
      throw Error(ErrorKind::BadInput, where + ": larger than 4 MiB");
    }
    std::ifstream in(own, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw Error(ErrorKind::Io, "cannot read '" + printable(own.string()) + "'");
    return parse_mapping(text.str(), where);
  }
  const std::string name = "evaluate/" + own.filename().string();
  for (const EmbeddedFile& known : kEvaluateFiles) {
    if (known.name == name) return parse_mapping(known.text, "mapping " + name);
  }
  return std::nullopt;
}

// Goes through the files; a portion of rows is mapped, predicted and handed on together: a whole
// file where its rows calibrate each other.
class Run {
 public:
  Run(const Options& options, const Library& library, const Observer& observer)
      : options_(options),
        observer_(observer),
        library_(library),
        predictor_(library, options.threads),
        summary_(options) {}

  void read(const fs::path& path);
  Evaluation finish();
  std::uintmax_t total_bytes = 0;

 private:
  bool wanted(const std::string& source) {
    if (options_.source.empty()) return true;
    sources_.insert(file_);
    sources_.insert(source);
    return options_.source == file_ || options_.source == source;
  }

  void add(const Row& row, const std::optional<Mapping>& mapping);
  void add(const Row& row, MappedRow mapped);
  void add_run(const Row& row);
  void time_operators(const fs::path& path);
  void time_collectives(const fs::path& path);
  void add(const Case& one);
  void predict_portion();
  void set_apart(Case& one) const;

  const Options& options_;
  const Observer& observer_;
  const Library& library_;
  Predictor predictor_;
  Summary summary_;
  std::string file_;
  std::set<std::string> sources_;  // seen, for the message that one is not there
  std::uintmax_t done_bytes_ = 0;  // of earlier files
  std::vector<Waiting> waiting_;
  std::vector<IgnoredFile> ignored_;
  std::vector<CalibratedGroup> calibrated_;
};

void Run::add(const Row& row, const std::optional<Mapping>& mapping) {
  MappedRow mapped;
  mapped.device = cell(row, "gpu");
  mapped.metric = cell(row, "metric");
  mapped.reason = "no mapping for " + file_ + ".csv";
  add(row, mapping ? map_row(*mapping, row) : mapped);
  waiting_.back().one.source = cell(row, "source");
  waiting_.back().one.model = cell(row, "model");
}

// A run may tell several numbers.
void Run::add_run(const Row& row) {
  const std::string where = "file " + file_ + ".csv: line " + std::to_string(row.line);
  for (MappedRow& mapped : map_run(row, where)) {
    add(row, std::move(mapped));
    Case& one = waiting_.back().one;
    one.source = cell(row, "campaign");
    one.model = model_of_run(row, where);
  }
}

void Run::add(const Row& row, MappedRow mapped) {
  Waiting& entry = waiting_.emplace_back();
  Case& one = entry.one;
  one.file = file_;
  one.line = row.line;
  one.device = mapped.device;
  one.metric = mapped.metric;
  one.measured = mapped.measured;
  one.reason = mapped.reason;
  if (!mapped.request) return;
  entry.number = mapped.number;
  one.request = std::move(*mapped.request);
}

// A model that a calibration was found by is no test of it.
void Run::set_apart(Case& one) const {
  if (one.outcome != Outcome::Predicted) return;
  for (const Calibration& calibration : library_.calibrations) {
    if (calibration.models.empty() || !is_for(one.device, calibration)) continue;
    const std::string model = parse_json(one.request, "request").value("model", "");
    const auto& known = calibration.models;
    if (std::find(known.begin(), known.end(), model) == known.end()) continue;
    one.outcome = Outcome::Calibration;
    one.reason = "its model calibrates the others";
  }
}

void Run::predict_portion() {
  if (options_.calibration.rows > 0) {
    for (CalibratedGroup& group : judge_calibrated(waiting_, options_, library_)) {
      calibrated_.push_back(std::move(group));
    }
  } else {
    std::vector<Waiting*> rows;
    for (Waiting& row : waiting_) rows.push_back(&row);
    judge(rows, predictor_);
  }
  for (Waiting& row : waiting_) {
    set_apart(row.one);
    add(row.one);
  }
  waiting_.clear();
}

// Operators need no request: each is timed by the operator model alone.
void Run::time_operators(const fs::path& path) {
  OperatorClock clock(library_.catalog, *library_.operators, library_.calibrations);
  for (const auto& row : read_operators(path)) {
    Case one;
    one.file = file_;
    one.line = row->line;
    one.source = file_;
    one.model = row->op;
    one.precision = to_string(row->precision);
    one.metric = row->op + ", " + row->split;
    one.device = clock.device(row->device).name;
    one.measured = row->measured_s;
    one.predicted = clock.time_s(*row);
    one.error = one.predicted / one.measured - 1;
    one.outcome = Outcome::Predicted;
    add(one);
  }
}

void Run::add(const Case& one) {
  summary_.add(one);
  if (observer_.on_case) observer_.on_case(one);
}

// Nor do collectives; the model is what is done, the device the cluster where.
void Run::time_collectives(const fs::path& path) {
  CollectiveClock clock(library_.catalog, *library_.collectives);
  const std::vector<CollectiveCase> rows = read_collectives(path);
  if (rows.empty())
    ignored_.push_back({path.filename().string(), "a collective not modelled here"});
  for (const CollectiveCase& row : rows) {
    if (!wanted(row.cluster)) continue;
    Case one;
    one.file = file_;
    one.line = row.line;
    one.source = one.device = row.cluster;
    one.model = row.collective;
    one.metric = label(row);
    one.workers = row.nodes * row.devices;
    one.measured = row.measured;
    one.reason = row.broken;
    if (row.broken.empty()) {
      one.predicted = clock.predict(row);
      one.error = one.predicted / one.measured - 1;
      one.outcome = Outcome::Predicted;
    }
    add(one);
  }
}

void Run::read(const fs::path& path) {
  file_ = path.stem().string();
  TrainingFile file(path);
  const std::string missing = file.missing_columns();
  const bool runs = are_runs(file.columns());
  const std::optional<Mapping> mapping = runs ? std::nullopt : find_mapping(path);
  const bool other_columns = mapping && !mapping->columns.empty();
  if (has_operators(file.columns())) {
    time_operators(path);
  } else if (has_collectives(file.columns())) {
    time_collectives(path);
  } else if (!missing.empty() && !runs && !other_columns) {
    ignored_.push_back({path.filename().string(), "no training measurements: it lacks " + missing});
  } else {
    if (mapping) {
      file.rename(mapping->columns);
      check_columns(*mapping, file.columns());
    }
    for (Row row; file.next(row);) {
      if (!wanted(std::string(cell(row, runs ? "campaign" : "source")))) continue;
      runs ? add_run(row) : add(row, mapping);
      if (waiting_.size() < kPortion || options_.calibration.rows > 0) continue;
      predict_portion();
      if (observer_.progress && total_bytes > 0) {
        observer_.progress(static_cast<double>(done_bytes_ + file.bytes()) /
                           static_cast<double>(total_bytes));
      }
    }
    predict_portion();
  }
  done_bytes_ += file.bytes();
}

Evaluation Run::finish() {
  Evaluation evaluation = summary_.finish();
  if (evaluation.total.rows == 0 && !options_.source.empty()) {
    throw Error(ErrorKind::NotFound,
                "no rows of source '" + printable(options_.source) + "'" +
                    did_you_mean(options_.source, {sources_.begin(), sources_.end()}));
  }
  evaluation.ignored = std::move(ignored_);
  evaluation.calibrated = std::move(calibrated_);
  return evaluation;
}

}  // namespace

Evaluation evaluate(const fs::path& data, const Options& options, const Library& library,
                    const Observer& observer) {
  const std::vector<fs::path> files = find_files(data);
  Run run(options, library, observer);
  for (const fs::path& file : files) {
    std::error_code problem;
    const std::uintmax_t bytes = fs::file_size(file, problem);
    if (!problem) run.total_bytes += bytes;
  }
  for (const fs::path& file : files) run.read(file);
  return run.finish();
}

}  // namespace foretrain::evaluate
