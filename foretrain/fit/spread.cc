// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/spread.h"

#include <algorithm>
#include <cmath>
#include <nlopt.hpp>

namespace foretrain::fit {
namespace {

constexpr double kRounded = 0.02;  // the score's kinks are rounded by about so much
constexpr int kEvaluations = 400;

// Effects in a row, to be found: the base first.
class Terms {
 public:
  Terms(const Residuals& residuals, const SpreadFit& fit) {
    effects_.push_back(&spread_.base);
    for (const Trait which : fit.traits) {
      for (const Residual& row : residuals.rows) {
        spread_.words[which].try_emplace(word(row.regime, which));
      }
    }
    for (auto& [which, effects] : spread_.words) {
      for (auto& [text, effect] : effects) effects_.push_back(&effect);
    }
    effects_.push_back(&spread_.communication);
    effects_.push_back(&spread_.host);
  }
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  std::size_t size() const { return effects_.size(); }
  void set(const std::vector<double>& values) {
    for (std::size_t i = 0; i < size(); ++i) *effects_[i] = {values[2 * i], values[2 * i + 1]};
  }
  const Spread& spread() const { return spread_; }

  // How much of each effect a row has; the places of those that are not 0.
  std::vector<std::pair<std::size_t, double>> of(const Residual& row) const {
    std::vector<std::pair<std::size_t, double>> terms{{0, 1}};
    std::size_t place = 1;
    for (const auto& [which, effects] : spread_.words) {
      const auto found = effects.find(word(row.regime, which));
      const auto offset = static_cast<std::size_t>(std::distance(effects.begin(), found));
      if (found != effects.end()) terms.emplace_back(place + offset, 1);
      place += effects.size();
    }
    terms.emplace_back(place, row.shares.communication);
    terms.emplace_back(place + 1, row.shares.host);
    return terms;
  }

 private:
  Spread spread_;
  std::vector<Effect*> effects_;
};

double rounded_positive(double value) {  // log(1 + e^x), without overflow
  const double x = value / kRounded;
  return kRounded * (x > 30 ? x : std::log1p(std::exp(x)));
}

double step_up(double value) {
  return 1 / (1 + std::exp(std::clamp(-value / kRounded, -50., 50.)));
}

struct WeightedRow {
  std::vector<std::pair<std::size_t, double>> terms;
  double log_ratio = 0;
  double weight = 0;  // they add up to 1
};

struct Search {
  std::vector<WeightedRow> rows;
  const SpreadFit& fit;
};

// The interval score of a row and its derivatives by the logarithms of both ends.
struct RowScore {
  double score = 0;
  double by_low = 0;
  double by_high = 0;
};

RowScore score_row(const WeightedRow& row, const Effect& sum, double outside) {
  const double low = std::exp(sum.width - sum.skew);  // below 0 by so much
  const double high = std::exp(sum.width + sum.skew);
  const double under = -low - row.log_ratio;
  const double over = row.log_ratio - high;
  return {row.weight * (low + high + outside * (rounded_positive(under) + rounded_positive(over))),
          row.weight * low * (1 - outside * step_up(under)),
          row.weight * high * (1 - outside * step_up(over))};
}

double objective(const std::vector<double>& values, std::vector<double>& gradient, void* data) {
  const Search& search = *static_cast<const Search*>(data);
  const double outside = 2 / (1 - search.fit.confidence);
  std::vector<double> slopes(values.size(), 0);
  double all = 0;
  for (const WeightedRow& row : search.rows) {
    Effect sum;
    for (const auto& [place, times] : row.terms) {
      sum.width += times * values[2 * place];
      sum.skew += times * values[2 * place + 1];
    }
    const RowScore one = score_row(row, sum, outside);
    all += one.score;
    for (const auto& [place, times] : row.terms) {
      slopes[2 * place] += times * (one.by_low + one.by_high);
      slopes[2 * place + 1] += times * (one.by_high - one.by_low);
    }
  }
  for (std::size_t i = 2; i < values.size(); ++i) {  // the base is free
    const double penalty = i % 2 == 0 ? search.fit.width_penalty : search.fit.skew_penalty;
    all += penalty * values[i] * values[i];
    slopes[i] += 2 * penalty * values[i];
  }
  if (!gradient.empty()) gradient = slopes;
  return all;
}

// Residuals, thinned, with the terms of their rows.
class Fitter {
 public:
  Fitter(const Residuals& residuals, const SpreadFit& fit)
      : residuals_(thin(residuals)), fit_(fit), terms_(residuals_, fit) {
    for (const Residual& row : residuals_.rows) rows_.push_back({terms_.of(row), row.log_ratio, 0});
  }

