// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/conformal.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace foretrain::fit {
namespace {

using Weighted = std::vector<std::pair<double, double>>;

using Rows = std::vector<const Residual*>;

// Every source counts as one at most, however many rows it has; few rows count less. Sorted.
Weighted weigh(const Rows& rows) {
  std::map<int, double> counts;
  for (const Residual* row : rows) ++counts[row->source];
  Weighted weighted;
  weighted.reserve(rows.size());
  for (const Residual* row : rows) {
    const double count = counts[row->source];
    weighted.emplace_back(row->log_ratio, std::min(count / kWholeSource, 1.0) / count);
  }
  std::sort(weighted.begin(), weighted.end());
  return weighted;
}

// Adds the rows of the coarser regime with that weight in all; both are sorted.
void add_coarser(const Weighted& coarser, double weight, Weighted& rows) {
  const auto own = static_cast<std::ptrdiff_t>(rows.size());
  double all = 0;
  for (const auto& [value, share] : coarser) all += share;
  for (const auto& [value, share] : coarser) rows.emplace_back(value, share * weight / all);
  std::inplace_merge(rows.begin(), rows.begin() + own, rows.end());
}

std::size_t count_sources(const Rows& rows) {
  Sources sources = 0;
  for (const Residual* row : rows) sources |= bit(row->source);
  std::size_t count = 0;
  for (; sources != 0; sources &= sources - 1) ++count;
  return count;
}

// The regimes that there are, coarser ones before those that they hold.
std::vector<std::map<std::string, Rows>> group(const Residuals& residuals, Sources without,
                                               const std::vector<Trait>& traits) {
  std::vector<std::map<std::string, Rows>> groups(traits.size() + 1);
  for (const Residual& row : residuals.rows) {
    if ((without & bit(row.source)) != 0) continue;
    for (std::size_t count = 0; count < groups.size(); ++count) {
      groups[count][cell_name(traits, count, row.regime)].push_back(&row);
    }
  }
  return groups;
}

struct WeightedRows {
  Weighted values;  // the coarser regime's among them
  std::size_t rows = 0;
  std::size_t sources = 0;
};

std::map<std::string, WeightedRows> weigh_regimes(const Residuals& residuals, Sources without,
                                                  const std::vector<Trait>& traits,
                                                  const ConformalOptions& options) {
  std::map<std::string, WeightedRows> weighted;
  const auto groups = group(residuals, without, traits);
  for (std::size_t count = 0; count < groups.size(); ++count) {
    for (const auto& [name, rows] : groups[count]) {
      Weighted all = weigh(rows);
      if (count > 0) {
        const Regime& regime = rows.front()->regime;
        const std::string coarser = cell_name(traits, count - 1, regime);
        const bool same = groups[count - 1].at(coarser).size() == rows.size();
        if (same) {
          all = weighted.at(coarser).values;  // a trait that divides nothing tells nothing
        } else {
          add_coarser(weighted.at(coarser).values, options.coarser, all);
        }
      }
      weighted[name] = {std::move(all), rows.size(), count_sources(rows)};
    }
  }
  return weighted;
}

std::map<std::string, IntervalCell> cells_of(const Residuals& residuals, Sources without,
                                             const Rule& rule, const ConformalOptions& options) {
  std::map<std::string, IntervalCell> cells;
  for (const auto& [name, regime] : weigh_regimes(residuals, without, rule.traits, options)) {
    // The prediction itself is always inside.
    cells[name] = {std::min(0.0, weighted_quantile(regime.values, rule.tail)),
                   std::max(0.0, weighted_quantile(regime.values, 1 - rule.tail)), regime.rows,
                   regime.sources};
  }
  return cells;
}

struct Judgement {
  double score = 0;     // mean over sources, those of few rows count less, of their rows' mean
  double coverage = 0;  // likewise
};

// How well intervals of the other sources hold for each one that is not left out anyway.
Judgement judge(const Residuals& residuals, const Rule& rule, Sources without,
                const ConformalOptions& options) {
  Judgement all;
  double sources = 0;
  for (int source = 0; source < static_cast<int>(residuals.sources.size()); ++source) {
    if ((without & bit(source)) != 0) continue;
    const auto cells = cells_of(residuals, without | bit(source), rule, options);
    if (cells.empty()) continue;
    Judgement one;
    double rows = 0;
    for (const Residual& row : residuals.rows) {
      if (row.source != source) continue;
      const IntervalCell& cell = *find_cell(cells, rule.traits, row.regime);
      one.score += interval_score(row.log_ratio, {cell.low, cell.high}, options.confidence);
      one.coverage += row.log_ratio >= cell.low && row.log_ratio <= cell.high ? 1 : 0;
      ++rows;
    }
    if (rows == 0) continue;
    const double weight = std::min(rows / kWholeSource, 1.0);
    all.score += weight * one.score / rows;
    all.coverage += weight * one.coverage / rows;
    sources += weight;
  }
  if (sources > 0) all = {all.score / sources, all.coverage / sources};
  return all;
}

// The trait that improves the score most, if one does by enough.
bool add_trait(const Residuals& residuals, Sources without, const ConformalOptions& options,
               Rule& rule, double& score) {
  Rule best = rule;
  double least = score * (1 - options.gain);
  for (const Trait which : options.choices) {
    if (std::count(rule.traits.begin(), rule.traits.end(), which) > 0) continue;
    Rule longer = rule;
    longer.traits.push_back(which);
    const double found = judge(residuals, longer, without, options).score;
    if (found >= least) continue;
    least = found;
    best = longer;
  }
  if (best.traits.size() == rule.traits.size()) return false;
  rule = best;
  score = least;
  return true;
}

Rule choose_of_thinned(const Residuals& residuals, Sources without,
                       const ConformalOptions& options) {
  const double nominal = (1 - options.confidence) / 2;
  Rule rule{{}, nominal};
  double score = judge(residuals, rule, without, options).score;
  while (rule.traits.size() < options.most_traits &&
         add_trait(residuals, without, options, rule, score)) {
  }
  for (const double share : {1.0, 0.8, 0.6, 0.4, 0.2}) {
    rule.tail = share * nominal;
    if (judge(residuals, rule, without, options).coverage >= options.confidence) break;
  }
  return rule;
}

}  // namespace

