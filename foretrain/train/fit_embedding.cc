// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/fit_embedding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/embedding/embed.h"
#include "foretrain/train/conformal.h"
#include "foretrain/train/embedding_law.h"

namespace foretrain::train {
namespace {

using Indices = std::vector<std::size_t>;

constexpr std::array kMethods{EmbeddingMethod::Linear, EmbeddingMethod::Polynomial,
                              EmbeddingMethod::Svr, EmbeddingMethod::Xgboost, EmbeddingMethod::Mlp};
constexpr std::array<std::string_view, kMethods.size()> kNames{"linear", "polynomial", "svr",
                                                               "xgboost", "mlp"};
constexpr std::size_t kSquared = 12;  // features whose products a polynomial has
constexpr std::size_t kLeastFamilies = 3;
constexpr std::size_t kInnerFolds = 5;
constexpr std::size_t kMostCompared = 1000;  // examples that methods are compared by
constexpr double kLeastBase = 1e-9;          // seconds
constexpr double kNearQuantile = 0.95;       // of left-out networks that the domain would hold

std::vector<Setting> settings_of(EmbeddingMethod method) {
  std::vector<Setting> settings;
  const auto ridge = [&](std::size_t degree, std::initializer_list<double> strengths) {
    for (const double strength : strengths) {
      settings.push_back({Method::Ridge, degree, strength, 0});
    }
  };
  switch (method) {
    case EmbeddingMethod::Linear:
      ridge(1, {1e-3, 1e-2, 0.1, 1, 10, 100});
      break;
    case EmbeddingMethod::Polynomial:
      ridge(2, {1e-2, 0.1, 1});
      break;
    case EmbeddingMethod::Svr:
      for (const double cost : {0.1, 0.3, 1.0, 3.0}) {
        for (const std::size_t breadth : {1, 5}) {
          settings.push_back({Method::Svr, 1, cost, breadth});
        }
      }
      break;
    case EmbeddingMethod::Xgboost:
      settings.push_back({Method::Xgboost, 1, 0, 3});
      break;
    case EmbeddingMethod::Mlp:
      settings.push_back({Method::Mlp, 1, 0, 8});
      break;
  }
  return settings;
}

bool is_embedding(const std::string& name) {
  return name.size() > 1 && name[0] == 'e' && name[1] >= '0' && name[1] <= '9';
}

bool is_count(const std::string& name) {
  return name.starts_with("share.") || name == "log_terms" || name == "log_flops" ||
         name == "log_written_bytes" || name == "log_parameters";
}

bool is_operators(const std::string& name) {
  return name.starts_with("part.") || name == "log_operators";
}

bool is_wanted(const std::string& name, const EmbeddingFit& options) {
  if (is_embedding(name)) return options.use.embedding;
  const auto& counts = options.use.counts;
  if (is_count(name) && counts) {
    return std::find(counts->begin(), counts->end(), name) != counts->end();
  }
  return !is_operators(name) || options.residual;
}

// Columns that are wanted and not the same in all the rows.
Indices columns_for(const EmbeddingTable& table, const Indices& which,
                    const EmbeddingFit& options) {
  Indices columns;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    if (!is_wanted(table.names[c], options)) continue;
    const double first = table.rows[which.front()][c];
    if (std::any_of(which.begin(), which.end(),
                    [&](std::size_t i) { return std::abs(table.rows[i][c] - first) > 1e-9; })) {
      columns.push_back(c);
    }
  }
  return columns;
}

std::vector<double> row_of(const EmbeddingTable& table, std::size_t i, const Indices& columns) {
  std::vector<double> row;
  row.reserve(columns.size());
  for (const std::size_t c : columns) row.push_back(table.rows[i][c]);
  return row;
}

double base_s(const EmbeddingExample& one, const FittedForm& fitted, const EmbeddingFit& options) {
  if (options.residual) return one.operators_s;
  return learn::evaluate(learn::Regressor(fitted.form.law),
                         embedding::values_of(fitted.law_terms, one.job));
}

// All features; of a polynomial also the products of those that boosted trees divide by most.
learn::FeatureMap map_for(const BoostData& plain, const Setting& setting, std::uint64_t seed) {
  learn::FeatureMap map;
  const std::size_t features = plain.features.front().size();
  for (std::size_t f = 0; f < features; ++f) map.features.push_back({{f, learn::TermKind::Raw}});
  if (setting.degree < 2) return map;
  const Indices heaviest = heaviest_features(plain, std::min(kSquared, features), seed);
  for (std::size_t a = 0; a < heaviest.size(); ++a) {
    for (std::size_t b = a; b < heaviest.size(); ++b) {
      map.features.push_back(
          {{heaviest[a], learn::TermKind::Raw}, {heaviest[b], learn::TermKind::Raw}});
    }
  }
  return map;
}

// Mean over the divisions' tested rows of |predicted / measured - 1|.
double cross_error(const EmbeddingData& data, const EmbeddingTable& table,
                   const std::vector<Division>& divisions, const EmbeddingFit& options,
                   const Setting& setting) {
  std::vector<Judged> judged;
  for (const Division& division : divisions) {
    const FittedForm fitted = fit_form(data, table, division.train, options, setting);
    for (const std::size_t i : division.test) {
      judged.push_back({predict_s(fitted, data, table, i, options), data.examples[i].time_s});
    }
  }
  const double error = mean_error(judged);
  return std::isfinite(error) ? error : std::numeric_limits<double>::max();
}

std::size_t families_of(const EmbeddingData& data, const Indices& which) {
  std::set<std::string> families;
  for (const std::size_t i : which) families.insert(data.examples[i].family);
  return families.size();
}

// By families; of fewer than three, as five drawn networks may be of, by networks.
std::vector<Division> divisions_of(const EmbeddingData& data, const Indices& which,
                                   std::size_t folds, std::uint64_t seed) {
  const bool by_network = families_of(data, which) < kLeastFamilies;
  std::vector<Division> divisions =
      by_folds(family_folds(data.examples, which, folds, seed, by_network));
  for (Division& division : divisions) {
    for (std::size_t& i : division.train) i = which[i];
    for (std::size_t& i : division.test) i = which[i];
  }
  return divisions;
}

// By some of the networks where there are many examples: support vectors take a time that grows
// with the square of these, and hundreds tell settings apart.
Indices compared_by(const EmbeddingData& data, const Indices& which, std::uint64_t seed) {
  if (which.size() <= kMostCompared) return which;
  std::set<std::string> names;
  for (const std::size_t i : which) names.insert(data.examples[i].model);
  const std::size_t count = names.size() * kMostCompared / which.size();
  const Indices some = some_networks(data, which, count, seed);
  return families_of(data, some) < kLeastFamilies ? which : some;
}

// How far the nearest network of another fold is from each network left out, at most, for most.
double reach_of(const EmbeddingData& data, const std::vector<Division>& divisions) {
  std::vector<double> nearest;
  for (const Division& division : divisions) {
    for (const std::size_t i : division.test) {
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t j : division.train) {
        least = std::min(least, distance(data.embedding, data.examples[i].network.numbers,
                                         data.examples[j].network.numbers));
      }
      nearest.push_back(least);
    }
  }
  std::sort(nearest.begin(), nearest.end());
  const auto place = kNearQuantile * static_cast<double>(nearest.size() - 1);
  return nearest[static_cast<std::size_t>(place)];
}

