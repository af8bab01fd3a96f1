// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/domain.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "foretrain/base/near.h"

namespace foretrain::operators {
namespace {

constexpr std::size_t kShown = 3;

// How many doublings a count lies outside of a range.
double beyond(double asked, double least, double most) {
  if (asked < least) return std::log2(least / asked);
  return asked > most ? std::log2(asked / most) : 0;
}

// Eager PyTorch is one framework in all its versions.
std::string_view code_of(std::string_view framework) {
  return framework.starts_with("pytorch-1") ? "pytorch" : framework;
}

// How unlike two cases are.
double distance(const MeasuredCase& known, const MeasuredCase& asked, const DistanceWeights& of) {
  double sum = 0;
  if (known.family != asked.family) sum += of.family;
  if (known.model != asked.model) sum += of.model;
  if (known.architecture != asked.architecture) sum += of.architecture;
  if (known.device != asked.device) sum += of.device;
  if (known.precision != asked.precision) sum += of.precision;
  if (known.mode != asked.mode) sum += of.mode;
  if (code_of(known.framework) != code_of(asked.framework)) sum += of.framework;
  sum += of.workers * beyond(asked.most_workers, known.least_workers, known.most_workers);
  sum += of.batch * beyond(static_cast<double>(asked.most_batch),
                           static_cast<double>(known.least_batch),
                           static_cast<double>(known.most_batch));
  return sum;
}

std::string range(std::int64_t least, std::int64_t most) {
  return std::to_string(least) + (least == most ? "" : " to " + std::to_string(most));
}

std::string describe(const MeasuredCase& one) {
  return one.model + " on " + range(one.least_workers, one.most_workers) + " " + one.device +
         " in " + one.precision + (one.mode == "train" ? "" : ", " + one.mode) + ", batch " +
         range(one.least_batch, one.most_batch) + " (" + one.source + ")";
}

// What of `asked` no measured case of its kind has.
std::vector<std::string> reasons(const Intervals& intervals, const MeasuredCase& asked) {
  bool device = false;
  bool precision = false;
  bool mode = false;
  bool framework = false;
  int most_workers = 0;
  for (const MeasuredCase& one : intervals.measured) {
    device = device || one.device == asked.device;
    framework = framework || code_of(one.framework) == code_of(asked.framework);
    if (one.family != asked.family) continue;
    precision = precision || one.precision == asked.precision;
    mode = mode || one.mode == asked.mode;
    most_workers = std::max(most_workers, one.most_workers);
  }
  const std::string kind = asked.family == "other" ? "such models" : asked.family + " models";
  std::vector<std::string> found;
  if (!device) found.push_back(printable(asked.device));
  if (!framework) found.push_back("framework " + asked.framework);
  if (most_workers == 0) return found.push_back(kind), found;
  if (!precision) found.push_back(kind + " in " + asked.precision);
  if (!mode) found.push_back(kind + " in " + asked.mode);
  if (asked.most_workers > most_workers) {
    found.push_back(kind + " on more than " + std::to_string(most_workers) + " devices");
  }
  return found;
}

}  // namespace

std::vector<const MeasuredCase*> nearest_cases(const Intervals& intervals,
                                               const MeasuredCase& asked, std::size_t most) {
  std::vector<std::pair<double, const MeasuredCase*>> order;
  order.reserve(intervals.measured.size());
  for (const MeasuredCase& one : intervals.measured) {
    order.emplace_back(distance(one, asked, intervals.distance), &one);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::set<std::pair<std::string_view, std::string_view>> taken;
  std::vector<const MeasuredCase*> nearest;
  for (const auto& [far, one] : order) {
    if (nearest.size() == most) break;
    if (taken.emplace(one->model, one->device).second) nearest.push_back(one);
  }
  return nearest;
}

std::vector<std::string> domain_warnings(const Intervals& intervals, const MeasuredCase& asked) {
  if (intervals.measured.empty()) return {};
  const std::vector<std::string> found = reasons(intervals, asked);
  if (found.empty()) return {};
  std::string what;
  for (const std::string& one : found) what += (what.empty() ? "" : "; ") + one;
  std::string cases;
  for (const MeasuredCase* one : nearest_cases(intervals, asked, kShown)) {
    cases += (cases.empty() ? "" : "; ") + describe(*one);
  }
  return {"outside of what was measured, so the interval is that of other cases: " + what,
          "nearest measured cases: " + cases};
}

}  // namespace foretrain::operators
