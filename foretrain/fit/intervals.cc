// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "foretrain/base/csv.h"
#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::fit {
namespace {

// Whether a number of the report is the step's time (1), its inverse (-1) or neither (0).
int time_power(std::size_t number) {
  const std::string_view name = measured::report_numbers()[number].name;
  if (name == "step_time_s") return 1;
  const bool rate = name == "iterations_per_s" || name == "samples_per_s" || name == "tokens_per_s";
  return rate ? -1 : 0;
}

std::vector<JudgedCase> predicted_steps(const std::filesystem::path& data,
                                        const std::string& models, const Library& library) {
  std::vector<JudgedCase> cases;
  evaluate::Observer observer;
  observer.on_case = [&](const evaluate::Case& one) {
    if (one.outcome != evaluate::Outcome::Predicted) return;
    const int power = time_power(one.number);
    if (power == 0) return;
    cases.push_back({one, {}, power * std::log(one.measured / one.predicted)});
  };
  evaluate::Options options;
  options.models = models;
  evaluate::evaluate(data, options, library, observer);
  return cases;
}

bool only_judged(const evaluate::Case& one, const IntervalsFit& fit) {
  return std::any_of(fit.without.begin(), fit.without.end(), [&](const std::string& name) {
    return name == one.file || name == one.file + "/" + one.device;
  });
}

Residuals residuals_of(const std::vector<JudgedCase>& cases) {
  Residuals residuals;
  for (const JudgedCase& one : cases) {
    residuals.rows.push_back({source_of(one.measured.file, residuals.sources), one.measured.regime,
                              shares_of(one.measured.breakdown), one.log_ratio});
  }
  if (residuals.sources.size() < kFewestSources || residuals.sources.size() > kMostSources) {
    throw Error(ErrorKind::BadInput, "intervals need measured steps from 3 to 64 files, here are " +
                                         std::to_string(residuals.sources.size()));
  }
  return residuals;
}

// What may be fitted: the others are judged only.
Residuals allowed(const Residuals& residuals, const std::vector<JudgedCase>& cases,
                  const IntervalsFit& fit) {
  Residuals kept{residuals.sources, {}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!only_judged(cases[i].measured, fit)) kept.rows.push_back(residuals.rows[i]);
  }
  return kept;
}

std::vector<MeasuredCase> index_of(const std::vector<JudgedCase>& cases, const IntervalsFit& fit) {
  std::map<std::array<std::string, 6>, MeasuredCase> index;
  for (const JudgedCase& judged : cases) {
    const evaluate::Case& one = judged.measured;
    if (one.zoo_model.empty() || only_judged(one, fit)) continue;
    MeasuredCase fresh;
    fresh.model = one.zoo_model;
    fresh.family = word(one.regime, Trait::Family);
    fresh.device = chip_named(one.device);
    fresh.architecture = word(one.regime, Trait::Architecture);
    fresh.precision = one.precision;
    fresh.mode = word(one.regime, Trait::Mode);
    fresh.framework = word(one.regime, Trait::Framework);
    fresh.source = one.file;
    const int workers = one.workers.value_or(1);
    const std::int64_t batch = one.batch.value_or(1);
    fresh.least_workers = fresh.most_workers = workers;
    fresh.least_batch = fresh.most_batch = batch;
    const auto [found, inserted] = index.try_emplace(
        {fresh.source, fresh.model, fresh.device, fresh.precision, fresh.mode, fresh.framework},
        fresh);
    MeasuredCase& known = found->second;
    known.least_workers = std::min(known.least_workers, workers);
    known.most_workers = std::max(known.most_workers, workers);
    known.least_batch = std::min(known.least_batch, batch);
    known.most_batch = std::max(known.most_batch, batch);
  }
  std::vector<MeasuredCase> list;
  for (auto& [key, one] : index) list.push_back(std::move(one));
  return list;
}

bool inside(double value, const Ends& ends) { return value >= ends.low && value <= ends.high; }

}  // namespace