void set_interval(const EmbeddingData& data, const EmbeddingTable& table,
                  const std::vector<Division>& divisions, const EmbeddingFit& options,
                  const Setting& setting, EmbeddingModel& model) {
  std::vector<double> residuals;
  std::vector<Judged> judged;
  for (const Division& division : divisions) {
    const FittedForm fitted = fit_form(data, table, division.train, options, setting);
    for (const std::size_t i : division.test) {
      const double told = predict_s(fitted, data, table, i, options);
      for (const double measured : data.examples[i].measured_s) {
        residuals.push_back(std::log(measured / told));
        judged.push_back({told, measured});
      }
    }
  }
  model.error = mean_error(judged);
  if (!std::isfinite(model.error)) {
    throw Error(ErrorKind::BadInput,
                "method " + model.method + " gives no finite times here; use another one");
  }
  if (const auto ends = conformal_ends(residuals, options.confidence)) {
    model.low = ends->low;
    model.high = ends->high;
  }
}

void set_domain(const EmbeddingData& data, const EmbeddingTable& table, const Indices& which,
                const Indices& columns, EmbeddingModel& model) {
  const auto fields = embedding::word_fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    std::set<std::string> words;
    for (const std::size_t i : which) words.insert(data.examples[i].job.words[f]);
    model.words.push_back({std::string(fields[f]), {words.begin(), words.end()}});
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::string& name = table.names[columns[c]];
    const bool of_job = name == "log_batch" || name == "log_workers" || name == "log_nodes" ||
                        name == "log_samples" || name == "log_link_bytes_per_s" ||
                        name == "log_cores";
    if (!of_job) continue;
    EmbeddingRange range{c, {table.rows[which.front()][columns[c]], 0}};
    range.range.most = range.range.least;
    for (const std::size_t i : which) {
      range.range.least = std::min(range.range.least, table.rows[i][columns[c]]);
      range.range.most = std::max(range.range.most, table.rows[i][columns[c]]);
    }
    model.domain.push_back(range);
  }
  std::set<std::vector<float>> networks;
  for (const std::size_t i : which) networks.insert(data.examples[i].network.numbers);
  for (const std::vector<float>& one : networks) {
    model.networks.insert(model.networks.end(), one.begin(), one.end());
  }
  model.width = data.embedding.spread.size();
}

}  // namespace

