// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/detail/linear_program.h"

#include <Clp_C_Interface.h>
#include <dlfcn.h>

#include <cmath>
#include <memory>

#include "foretrain/base/error.h"

namespace foretrain::sched {
namespace {

// Clp's functions, loaded with the first programme: one policy needs them, and linked they would
// bring LAPACK and the Fortran runtime into every start of the command and every Python process
// that imports the package. It stays loaded.
class Clp {
 public:
  static const Clp& loaded() {
    static const Clp clp;
    return clp;
  }

  decltype(&Clp_newModel) new_model = find<decltype(&Clp_newModel)>("Clp_newModel");
  decltype(&Clp_deleteModel) delete_model = find<decltype(&Clp_deleteModel)>("Clp_deleteModel");
  decltype(&Clp_setLogLevel) set_log_level = find<decltype(&Clp_setLogLevel)>("Clp_setLogLevel");
  decltype(&Clp_loadProblem) load_problem = find<decltype(&Clp_loadProblem)>("Clp_loadProblem");
  decltype(&Clp_setOptimizationDirection) set_optimization_direction =
      find<decltype(&Clp_setOptimizationDirection)>("Clp_setOptimizationDirection");
  decltype(&Clp_primal) primal = find<decltype(&Clp_primal)>("Clp_primal");
  decltype(&Clp_status) status = find<decltype(&Clp_status)>("Clp_status");
  decltype(&Clp_primalColumnSolution) primal_column_solution =
      find<decltype(&Clp_primalColumnSolution)>("Clp_primalColumnSolution");

 private:
  Clp() = default;

  template <typename Function>
  static Function find(const char* name) {
    static void* const library = dlopen("libClp.so.1", RTLD_NOW | RTLD_LOCAL);
    void* const function = library == nullptr ? nullptr : dlsym(library, name);
    if (function == nullptr) {
      throw Error(ErrorKind::Io,
                  "this policy solves linear programmes by COIN-OR's Clp, which cannot be loaded; "
                  "install coinor-libclp1, or choose another policy");
    }
    return reinterpret_cast<Function>(function);
  }
};

struct Delete {
  void operator()(Clp_Simplex* model) const { Clp::loaded().delete_model(model); }
};

// Clp ends the program, by an assertion, where a number is not finite.
void check_finite(const LinearProgram& program) {
  bool fine = true;
  for (const double factor : program.objective) fine = fine && std::isfinite(factor);
  for (const LinearProgram::Row& row : program.rows) {
    fine = fine && std::isfinite(row.limit);
    for (const LinearProgram::Term& term : row.terms) fine = fine && std::isfinite(term.factor);
  }
  if (fine) return;
  throw Error(ErrorKind::BadInput,
              "the policy cannot compare jobs whose predicted times are not finite numbers, or "
              "differ too much; choose another policy");
}

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
  check_finite(program);
  const Clp& clp = Clp::loaded();
  const std::unique_ptr<Clp_Simplex, Delete> model(clp.new_model());
  clp.set_log_level(model.get(), 0);
  const Columns columns = by_column(program);
  std::vector<double> limits;
  for (const LinearProgram::Row& row : program.rows) limits.push_back(row.limit);
  clp.load_problem(model.get(), static_cast<int>(program.objective.size()),
                   static_cast<int>(limits.size()), columns.starts.data(), columns.rows.data(),
                   columns.factors.data(), nullptr, nullptr, program.objective.data(), nullptr,
                   limits.data());
  clp.set_optimization_direction(model.get(), -1);
  clp.primal(model.get(), 0);
  if (clp.status(model.get()) != 0) {
    throw Error(ErrorKind::Io, "the linear programme of the policy has no solution (Clp status " +
                                   std::to_string(clp.status(model.get())) + ")");
  }
  const double* values = clp.primal_column_solution(model.get());
  return {values, values + program.objective.size()};
}

}  // namespace foretrain::sched
