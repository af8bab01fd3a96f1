// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/cpu_operators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/fit/detail/minimise.h"
#include "foretrain/fit/detail/search.h"

namespace foretrain::fit {
namespace {

using cost::Constants;
using measured::OperatorCase;

// Which operators decide which constants. A name that ends in a dot stands for all that begin so.
struct CpuGroup {
  const char* name;
  std::vector<std::string_view> ops;
  std::vector<std::string_view> constants;
};

const std::vector<CpuGroup>& cpu_groups() {
  static const std::vector<CpuGroup> kGroups{
      {"CPU memory-bound",
       {"relu", "relu backward", "add", "hard_swish", "hard_swish backward", "dropout backward"},
       {"cpu.cache_speed"}},
      {"CPU concatenations", {"concat", "concat backward"}, {"cpu.concat.0", "cpu.concat.2"}},
      {"CPU broadcasts", {"mul", "mul backward"}, {"cpu.broadcast.0", "cpu.broadcast.2"}},
      {"CPU GEMM", {"linear", "linear backward"}, {"cpu.gemm.0", "cpu.gemm.2"}},
      {"CPU functions",
       {"gelu", "silu", "tanh", "elu", "gelu backward", "silu backward", "tanh backward",
        "elu backward"},
       {"cpu.function.", "cpu.function_grad."}},
      {"CPU random numbers", {"dropout"}, {"cpu.random."}},
      {"CPU batch norms",
       {"batch_norm", "batch_norm backward"},
       {"cpu.batch_norm.", "cpu.batch_norm_grad.", "cpu.row", "cpu.row_grad"}},
      {"CPU norms",
       {"layer_norm", "layer_norm backward", "rms_norm", "rms_norm backward"},
       {"cpu.norm.", "cpu.norm_grad."}},
      {"CPU pools",
       {"max_pool", "avg_pool", "adaptive_avg_pool", "max_pool backward", "avg_pool backward",
        "adaptive_avg_pool backward"},
       {"cpu.max_pool.", "cpu.avg_pool.", "cpu.pool_grad."}},
      {"CPU reductions", {"mean", "mean backward"}, {"cpu.reduction."}},
      {"CPU losses",
       {"cross_entropy", "cross_entropy backward"},
       {"cpu.loss.", "cpu.loss_grad.", "cpu.fresh"}},
      {"CPU embeddings", {"embedding backward"}, {"cpu.embedding_grad."}},
      {"CPU convolutions",
       {"conv", "conv backward"},
       {"cpu.conv.", "cpu.conv_grad.", "cpu.grouped.", "cpu.grouped_grad.", "cpu.depthwise.",
        "cpu.depthwise_grad.", "cpu.depthwise_wide_grad.", "cpu.plain_conv.",
        "cpu.plain_conv_grad.", "cpu.reference"}},
      {"CPU attention",
       {"attention", "attention backward"},
       {"cpu.attention.", "cpu.attention_grad."}},
      {"CPU recurrent layers",
       {"recurrent", "recurrent backward"},
       {"cpu.recurrent.", "cpu.recurrent_grad.", "cpu.lstm.", "cpu.lstm_grad.",
        "cpu.recurrent_vector"}},
  };
  return kGroups;
}

constexpr double kBest = 0.98;  // quantile of what operators reach
constexpr double kMiddle = 0.5;
constexpr double kLarge = 3;    // times the cache: memory-bound operators that miss it
constexpr double kLeast = 1.5;  // rows below this many times the overhead of measuring are left out

double quantile(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

// The rows of one group, by operator so that each counts alike.
class CpuRows {
 public:
  CpuRows(const measured::OperatorCases& cases, const std::vector<std::string_view>& ops,
          const hw::Catalog& catalog)
      : catalog_(catalog) {
    for (const auto& one : cases) {
      const bool wanted = std::find(ops.begin(), ops.end(), one->op) != ops.end();
      if (!wanted || one->measured_s < kLeast * one->overhead_s) continue;
      cells_[one->op].push_back(one.get());
      ++count_;
    }
  }

  // Mean of |ln(predicted / measured)| over the operators.
  double loss(const Constants& constants, const Calibration& machine) const {
    const cost::OperatorModel model = cost::make_operator_model(constants);
    evaluate::OperatorClock clock(catalog_, model, {&machine, 1});
    double sum = 0;
    for (const auto& [op, rows] : cells_) {
      double of_op = 0;
      for (const OperatorCase* one : rows) {
        of_op += std::abs(std::log(clock.time_s(*one) / one->measured_s));
      }
      sum += of_op / static_cast<double>(rows.size());
    }
    return sum / static_cast<double>(cells_.size());
  }

  std::size_t count() const { return count_; }

 private:
  const hw::Catalog& catalog_;
  std::map<std::string, std::vector<const OperatorCase*>> cells_;
  std::size_t count_ = 0;
};

FittedGroup fit_one(const CpuGroup& group, const CpuRows& rows, const Calibration& machine,
                    const OperatorFit& options, Constants& constants) {
  constexpr double kFactor = 30;
  constexpr double kPrior = 0.002;  // of a constant that is e times its start
  const int evaluations = options.evaluations * static_cast<int>(group.constants.size());
  const std::vector<cost::NamedConstant> varied =
      varied_constants(constants, group.constants, options.vary);
  std::vector<Variable> variables;
  for (const cost::NamedConstant& constant : varied) {
    variables.push_back({*constant.value, *constant.value / kFactor, *constant.value * kFactor});
  }
  FittedGroup fitted{group.name, rows.count(), varied.size(), rows.loss(constants, machine), 0};
  minimise_in_place(
      places_of(varied), variables, evaluations, [&](const std::vector<double>& values) {
        return rows.loss(constants, machine) + kPrior * squared_moves(variables, values);
      });
  fitted.after = rows.loss(constants, machine);
  return fitted;
}

}  // namespace

Calibration machine_of(const measured::OperatorCases& cases, const Constants& constants,
                       const hw::Catalog& catalog) {
  const hw::Device cpu = hw::find_device(catalog, "cpu:cores=1", nullptr);
  std::vector<double> rates, bandwidths, calls;
  for (const auto& one : cases) {
    if (one->phase != graph::Phase::Forward) continue;
    const graph::NodeView view{one->bound, one->graph.nodes[0]};
    const graph::Work work = graph::work(view);
    const double bytes = work.read_bytes + work.written_bytes;
    const bool memory_bound = one->op == "relu" || one->op == "add";
    if (one->op == "linear" || one->op == "conv") rates.push_back(work.flops / one->measured_s);
    if (memory_bound && bytes > kLarge * cpu.l2_bytes)
      bandwidths.push_back(bytes / one->measured_s);
    if (memory_bound) calls.push_back(1 / one->measured_s);
  }
  Calibration machine;
  machine.device = "cpu";
  const auto factor = [](std::vector<double>& found, double share, double expected, double& into) {
    if (!found.empty()) into = quantile(found, share) / expected;
  };
  factor(rates, kBest, constants.cpu.gemm[1] * cpu.fp32_flops_per_s, machine.compute);
  factor(bandwidths, kMiddle, constants.bandwidth.cpu * cpu.memory_bytes_per_s, machine.memory);
  factor(calls, kBest, 1e6 / constants.cpu.memory_bound[0], machine.host);
  return machine;
}

std::vector<FittedGroup> fit_cpu(const measured::OperatorCases& cases, const OperatorFit& options,
                                 const hw::Catalog& catalog, Constants& constants) {
  const Calibration machine = machine_of(cases, constants, catalog);
  std::vector<FittedGroup> fitted;
  for (const CpuGroup& group : cpu_groups()) {
    const CpuRows rows(cases, group.ops, catalog);
    if (rows.count() == 0) continue;
    fitted.push_back(fit_one(group, rows, machine, options, constants));
  }
  return fitted;
}

}  // namespace foretrain::fit