std::vector<SourceScore> score_sources(const std::vector<JudgedCase>& cases, double confidence) {
  std::map<std::string, SourceScore> scores;
  for (const JudgedCase& one : cases) {
    SourceScore& score = scores[one.measured.file];
    score.source = one.measured.file;
    ++score.rows;
    const Ends& ends = one.left_out.ends;
    const Ends one_ratio{-one.left_out.constant, one.left_out.constant};
    score.coverage += inside(one.log_ratio, ends) ? 1 : 0;
    score.width += ends.high - ends.low;
    score.score += interval_score(one.log_ratio, ends, confidence);
    score.constant_cover += inside(one.log_ratio, one_ratio) ? 1 : 0;
    score.constant_score += interval_score(one.log_ratio, one_ratio, confidence);
  }
  std::vector<SourceScore> list;
  for (auto& [name, score] : scores) {
    const auto rows = static_cast<double>(score.rows);
    for (double* sum : {&score.coverage, &score.width, &score.score, &score.constant_cover,
                        &score.constant_score}) {
      *sum /= rows;
    }
    list.push_back(score);
  }
  return list;
}

FittedIntervals fit_intervals(const std::filesystem::path& data, const IntervalsFit& fit,
                              const Library& library) {
  FittedIntervals fitted;
  fitted.cases = predicted_steps(data, fit.models, library);
  const Residuals residuals = residuals_of(fitted.cases);
  const std::vector<LeftOut> left_out = leave_sources_out(residuals, fit.spread);
  for (std::size_t i = 0; i < left_out.size(); ++i) fitted.cases[i].left_out = left_out[i];
  fitted.sources = score_sources(fitted.cases, fit.spread.confidence);
  const Residuals kept = allowed(residuals, fitted.cases, fit);
  Intervals& intervals = fitted.intervals;
  intervals.confidence = fit.spread.confidence;
  intervals.spread = fit_spread(kept, 0, fit.spread);
  intervals.lengths = library.intervals->lengths;
  intervals.distance = library.intervals->distance;
  intervals.measured = index_of(fitted.cases, fit);
  return fitted;
}

std::vector<SourceScore> pooled(const std::vector<SourceScore>& sources) {
  SourceScore rows{.source = "all rows"};
  SourceScore alike{.source = "sources alike"};
  for (const SourceScore& one : sources) rows.rows += one.rows;
  alike.rows = rows.rows;
  const auto add = [](SourceScore& sum, const SourceScore& one, double weight) {
    sum.coverage += weight * one.coverage;
    sum.width += weight * one.width;
    sum.score += weight * one.score;
    sum.constant_cover += weight * one.constant_cover;
    sum.constant_score += weight * one.constant_score;
  };
  for (const SourceScore& one : sources) {
    add(rows, one, static_cast<double>(one.rows) / static_cast<double>(rows.rows));
    add(alike, one, 1 / static_cast<double>(sources.size()));
  }
  return {rows, alike};
}

std::string judged_header() {
  std::string text = "file,line,device,metric,measured,predicted,low,high,one_ratio";
  for (std::size_t t = 0; t < kTraits; ++t) {
    text += "," + std::string(trait_name(static_cast<Trait>(t)));
  }
  return text;
}

std::string judged_line(const JudgedCase& one) {
  const evaluate::Case& row = one.measured;
  const bool rate = time_power(row.number) < 0;
  const Ends& ends = one.left_out.ends;
  const double low = row.predicted * std::exp(rate ? -ends.high : ends.low);
  const double high = row.predicted * std::exp(rate ? -ends.low : ends.high);
  std::string text = csv_field(row.file) + "," + std::to_string(row.line) + "," +
                     csv_field(row.device) + "," + csv_field(row.metric);
  for (const double value :
       {row.measured, row.predicted, low, high, std::exp(one.left_out.constant)}) {
    text += format(",%.6g", value);
  }
  for (const std::string& trait : row.regime) text += "," + csv_field(trait);
  return text;
}

}  // namespace foretrain::fit
