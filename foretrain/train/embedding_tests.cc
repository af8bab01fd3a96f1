// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/embedding_tests.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "foretrain/base/median.h"
#include "foretrain/train/conformal.h"
#include "foretrain/train/linear.h"

namespace foretrain::train {
namespace {

using Indices = std::vector<std::size_t>;

// What a way says of each example that a fold leaves out.
struct WayTold {
  std::string way;
  std::vector<double> told;  // of the fold's test examples
  std::string method{};      // that was chosen
};

EmbeddingFit variant(const EmbeddingFit& base, bool residual) {
  EmbeddingFit fit = base;
  fit.residual = residual;
  return fit;
}

// With the methods that are fitted in no time, where all would be compared.
EmbeddingFit quick(EmbeddingFit fit) {
  if (fit.methods.empty()) fit.methods = {EmbeddingMethod::Linear, EmbeddingMethod::Svr};
  return fit;
}

EmbeddingFit on_counts(const EmbeddingFit& base, std::vector<std::string> counts,
                       std::vector<EmbeddingMethod> methods, bool law) {
  EmbeddingFit fit = base;
  fit.residual = false;
  fit.law = law;
  fit.methods = std::move(methods);
  fit.use = {.embedding = false, .counts = std::move(counts)};
  return fit;
}

const std::vector<std::string> kTreeCounts{"log_flops", "log_written_bytes", "log_parameters"};

// One division of the data, and every way on it.
class Fold {
 public:
  Fold(const EmbeddingData& data, const EmbeddingTable& table, const Division& division)
      : data_(data), table_(table), division_(division) {}

  std::vector<double> tell(const EmbeddingFit& fit, const Setting& setting,
                           const Indices& train) const {
    const FittedForm fitted = fit_form(data_, table_, train, fit, setting);
    std::vector<double> told;
    for (const std::size_t i : division_.test) {
      told.push_back(predict_s(fitted, data_, table_, i, fit));
    }
    return told;
  }

  // The best of the fit's methods by families of the training rows, and each by itself.
  void add(const std::string& way, const EmbeddingFit& wanted, bool each,
           std::vector<WayTold>& ways) const {
    const EmbeddingFit fit = with_law(data_, division_.train, wanted);
    const auto scores = compare_methods(data_, table_, division_.train, fit);
    ways.push_back({way, tell(fit, scores.front().setting, division_.train),
                    std::string(name_of(scores.front().method))});
    if (!each) return;
    for (const EmbeddingMethod method : all_embedding_methods()) {
      for (const EmbeddingScore& score : scores) {
        if (score.method != method) continue;
        ways.push_back(
            {way + ": " + std::string(name_of(method)), tell(fit, score.setting, division_.train)});
      }
    }
  }

  // The operator engine as it is, and times one factor.
  void add_operators(std::vector<WayTold>& ways) const {
    std::vector<double> ratios;
    for (const std::size_t i : division_.train) {
      ratios.push_back(data_.examples[i].time_s / data_.examples[i].operators_s);
    }
    const double factor = median(ratios);
    WayTold alone{"operators", {}};
    WayTold scaled{"operators, one factor", {}};
    for (const std::size_t i : division_.test) {
      alone.told.push_back(data_.examples[i].operators_s);
      scaled.told.push_back(factor * data_.examples[i].operators_s);
    }
    ways.push_back(std::move(alone));
    ways.push_back(std::move(scaled));
  }

