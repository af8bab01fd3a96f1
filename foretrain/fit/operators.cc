// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/operators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/operator_clock.h"
#include "foretrain/fit/cpu_operators.h"
#include "foretrain/fit/detail/search.h"
#include "foretrain/measured/operator_file.h"

namespace foretrain::fit {
namespace {

using cost::Constants;
using measured::OperatorCase;
using measured::OperatorCases;
using measured::OperatorTable;

// Which rows decide which constants.
struct Group {
  const char* name;
  OperatorTable table;
  std::vector<std::string_view> ops;  // empty: all
  std::vector<std::string_view> constants;
  // Whether a factor of each device and operator is left open: its rows were measured at another
  // clock than usual, so they tell how time depends on sizes, not how long it is.
  bool centred = false;
  std::vector<std::string_view> without{};  // devices whose clock wanders with their power limit
  double host_share = 10;  // rows below this many times the overhead of measuring are left out
  // Only convolutions that were computed so: the fastest of three hides the others' constants.
  std::optional<cost::ConvAlgorithm> algorithm{};
};

const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups{
      {"norms",
       OperatorTable::MemoryBound,
       {"ln", "softmax"},
       {"memory_bound.miss", "memory_bound.norm_rows", "memory_bound.softmax_rows"},
       true,
       {"t4", "p4"}},
      {"fp32 GEMM",
       OperatorTable::Gemm,
       {},
       {"gemm.tiles.1", "gemm.tiles.2", "gemm.tiles.3", "gemm.tiles.4", "gemm.tail", "gemm.reread",
        "gemm.split", "gemm.exponent"},
       true,
       {"t4", "p4"}},
      {"implicit GEMM",
       OperatorTable::Convolution,
       {},
       {"conv.tiles.", "conv.tail", "conv.start"},
       false,
       {},
       0,
       cost::ConvAlgorithm::Implicit},
      {"fused Winograd",
       OperatorTable::Convolution,
       {},
       {"conv.fused_"},
       false,
       {},
       0,
       cost::ConvAlgorithm::FusedWinograd},
      {"unfused Winograd",
       OperatorTable::Convolution,
       {},
       {"conv.unfused_", "conv.cache", "conv.transform", "conv.weight_transform"},
       false,
       {},
       0,
       cost::ConvAlgorithm::UnfusedWinograd},
  };
  return kGroups;
}

template <typename Texts>
bool contains(const Texts& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

double mean_size(const std::vector<double>& logs) {
  double sum = 0;
  for (const double log : logs) sum += std::abs(log);
  return sum / static_cast<double>(logs.size());
}

// The same around the median.
double spread(std::vector<double> logs) {
  const double middle = median(logs);
  for (double& log : logs) log -= middle;
  return mean_size(logs);
}

// The rows of one group, by operator and device so that each counts alike.
class Rows {
 public:
  Rows(const OperatorCases& cases, const Group& group, const OperatorFit& options,
       const hw::Catalog& catalog)
      : catalog_(catalog), centred_(group.centred), algorithm_(group.algorithm) {
    const cost::OperatorModel model = cost::make_operator_model(Constants{});
    evaluate::OperatorClock devices(catalog, model);
    for (const auto& one : cases) {
      const std::string& device = devices.device(one->device).name;
      const bool out = named_by_any(device, options.without) || contains(group.without, device);
      const bool other = (!group.ops.empty() && !contains(group.ops, one->op)) ||
                         (group.algorithm && one->algorithm != group.algorithm);
      const bool amd = devices.device(one->device).vendor != "nvidia";
      const bool host = one->measured_s < group.host_share * one->overhead_s;
      if (one->split == "test" || out || other || amd || host) continue;
      cells_[{one->op, device}].push_back(one.get());
      ++count_;
    }
  }

  double loss(const Constants& constants) const {
    const cost::OperatorModel model = cost::make_operator_model(constants);
    evaluate::OperatorClock clock(catalog_, model);
    double sum = 0;
    std::vector<double> logs;
    for (const auto& [key, rows] : cells_) {
      logs.clear();
      for (const OperatorCase* one : rows)
        logs.push_back(std::log(time_s(clock, *one) / one->measured_s));
      sum += centred_ ? spread(logs) : mean_size(logs);
    }
    return sum / static_cast<double>(cells_.size());
  }

  std::size_t count() const { return count_; }

 private:
  double time_s(evaluate::OperatorClock& clock, const OperatorCase& one) const {
    return algorithm_ ? clock.time_s(one, *algorithm_) : clock.time_s(one);
  }

  const hw::Catalog& catalog_;
  bool centred_;
  std::optional<cost::ConvAlgorithm> algorithm_;
  std::map<std::pair<std::string, std::string>, std::vector<const OperatorCase*>> cells_;
  std::size_t count_ = 0;
};

FittedGroup fit_group(const Group& group, const Rows& rows, const OperatorFit& options,
                      Constants& constants) {
  const std::vector<cost::NamedConstant> varied =
      varied_constants(constants, group.constants, options.vary);
  FittedGroup fitted{group.name, rows.count(), varied.size(), rows.loss(constants), 0};
  search(varied, options.evaluations, [&] { return rows.loss(constants); });
  fitted.after = rows.loss(constants);
  return fitted;
}

// A store may hold operators of GPUs beside those of the CPU.
OperatorCases take_cpu(OperatorCases cases, const hw::Catalog& catalog) {
  const cost::OperatorModel model = cost::make_operator_model(Constants{});
  evaluate::OperatorClock devices(catalog, model);
  std::erase_if(cases, [&](const auto& one) { return !hw::is_cpu(devices.device(one->device)); });
  return cases;
}

}  // namespace

FittedOperators fit_operators(const std::filesystem::path& data, const Constants& start,
                              const OperatorFit& options, const hw::Catalog& catalog,
                              const std::function<void(const FittedGroup&)>& on_group) {
  FittedOperators result{start, {}};
  auto tables = measured::read_operator_tables(data, options.most_rows);
  for (const Group& group : groups()) {
    const Rows rows(tables[group.table], group, options, catalog);
    if (rows.count() == 0) continue;
    result.groups.push_back(fit_group(group, rows, options, result.constants));
    on_group(result.groups.back());
  }
  const OperatorCases cpu = take_cpu(std::move(tables[OperatorTable::Collected]), catalog);
  for (const FittedGroup& group : fit_cpu(cpu, options, catalog, result.constants)) {
    result.groups.push_back(group);
    on_group(group);
  }
  if (result.groups.empty()) {
    throw Error(ErrorKind::NotFound, "no measured operators to fit constants by in '" +
                                         printable(data.string()) +
                                         "'; docs/models/operators.md says which are known");
  }
  round_digits(result.constants);
  return result;
}

}  // namespace foretrain::fit
