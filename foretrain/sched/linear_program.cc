// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/linear_program.h"

#include <Clp_C_Interface.h>

#include <memory>

#include "foretrain/base/error.h"

namespace foretrain::sched {
namespace {

struct Delete {
  void operator()(Clp_Simplex* model) const { Clp_deleteModel(model); }
};

// The matrix by columns, as the solver wants it.
struct Columns {
  std::vector<CoinBigIndex> starts;
  std::vector<int> rows;
  std::vector<double> factors;
};

Columns by_column(const LinearProgram& program) {
  std::vector<std::vector<LinearProgram::Term>> columns(program.objective.size());
  for (std::size_t row = 0; row < program.rows.size(); ++row) {
    for (const LinearProgram::Term& term : program.rows[row].terms) {
      columns[static_cast<std::size_t>(term.variable)].push_back(
          {static_cast<int>(row), term.factor});
    }
  }
  Columns result;
  for (const auto& column : columns) {
    result.starts.push_back(static_cast<CoinBigIndex>(result.rows.size()));
    for (const LinearProgram::Term& entry : column) {
      result.rows.push_back(entry.variable);
      result.factors.push_back(entry.factor);
    }
  }
  result.starts.push_back(static_cast<CoinBigIndex>(result.rows.size()));
  return result;
}

}  // namespace

std::vector<double> solve(const LinearProgram& program) {
  const std::unique_ptr<Clp_Simplex, Delete> model(Clp_newModel());
  Clp_setLogLevel(model.get(), 0);
  const Columns columns = by_column(program);
  std::vector<double> limits;
  for (const LinearProgram::Row& row : program.rows) limits.push_back(row.limit);
  Clp_loadProblem(model.get(), static_cast<int>(program.objective.size()),
                  static_cast<int>(limits.size()), columns.starts.data(), columns.rows.data(),
                  columns.factors.data(), nullptr, nullptr, program.objective.data(), nullptr,
                  limits.data());
  Clp_setOptimizationDirection(model.get(), -1);
  Clp_primal(model.get(), 0);
  if (Clp_status(model.get()) != 0) {
    throw Error(ErrorKind::Io, "the linear programme of the policy has no solution (Clp status " +
                                   std::to_string(Clp_status(model.get())) + ")");
  }
  const double* values = Clp_primalColumnSolution(model.get());
  return {values, values + program.objective.size()};
}

}  // namespace foretrain::sched