 private:
  const EmbeddingData& data_;
  const EmbeddingTable& table_;
  const Division& division_;
};

std::vector<WayTold> tell_fold(const EmbeddingData& data, const EmbeddingTable& table,
                               const Division& division, const EmbeddingTesting& options) {
  const Fold fold(data, table, division);
  std::vector<WayTold> ways;
  fold.add("plain", variant(options.fit, false), options.methods, ways);
  if (data.with_operators) fold.add("residual", variant(options.fit, true), options.methods, ways);
  EmbeddingFit alone = quick(variant(options.fit, false));
  alone.law = false;
  alone.use.counts.emplace();
  fold.add("embedding alone", alone, false, ways);
  EmbeddingFit counts = quick(variant(options.fit, false));
  counts.use.embedding = false;
  fold.add("plain without the embedding", counts, false, ways);
  if (data.with_operators) {
    counts.residual = true;
    fold.add("residual without the embedding", counts, false, ways);
  }
  fold.add("trees on FLOPs, activations, parameters",
           on_counts(options.fit, kTreeCounts, {EmbeddingMethod::Xgboost}, false), false, ways);
  fold.add("FLOPs alone", on_counts(options.fit, {"log_flops"}, {EmbeddingMethod::Linear}, false),
           false, ways);
  if (data.with_operators) fold.add_operators(ways);
  return ways;
}

void add_judged(const EmbeddingData& data, const Division& division, const WayTold& told,
                std::map<std::string, std::vector<Judged>>& by_metric) {
  for (std::size_t t = 0; t < division.test.size(); ++t) {
    const EmbeddingExample& one = data.examples[division.test[t]];
    for (const double measured : one.measured_s) {
      by_metric[one.metric].push_back({told.told[t], measured});
    }
  }
}

WayScore score_of(const std::string& way,
                  const std::map<std::string, std::vector<Judged>>& by_metric) {
  WayScore score{.way = way};
  std::vector<Judged> all;
  for (const auto& [metric, judged] : by_metric) {
    score.metrics.emplace_back(metric, mean_error(judged));
    all.insert(all.end(), judged.begin(), judged.end());
  }
  score.rows = all.size();
  score.mean = mean_error(all);
  std::vector<double> errors;
  for (const Judged& one : all) errors.push_back(std::abs(one.predicted_s / one.measured_s - 1));
  score.median = median(errors);
  return score;
}

double curve_error(const EmbeddingData& data, const EmbeddingTable& table,
                   const std::vector<Division>& divisions, const EmbeddingFit& wanted,
                   std::size_t networks) {
  std::vector<Judged> judged;
  for (std::size_t d = 0; d < divisions.size(); ++d) {
    const Indices train = some_networks(data, divisions[d].train, networks, wanted.seed + d);
    const EmbeddingFit fit = with_law(data, train, wanted);
    const auto scores = compare_methods(data, table, train, fit);
    const std::vector<double> told =
        Fold(data, table, divisions[d]).tell(fit, scores.front().setting, train);
    for (std::size_t t = 0; t < told.size(); ++t) {
      judged.push_back({told[t], data.examples[divisions[d].test[t]].time_s});
    }
  }
  return mean_error(judged);
}

CurvePoint curve_point(const EmbeddingData& data, const EmbeddingTable& table,
                       const std::vector<Division>& divisions, const EmbeddingTesting& options,
                       std::size_t networks) {
  const EmbeddingFit fit = quick(variant(options.fit, false));
  CurvePoint point{.networks = networks};
  point.plain = curve_error(data, table, divisions, fit, networks);
  point.trees =
      curve_error(data, table, divisions,
                  on_counts(fit, kTreeCounts, {EmbeddingMethod::Xgboost}, false), networks);
  if (data.with_operators) {
    point.residual = curve_error(data, table, divisions, variant(fit, true), networks);
  }
  return point;
}

// Ernest's features besides 1: s / m, log m, m.
std::vector<double> ernest_features(const EmbeddingExample& one) {
  const double workers = one.workers;
  return {one.samples / workers, std::log(workers), workers};
}

learn::Regressor ernest_of(const EmbeddingData& data, const Indices& which) {
  BoostData rows;
  for (const std::size_t i : which) {
    rows.features.push_back(ernest_features(data.examples[i]));
    rows.targets.push_back(data.examples[i].time_s);
    rows.weights.push_back(1);
  }
  return fit_nonnegative(rows);
}

double ernest_s(const learn::Regressor& law, const EmbeddingExample& one) {
  return std::max(1e-6, learn::evaluate(law, ernest_features(one)));
}

// Runs of one network, drawn in an order that the seed says.
std::vector<Indices> workloads_of(const EmbeddingData& data, const Indices& which,
                                  std::uint64_t seed) {
  std::map<std::string, Indices> by_model;
  for (const std::size_t i : which) by_model[data.examples[i].workload].push_back(i);
  std::vector<Indices> workloads;
  std::mt19937_64 engine(seed);
  for (auto& [model, runs] : by_model) {
    for (std::size_t i = runs.size(); i > 1; --i) {
      std::swap(runs[i - 1], runs[static_cast<std::size_t>(engine() % i)]);
    }
    workloads.push_back(std::move(runs));
  }
  return workloads;
}

// What the embedding told of every example when it was left out.
struct Told {
  std::map<std::size_t, double> plain;
  std::map<std::size_t, double> residual;
};

ErnestScore ernest_score(const EmbeddingData& data, const std::vector<Division>& divisions,
                         const Told& told, std::size_t runs, std::uint64_t seed) {
  ErnestScore score{.runs = runs};
  std::vector<Judged> ernest;
  std::vector<Judged> plain;
  std::vector<Judged> residual;
  for (const Division& division : divisions) {
    for (const Indices& workload : workloads_of(data, division.test, seed)) {
      if (workload.size() <= runs) continue;
      const auto split = workload.begin() + static_cast<std::ptrdiff_t>(runs);
      const learn::Regressor law =
          ernest_of(data, runs == 0 ? division.train : Indices(workload.begin(), split));
      ++score.workloads;
      for (auto i = workload.begin(); i != split; ++i) score.sample_s += data.examples[*i].time_s;
      for (auto i = split; i != workload.end(); ++i) {
        const EmbeddingExample& one = data.examples[*i];
        ernest.push_back({ernest_s(law, one), one.time_s});
        plain.push_back({told.plain.at(*i), one.time_s});
        if (data.with_operators) residual.push_back({told.residual.at(*i), one.time_s});
      }
    }
  }
  score.rows = ernest.size();
  if (ernest.empty()) return score;
  score.sample_s /= static_cast<double>(score.workloads);
  score.ernest = mean_error(ernest);
  score.plain = mean_error(plain);
  if (data.with_operators) score.residual = mean_error(residual);
  return score;
}

std::vector<Division> outer_divisions(const EmbeddingData& data, const EmbeddingFit& fit) {
  Indices all(data.examples.size());
  std::iota(all.begin(), all.end(), 0);
  return by_folds(family_folds(data.examples, all, fit.folds, fit.seed));
}

// Of each fold's rows those in the interval that the errors of the other folds give.
double coverage(const std::vector<std::vector<double>>& residuals, double confidence) {
  double inside = 0;
  double all = 0;
  for (std::size_t d = 0; d < residuals.size(); ++d) {
    std::vector<double> others;
    for (std::size_t o = 0; o < residuals.size(); ++o) {
      if (o != d) others.insert(others.end(), residuals[o].begin(), residuals[o].end());
    }
    const auto ends = conformal_ends(std::move(others), confidence);
    if (!ends) return 0;
    for (const double one : residuals[d]) inside += one >= ends->low && one <= ends->high ? 1 : 0;
    all += static_cast<double>(residuals[d].size());
  }
  return inside / all;
}

std::vector<double> residuals_of(const EmbeddingData& data, const Division& division,
                                 const WayTold& told) {
  std::vector<double> residuals;
  for (std::size_t t = 0; t < division.test.size(); ++t) {
    for (const double measured : data.examples[division.test[t]].measured_s) {
      residuals.push_back(std::log(measured / told.told[t]));
    }
  }
  return residuals;
}

void add_ways(const EmbeddingData& data, const std::vector<Division>& divisions,
              const std::vector<std::vector<WayTold>>& told, double confidence,
              EmbeddingTests& tests) {
  for (std::size_t w = 0; w < told.front().size(); ++w) {
    std::map<std::string, std::vector<Judged>> by_metric;
    std::map<std::string, std::size_t> chosen;
    std::vector<std::vector<double>> residuals;
    for (std::size_t d = 0; d < divisions.size(); ++d) {
      add_judged(data, divisions[d], told[d][w], by_metric);
      residuals.push_back(residuals_of(data, divisions[d], told[d][w]));
      ++chosen[told[d][w].method];
    }
    const std::string& way = told.front()[w].way;
    tests.ways.push_back(score_of(way, by_metric));
    tests.ways.back().inside = coverage(residuals, confidence);
    if (way != "plain" && way != "residual") continue;
    for (const auto& [method, folds] : chosen) {
      tests.chosen.emplace_back(way + ": " + method, folds);
    }
  }
}

Told told_of(const std::vector<Division>& divisions,
             const std::vector<std::vector<WayTold>>& ways) {
  Told told;
  for (std::size_t d = 0; d < divisions.size(); ++d) {
    for (const WayTold& way : ways[d]) {
      if (way.way != "plain" && way.way != "residual") continue;
      auto& values = way.way == "plain" ? told.plain : told.residual;
      for (std::size_t t = 0; t < way.told.size(); ++t) values[divisions[d].test[t]] = way.told[t];
    }
  }
  return told;
}

}  // namespace

EmbeddingTests test_embedding(const EmbeddingData& data, const EmbeddingTesting& options,
                              const std::function<void(double)>& progress) {
  const EmbeddingTable table = table_of(data);
  const std::vector<Division> divisions = outer_divisions(data, options.fit);
  EmbeddingTests tests{.folds = divisions.size()};
  std::set<std::string> networks;
  std::set<std::string> families;
  for (const EmbeddingExample& one : data.examples) {
    tests.rows += one.measured_s.size();
    networks.insert(one.model);
    families.insert(one.family);
  }
  tests.networks = networks.size();
  tests.families = families.size();
  const double parts = static_cast<double>(divisions.size() + options.curve.size());
  double done = 0;
  const auto tell = [&] {
    if (progress) progress(++done / parts);
  };
  std::vector<std::vector<WayTold>> told;
  for (const Division& division : divisions) {
    told.push_back(tell_fold(data, table, division, options));
    tell();
  }
  add_ways(data, divisions, told, options.fit.confidence, tests);
  for (const std::size_t count : options.curve) {
    tests.curve.push_back(curve_point(data, table, divisions, options, count));
    tell();
  }
  const Told by_example = told_of(divisions, told);
  for (const std::size_t runs : options.ernest) {
    tests.ernest.push_back(ernest_score(data, divisions, by_example, runs, options.fit.seed));
  }
  return tests;
}

}  // namespace foretrain::train