std::span<const EmbeddingMethod> all_embedding_methods() { return kMethods; }

std::string_view name_of(EmbeddingMethod method) {
  return kNames.at(static_cast<std::size_t>(method));
}

std::optional<EmbeddingMethod> embedding_method_named(std::string_view name) {
  for (const EmbeddingMethod method : kMethods) {
    if (name_of(method) == name) return method;
  }
  return std::nullopt;
}

std::string text_of(const EmbeddingScore& score) {
  const std::string inner = text_of(score.setting);
  const std::size_t comma = inner.find(',');
  return std::string(name_of(score.method)) +
         (comma == std::string::npos ? "" : inner.substr(comma));
}

EmbeddingTable table_of(const EmbeddingData& data) {
  EmbeddingTable table;
  table.names = embedding::job_feature_names(data.embedding.spread.size());
  const std::size_t numbers = table.names.size();
  const auto fields = embedding::word_fields();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    std::set<std::string> words;
    for (const EmbeddingExample& one : data.examples) words.insert(one.job.words[f]);
    if (words.size() < 2) continue;
    for (const std::string& word : words)
      table.names.push_back(std::string(fields[f]) + "=" + word);
  }
  const std::vector<std::string> names(table.names.begin(),
                                       table.names.begin() + static_cast<std::ptrdiff_t>(numbers));
  for (const EmbeddingExample& one : data.examples) {
    table.rows.push_back(*embedding::pick(table.names, names, one.job));
  }
  return table;
}

std::vector<std::size_t> some_networks(const EmbeddingData& data,
                                       const std::vector<std::size_t>& which, std::size_t count,
                                       std::uint64_t seed) {
  std::set<std::string> names;
  for (const std::size_t i : which) names.insert(data.examples[i].model);
  std::vector<std::string> order(names.begin(), names.end());
  std::mt19937_64 engine(seed);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(engine() % i)]);
  }
  if (count < order.size()) order.resize(count);
  const std::set<std::string> kept(order.begin(), order.end());
  std::vector<std::size_t> result;
  for (const std::size_t i : which) {
    if (kept.contains(data.examples[i].model)) result.push_back(i);
  }
  return result;
}

