// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/detail/minimise.h"

#include <algorithm>
#include <cmath>
#include <nlopt.hpp>

namespace foretrain::fit {
namespace {

struct Search {
  const std::function<double(const std::vector<double>&)>& loss;
  std::vector<double> best;
  double lowest;
};

double evaluate(const std::vector<double>& logs, std::vector<double>&, void* data) {
  Search& search = *static_cast<Search*>(data);
  std::vector<double> values(logs.size());
  std::transform(logs.begin(), logs.end(), values.begin(),
                 [](double log) { return std::exp(log); });
  const double now = search.loss(values);
  if (now < search.lowest) {
    search.lowest = now;
    search.best = values;
  }
  return now;
}

}  // namespace

std::vector<double> minimise(const std::vector<Variable>& variables, int evaluations,
                             const std::function<double(const std::vector<double>&)>& loss) {
  std::vector<double> logs, least, most, best;
  for (const Variable& v : variables) {
    least.push_back(std::log(v.least));
    most.push_back(std::log(v.most));
    logs.push_back(std::clamp(std::log(v.start), least.back(), most.back()));
    best.push_back(v.start);
  }
  if (variables.empty()) return best;
  Search state{loss, best, loss(best)};
  nlopt::opt search(nlopt::LN_SBPLX, static_cast<unsigned>(variables.size()));
  search.set_lower_bounds(least);
  search.set_upper_bounds(most);
  search.set_initial_step(0.1);
  search.set_maxeval(evaluations);
  search.set_ftol_rel(1e-5);
  search.set_min_objective(evaluate, &state);
  double unused = 0;
  search.optimize(logs, unused);
  return state.best;
}

void minimise_in_place(const std::vector<double*>& places, const std::vector<Variable>& variables,
                       int evaluations,
                       const std::function<double(const std::vector<double>&)>& loss) {
  const auto set = [&places](const std::vector<double>& values) {
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = values[i];
  };
  set(minimise(variables, evaluations, [&](const std::vector<double>& values) {
    set(values);
    return loss(values);
  }));
}

double squared_moves(const std::vector<Variable>& variables, const std::vector<double>& values,
                     double usual) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double moved = std::log(values[i] / variables[i].start) / usual;
    sum += moved * moved;
  }
  return sum;
}

}  // namespace foretrain::fit
