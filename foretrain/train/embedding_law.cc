// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/embedding_law.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <set>
#include <span>
#include <string>

#include "foretrain/train/fit_scaling.h"
#include "foretrain/train/linear.h"

namespace foretrain::train {
namespace {

using Indices = std::vector<std::size_t>;
using embedding::LawTerm;

constexpr double kLeastBase = 1e-9;        // seconds
constexpr std::size_t kLeastFamilies = 3;  // that a law of their own needs

// Fields that may have laws of their own, alone or together.
constexpr std::array<std::string_view, 5> kLawFields{"device", "precision", "framework",
                                                     "memory_format", "strategy"};
constexpr std::size_t kLeastOfGroup = 40;  // examples that a law of their own needs

std::vector<Indices> sets_of_fields(const EmbeddingData& data, const Indices& which) {
  const auto names = embedding::word_fields();
  Indices varied;
  for (std::size_t f = 0; f < names.size(); ++f) {
    const std::string& first = data.examples[which.front()].job.words[f];
    const bool varies = std::any_of(which.begin(), which.end(), [&](std::size_t i) {
      return data.examples[i].job.words[f] != first;
    });
    if (varies && std::find(kLawFields.begin(), kLawFields.end(), names[f]) != kLawFields.end()) {
      varied.push_back(f);
    }
  }
  std::vector<Indices> sets;
  for (std::size_t mask = 1; mask < (std::size_t{1} << varied.size()); ++mask) {
    Indices set;
    for (std::size_t f = 0; f < varied.size(); ++f) {
      if ((mask >> f) & 1) set.push_back(varied[f]);
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

// Whether each combination of the fields' words has examples enough, of several families.
bool are_enough(const EmbeddingData& data, const Indices& which, const Indices& fields) {
  std::map<std::vector<std::string>, std::pair<std::size_t, std::set<std::string>>> groups;
  for (const std::size_t i : which) {
    std::vector<std::string> words;
    for (const std::size_t f : fields) words.push_back(data.examples[i].job.words[f]);
    auto& [count, families] = groups[words];
    ++count;
    families.insert(data.examples[i].family);
  }
  return std::all_of(groups.begin(), groups.end(), [](const auto& group) {
    return group.second.first >= kLeastOfGroup && group.second.second.size() >= kLeastFamilies;
  });
}

// Examples of one group, as its fit sees them: errors are relative.
BoostData rows_of(const EmbeddingData& data, const Indices& which, std::span<const LawTerm> group) {
  BoostData rows;
  for (const std::size_t i : which) {
    const EmbeddingExample& one = data.examples[i];
    std::vector<double> values = embedding::values_of(group, one.job);
    if (values.back() == 0) continue;  // of another group
    values.pop_back();                 // the constant, which the fit has anyway
    rows.features.push_back(std::move(values));
    rows.targets.push_back(one.time_s);
    rows.weights.push_back(1 / (one.time_s * one.time_s));
  }
  return rows;
}

double law_error(const EmbeddingData& data, const std::vector<Division>& divisions,
                 const std::vector<LawTerm>& terms) {
  std::vector<Judged> judged;
  for (const Division& division : divisions) {
    const learn::Regressor law = fit_law(data, division.train, terms);
    for (const std::size_t i : division.test) {
      const EmbeddingExample& one = data.examples[i];
      judged.push_back({learn::evaluate(law, embedding::values_of(terms, one.job)), one.time_s});
    }
  }
  return mean_error(judged);
}

}  // namespace

std::vector<LawTerm> plain_law(const EmbeddingData& data) {
  const embedding::JobFeatures* const any = &data.examples.front().job;
  return embedding::law_terms_by({}, {&any, 1});
}

learn::LinearModel fit_law(const EmbeddingData& data, const Indices& which,
                           const std::vector<LawTerm>& terms) {
  learn::LinearModel law{kLeastBase, std::vector<double>(terms.size())};
  const std::size_t each = embedding::term_names().size() + 1;
  assert(terms.size() % each == 0);
  for (std::size_t first = 0; first < terms.size(); first += each) {
    const std::span<const LawTerm> group(&terms[first], each);
    BoostData rows = rows_of(data, which, group);
    if (rows.targets.empty()) rows = rows_of(data, which, plain_law(data));
    const learn::LinearModel found = fit_nonnegative(rows);
    std::copy(found.weights.begin(), found.weights.end(),
              law.weights.begin() + static_cast<std::ptrdiff_t>(first));
    law.weights[first + each - 1] = found.intercept;
  }
  return law;
}

std::vector<LawTerm> choose_law(const EmbeddingData& data, const Indices& which,
                                const std::vector<Division>& divisions) {
  std::vector<LawTerm> chosen = plain_law(data);
  double least = law_error(data, divisions, chosen);
  std::vector<const embedding::JobFeatures*> jobs;
  for (const std::size_t i : which) jobs.push_back(&data.examples[i].job);
  for (const Indices& fields : sets_of_fields(data, which)) {
    if (!are_enough(data, which, fields)) continue;
    const auto terms = embedding::law_terms_by(fields, jobs);
    const double error = law_error(data, divisions, terms);
    if (error >= least) continue;
    least = error;
    chosen = terms;
  }
  return chosen;
}

}  // namespace foretrain::train
