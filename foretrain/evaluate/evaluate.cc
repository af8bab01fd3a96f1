// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/evaluate.h"

#include <algorithm>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/calibrate.h"
#include "foretrain/evaluate/collective_clock.h"
#include "foretrain/evaluate/detail/summary.h"
#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/evaluate/prediction_cache.h"
#include "foretrain/measured/collective_file.h"
#include "foretrain/measured/measurements.h"
#include "foretrain/measured/open_tables.h"
#include "foretrain/measured/operator_file.h"
#include "foretrain/request/find_model.h"

namespace foretrain::evaluate {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPortion = 256;  // rows that are predicted together

// A table's name for people.
std::string label_of(const measured::Table& table) {
  return table.path().empty() ? table.name() : table.path().filename().string();
}

// The request with its model's file in `folder`, where it names one by a relative path.
std::string with_models_of(const fs::path& folder, const std::string& request) {
  Json json = parse_json(request, "request");
  const auto model = json.find("model");
  if (model == json.end() || !model->is_string() || !names_model_file(*model)) return request;
  *model = (folder / model->get<std::string>()).string();  // an absolute path stays as it is
  return json_text(json);
}

// Goes through the tables; a portion of rows is mapped, predicted and handed on together: a whole
// file where its rows calibrate each other.
class Run {
 public:
  Run(const Options& options, const Library& library, const Observer& observer)
      : options_(options),
        observer_(observer),
        library_(library),
        cache_(library, options.threads, options.known),
        summary_(options) {}

  void read(measured::Table& table);
  Evaluation finish();
  std::uintmax_t total_bytes = 0;

 private:
  bool wanted(const std::string& file, const std::string& source) {
    if (options_.source.empty()) return true;
    sources_.insert(file);
    sources_.insert(source);
    return options_.source == file || options_.source == source;
  }

  void add(measured::Measurement measured);
  void predict_jobs(measured::Table& table);
  void time_operators(measured::Table& table);
  void time_collectives(measured::Table& table);
  void add(const Case& one);
  void predict_portion();
  void set_apart(Case& one) const;

  const Options& options_;
  const Observer& observer_;
  const Library& library_;
  PredictionCache cache_;
  Summary summary_;
  std::string file_;
  std::set<std::string> sources_;  // seen, for the message that one is not there
  std::uintmax_t done_bytes_ = 0;  // of earlier files
  std::vector<Waiting> waiting_;
  std::vector<IgnoredFile> ignored_;
  std::vector<CalibratedGroup> calibrated_;
};

void Run::add(measured::Measurement measured) {
  Waiting& entry = waiting_.emplace_back();
  Case& one = entry.one;
  one.file = std::move(measured.file);
  one.line = measured.line;
  one.source = std::move(measured.source);
  one.split = std::move(measured.split);
  one.model = std::move(measured.model);
  one.device = std::move(measured.device);
  one.metric = std::move(measured.metric);
  one.measured = measured.measured;
  one.reason = std::move(measured.reason);
  if (!measured.request) return;
  entry.number = measured.number;
  const bool plain = !options_.informed && measured.plain;
  const std::string& request = plain ? *measured.plain : *measured.request;
  one.request = options_.models.empty() ? request : with_models_of(options_.models, request);
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
    judge(rows, cache_);
  }
  for (Waiting& row : waiting_) {
    set_apart(row.one);
    add(row.one);
  }
  waiting_.clear();
}

// Operators need no request: each is timed by the operator model alone.
void Run::time_operators(measured::Table& table) {
  OperatorClock clock(library_.catalog, *library_.operators, library_.calibrations);
  for (const auto& row : measured::read_operators(table)) {
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
void Run::time_collectives(measured::Table& table) {
  CollectiveClock clock(library_.catalog, *library_.collectives);
  const std::vector<measured::CollectiveCase> rows = measured::read_collectives(table);
  if (rows.empty()) ignored_.push_back({label_of(table), "a collective not modelled here"});
  for (const measured::CollectiveCase& row : rows) {
    if (!wanted(file_, row.cluster)) continue;
    Case one;
    one.file = file_;
    one.line = row.line;
    one.source = one.device = row.cluster;
    one.model = row.collective;
    one.metric = measured::label(row);
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

void Run::predict_jobs(measured::Table& table) {
  measured::Measurements rows(table, [this](const std::string& file, const std::string& source) {
    return wanted(file, source);
  });
  if (!rows.obstacle().empty()) {
    ignored_.push_back({label_of(table), rows.obstacle()});
    return;
  }
  for (std::vector<measured::Measurement> found; rows.next(found);) {
    for (measured::Measurement& one : found) add(std::move(one));
    if (waiting_.size() < kPortion || options_.calibration.rows > 0) continue;
    predict_portion();
    if (observer_.progress && total_bytes > 0) {
      observer_.progress(static_cast<double>(done_bytes_ + table.bytes()) /
                         static_cast<double>(total_bytes));
    }
  }
  predict_portion();
}

void Run::read(measured::Table& table) {
  file_ = table.name();
  if (measured::has_operators(table.columns())) {
    time_operators(table);
  } else if (measured::has_collectives(table.columns())) {
    time_collectives(table);
  } else {
    predict_jobs(table);
  }
  done_bytes_ += table.bytes();
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
  std::vector<measured::Table> tables = measured::open_tables(data, options.request);
  Run run(options, library, observer);
  for (const measured::Table& table : tables) run.total_bytes += table.all_bytes();
  for (measured::Table& table : tables) run.read(table);
  return run.finish();
}

}  // namespace foretrain::evaluate