std::vector<std::size_t> family_folds(const std::vector<EmbeddingExample>& examples,
                                      const std::vector<std::size_t>& which, std::size_t folds,
                                      std::uint64_t seed, bool by_network) {
  const auto key = [&](std::size_t i) {
    return by_network ? examples[i].model : examples[i].family;
  };
  std::map<std::string, std::size_t> counts;
  for (const std::size_t i : which) ++counts[key(i)];
  std::vector<std::pair<std::string, std::size_t>> families(counts.begin(), counts.end());
  std::mt19937_64 engine(seed);
  for (std::size_t i = families.size(); i > 1; --i) {
    std::swap(families[i - 1], families[static_cast<std::size_t>(engine() % i)]);
  }
  std::stable_sort(families.begin(), families.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::size_t> filled(std::min(folds, families.size()));
  std::map<std::string, std::size_t> place;
  for (const auto& [family, count] : families) {
    const auto least = std::min_element(filled.begin(), filled.end());
    place[family] = static_cast<std::size_t>(least - filled.begin());
    *least += count;
  }
  std::vector<std::size_t> result;
  for (const std::size_t i : which) result.push_back(place.at(key(i)));
  return result;
}

FittedForm fit_form(const EmbeddingData& data, const EmbeddingTable& table,
                    const std::vector<std::size_t>& which, const EmbeddingFit& options,
                    const Setting& setting) {
  FittedForm fitted;
  fitted.columns = columns_for(table, which, options);
  fitted.law_terms = options.law_terms.empty() ? plain_law(data) : options.law_terms;
  if (!options.residual && options.law) {
    fitted.form.law = fit_law(data, which, fitted.law_terms);
  } else {
    fitted.form.law = {1, std::vector<double>(fitted.law_terms.size())};
  }
  BoostData rows;
  for (const std::size_t i : which) {
    const EmbeddingExample& one = data.examples[i];
    rows.features.push_back(row_of(table, i, fitted.columns));
    rows.targets.push_back(std::log(one.time_s / base_s(one, fitted, options)));
    rows.weights.push_back(1);
  }
  fitted.form.map = map_for(rows, setting, options.seed);
  if (setting.degree > 1) {
    for (auto& row : rows.features) row = learn::evaluate(fitted.form.map, row);
  }
  fitted.form.regressor = fit_regressor(rows, setting, {}, options.seed);
  return fitted;
}

double predict_s(const FittedForm& fitted, const EmbeddingData& data, const EmbeddingTable& table,
                 std::size_t example, const EmbeddingFit& options) {
  const EmbeddingExample& one = data.examples[example];
  return time_s(fitted.form, embedding::values_of(fitted.law_terms, one.job),
                row_of(table, example, fitted.columns),
                options.residual ? std::optional(one.operators_s) : std::nullopt);
}

EmbeddingFit with_law(const EmbeddingData& data, const std::vector<std::size_t>& which,
                      EmbeddingFit options) {
  if (options.residual || !options.law) {
    options.law_terms = plain_law(data);
  } else {
    options.law_terms =
        choose_law(data, which, divisions_of(data, which, kInnerFolds, options.seed));
  }
  return options;
}

std::vector<EmbeddingScore> compare_methods(const EmbeddingData& data, const EmbeddingTable& table,
                                            const std::vector<std::size_t>& which,
                                            const EmbeddingFit& options) {
  const std::vector<Division> divisions =
      divisions_of(data, compared_by(data, which, options.seed), kInnerFolds, options.seed);
  std::vector<EmbeddingMethod> methods = options.methods;
  if (methods.empty()) methods.assign(kMethods.begin(), kMethods.end());
  std::vector<EmbeddingScore> tried;
  for (const EmbeddingMethod method : methods) {
    for (const Setting& setting : settings_of(method)) tried.push_back({method, setting, 0});
  }
  parallel_for(tried.size(), options.threads, [&](std::size_t i) {
    tried[i].error = cross_error(data, table, divisions, options, tried[i].setting);
  });
  std::stable_sort(
      tried.begin(), tried.end(),
      [](const EmbeddingScore& a, const EmbeddingScore& b) { return a.error < b.error; });
  std::vector<EmbeddingScore> best;
  for (const EmbeddingScore& one : tried) {
    if (std::none_of(best.begin(), best.end(),
                     [&](const EmbeddingScore& other) { return other.method == one.method; })) {
      best.push_back(one);
    }
  }
  return best;
}

EmbeddingModel fit_embedding(const EmbeddingData& data, const EmbeddingFit& wanted,
                             std::vector<EmbeddingScore>& found) {
  Indices which;
  std::set<std::string> families;
  for (std::size_t i = 0; i < data.examples.size(); ++i) {
    if (data.examples[i].split == "test") continue;
    which.push_back(i);
    families.insert(data.examples[i].family);
  }
  if (families.size() < kLeastFamilies) {
    throw Error(ErrorKind::BadInput,
                "the measured networks are of fewer than three families, so none can be left out "
                "to choose by; --leave-out model makes every network one");
  }
  const EmbeddingTable table = table_of(data);
  const EmbeddingFit options = with_law(data, which, wanted);
  found = compare_methods(data, table, which, options);
  const Setting& setting = found.front().setting;
  const std::vector<Division> divisions = divisions_of(data, which, options.folds, options.seed);
  const FittedForm fitted = fit_form(data, table, which, options, setting);
  EmbeddingModel model{.time = data.time,
                       .residual = options.residual,
                       .embedding = data.embedding.checksum,
                       .form = fitted.form,
                       .method = text_of(found.front()),
                       .confidence = options.confidence,
                       .families = families.size()};
  for (const embedding::LawTerm& term : fitted.law_terms) model.terms.push_back(name_of(term));
  for (const std::size_t c : fitted.columns) model.features.push_back(table.names[c]);
  for (const std::size_t i : which) model.rows += data.examples[i].measured_s.size();
  set_interval(data, table, divisions, options, setting, model);
  set_domain(data, table, which, fitted.columns, model);
  model.reach = reach_of(data, divisions);
  return model;
}

}  // namespace foretrain::train
