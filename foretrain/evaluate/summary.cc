// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/detail/summary.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/detail/metrics.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::evaluate {
namespace {

struct GroupKey {
  std::string_view name;
  std::string (*of)(const Case&);
};

template <typename Count>
std::string count_text(const std::optional<Count>& count) {
  return count ? std::to_string(*count) : "";
}

template <Trait which>
std::string trait_of(const Case& one) {
  return word(one.regime, which);
}

const std::array kKeys{
    GroupKey{"file", [](const Case& c) { return c.file; }},
    GroupKey{"source", [](const Case& c) { return c.source; }},
    GroupKey{"model", [](const Case& c) { return c.model; }},
    GroupKey{"device", [](const Case& c) { return c.device; }},
    GroupKey{"precision", [](const Case& c) { return c.precision; }},
    GroupKey{"workers", [](const Case& c) { return count_text(c.workers); }},
    GroupKey{"batch", [](const Case& c) { return count_text(c.batch); }},
    GroupKey{"metric", [](const Case& c) { return c.metric; }},
    GroupKey{"family", trait_of<Trait::Family>},
    GroupKey{"framework", trait_of<Trait::Framework>},
    GroupKey{"scale", trait_of<Trait::Scale>},
    GroupKey{"bound", trait_of<Trait::Bound>},
    GroupKey{"architecture", trait_of<Trait::Architecture>},
    GroupKey{"sharing", trait_of<Trait::Sharing>},
};

const GroupKey& find_key(const std::string& name) {
  std::string list;
  for (const GroupKey& key : kKeys) {
    if (key.name == name) return key;
    list += (list.empty() ? "" : ", ") + std::string(key.name);
  }
  throw Error(ErrorKind::BadInput,
              "rows are not grouped by '" + printable(name) + "'; it must be one of " + list);
}

// Numbers by size, other texts by letters.
bool comes_before(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text) -> std::optional<long> {
    long value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
  };
  const auto left = number(a);
  const auto right = number(b);
  if (left && right) return *left < *right;
  return a < b;
}

}  // namespace

std::vector<std::string> group_keys() {
  std::vector<std::string> names;
  for (const GroupKey& key : kKeys) names.emplace_back(key.name);
  return names;
}

std::vector<std::string> group_of(const Case& one, const std::vector<std::string>& by) {
  std::vector<std::string> key;
  for (const std::string& name : by) key.push_back(find_key(name).of(one));
  return key;
}

Summary::Summary(const Options& options) : by_(options.by), count_refused_(options.count_refused) {
  if (by_.empty()) throw Error(ErrorKind::BadInput, "rows need something to be grouped by");
  for (const std::string& name : by_) find_key(name);
  for (const std::string& name : options.calibration.by) find_key(name);
}

void Summary::Tally::add(const Case& one, bool count_refused) {
  ++rows;
  if (one.outcome == Outcome::Predicted) {
    ++predicted;
    if (!one.fits && !measured::says_it_did_not_fit(one.number)) ++not_fitting;
    errors[one.model].push_back(one.error);
  } else if (one.outcome == Outcome::Refused) {
    ++refused;
    if (count_refused) errors[one.model].push_back(-1);
  }
}

Score Summary::Tally::score() const {
  Score score;
  score.rows = rows;
  score.predicted = predicted;
  score.refused = refused;
  score.not_fitting = not_fitting;
  std::vector<double> all;
  for (const auto& [model, of_model] : errors) {
    all.insert(all.end(), of_model.begin(), of_model.end());
    if (const double worst = evaluate::mape(of_model); worst > score.worst_mape) {
      score.worst_mape = worst;
      score.worst_model = model;
    }
  }
  score.mape = evaluate::mape(all);
  score.median_ape = evaluate::median_ape(all);
  score.bias = evaluate::bias(all);
  return score;
}

void Summary::add(const Case& one) {
  groups_[group_of(one, by_)].add(one, count_refused_);
  files_[one.file].add(one, count_refused_);
  total_.add(one, count_refused_);
  if (one.outcome == Outcome::Predicted) return;
  Reason& reason = reasons_[{one.file, one.reason}];
  if (reason.rows++ == 0) {
    reason = {one.file, one.reason, one.outcome, 1, one.line};
  }
}

Evaluation Summary::finish() const {
  Evaluation evaluation;
  evaluation.by = by_;
  for (const auto& [key, tally] : groups_) evaluation.groups.push_back({key, tally.score()});
  std::stable_sort(evaluation.groups.begin(), evaluation.groups.end(),
                   [](const Group& a, const Group& b) {
                     return std::lexicographical_compare(a.key.begin(), a.key.end(), b.key.begin(),
                                                         b.key.end(), comes_before);
                   });
  for (const auto& [file, tally] : files_) evaluation.files.push_back({{file}, tally.score()});
  evaluation.total = total_.score();
  for (const auto& [key, reason] : reasons_) evaluation.reasons.push_back(reason);
  std::stable_sort(evaluation.reasons.begin(), evaluation.reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.rows > b.rows; });
  return evaluation;
}

}  // namespace foretrain::evaluate