std::map<std::string, IntervalCell> fit_cells(const Residuals& residuals, const Rule& rule,
                                              Sources without, const ConformalOptions& options) {
  return cells_of(residuals, without, rule, options);
}

std::map<std::string, std::vector<double>> fit_quantiles(const Residuals& residuals,
                                                         const Rule& rule,
                                                         const std::vector<double>& shares,
                                                         const ConformalOptions& options) {
  std::map<std::string, std::vector<double>> quantiles;
  for (const auto& [name, regime] : weigh_regimes(residuals, 0, rule.traits, options)) {
    for (const double share : shares) {
      quantiles[name].push_back(weighted_quantile(regime.values, share));
    }
  }
  return quantiles;
}

Rule choose_rule(const Residuals& residuals, Sources without, const ConformalOptions& options) {
  return choose_of_thinned(thin(residuals), without, options);
}

std::vector<LeftOut> leave_sources_out(const Residuals& residuals,
                                       const ConformalOptions& options) {
  const Residuals thinned = thin(residuals);
  std::vector<LeftOut> result(residuals.rows.size());
  for (int source = 0; source < static_cast<int>(residuals.sources.size()); ++source) {
    const Rule rule = choose_of_thinned(thinned, bit(source), options);
    const auto cells = cells_of(residuals, bit(source), rule, options);
    const double constant = constant_ratio(residuals, bit(source), options.confidence);
    if (cells.empty()) continue;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Residual& row = residuals.rows[i];
      if (row.source != source) continue;
      const IntervalCell& cell = *find_cell(cells, rule.traits, row.regime);
      result[i] = {{cell.low, cell.high}, constant};
    }
  }
  return result;
}

}  // namespace foretrain::fit