  // The factor aside.
  const Spread& spread(Sources without) {
    terms_.set(effects(without, std::vector<double>(2 * terms_.size(), 0)));
    return terms_.spread();
  }

  // The logarithm of the factor by which intervals must be wider to hold the promised share of
  // sources that took no part in them.
  double widening(Sources without) {
    const std::vector<double> weights = weights_of(residuals_, without);
    const std::vector<double> all =
        effects(without, std::vector<double>(2 * terms_.size(), 0));  // near each of those below
    std::vector<std::pair<double, double>> needed;
    for (int source = 0; source < static_cast<int>(residuals_.sources.size()); ++source) {
      if ((without & bit(source)) != 0) continue;
      terms_.set(effects(without | bit(source), all));
      const Spread& others = terms_.spread();
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const Residual& row = residuals_.rows[i];
        if (row.source != source) continue;
        const Ends ends = ends_of(others, row.regime, row.shares);
        const double end = row.log_ratio < 0 ? ends.low : ends.high;
        needed.emplace_back(std::log(std::max(row.log_ratio / end, 1e-9)), weights[i]);
      }
    }
    if (needed.empty()) return 0;
    std::sort(needed.begin(), needed.end());
    return weighted_quantile(needed, fit_.confidence);
  }

 private:
  std::vector<double> effects(Sources without, std::vector<double> values) const {
    const std::vector<double> weights = weights_of(residuals_, without);
    double all = 0;
    for (const double weight : weights) all += weight;
    if (all == 0) return values;
    Search search{{}, fit_};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (weights[i] == 0) continue;
      search.rows.push_back(rows_[i]);
      search.rows.back().weight = weights[i] / all;
    }
    nlopt::opt find(nlopt::LD_LBFGS, static_cast<unsigned>(values.size()));
    find.set_lower_bounds(-kWidestEnd);
    find.set_upper_bounds(kWidestEnd);
    find.set_maxeval(kEvaluations);
    find.set_ftol_rel(1e-7);
    find.set_min_objective(objective, &search);
    double unused = 0;
    find.optimize(values, unused);
    return values;
  }

  Residuals residuals_;
  const SpreadFit& fit_;
  Terms terms_;
  std::vector<WeightedRow> rows_;
};

Spread widened(Spread spread, double widening) {
  spread.base.width += widening;
  return spread;
}

Spread rounded(Spread spread) {
  const auto round = [](Effect& effect) {
    effect = {to_four_decimals(effect.width), to_four_decimals(effect.skew)};
  };
  for (Effect* effect : {&spread.base, &spread.communication, &spread.host}) round(*effect);
  for (auto& [which, effects] : spread.words) {
    for (auto& [text, effect] : effects) round(effect);
  }
  return spread;
}

}  // namespace

Spread fit_spread(const Residuals& residuals, Sources without, const SpreadFit& fit) {
  Fitter fitter(residuals, fit);
  const double widening = fitter.widening(without);
  return rounded(widened(fitter.spread(without), widening));
}

std::vector<LeftOut> leave_sources_out(const Residuals& residuals, const SpreadFit& fit) {
  std::vector<LeftOut> result(residuals.rows.size());
  Fitter fitter(residuals, fit);
  for (int source = 0; source < static_cast<int>(residuals.sources.size()); ++source) {
    const double constant = constant_ratio(residuals, bit(source), fit.confidence);
    const double widening = fitter.widening(bit(source));
    const Spread spread = widened(fitter.spread(bit(source)), widening);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Residual& row = residuals.rows[i];
      if (row.source == source) result[i] = {ends_of(spread, row.regime, row.shares), constant};
    }
  }
  return result;
}

}  // namespace foretrain::fit
