// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/law_terms.h"

#include <algorithm>
#include <set>

namespace foretrain::embedding {
namespace {

using When = std::vector<std::pair<std::size_t, std::string>>;

constexpr std::string_view kOnce = "once";

bool holds(const LawTerm& term, const JobFeatures& job) {
  return std::all_of(term.when.begin(), term.when.end(),
                     [&](const auto& one) { return job.words[one.first] == one.second; });
}

// Words of a device that the user described may hold what conditions are told apart by.
constexpr std::string_view kMarks = "%&=@";

std::string escaped(const std::string& word) {
  std::string text;
  for (const char c : word) {
    const std::size_t mark = kMarks.find(c);
    text += mark == std::string_view::npos ? std::string(1, c) : "%" + std::to_string(mark);
  }
  return text;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string word;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      word += text[i];
      continue;
    }
    const std::size_t mark = ++i < text.size() ? static_cast<std::size_t>(text[i] - '0') : 9;
    if (mark >= kMarks.size()) return std::nullopt;
    word += kMarks[mark];
  }
  return word;
}

// "precision=fp16" of "precision=fp16&..."; cut off `text`.
std::optional<std::pair<std::size_t, std::string>> take_condition(std::string_view& text) {
  const std::string_view one = text.substr(0, text.find('&'));
  text.remove_prefix(std::min(text.size(), one.size() + 1));
  const std::size_t equals = one.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto fields = word_fields();
  const auto field = std::find(fields.begin(), fields.end(), one.substr(0, equals));
  auto word = unescaped(one.substr(equals + 1));
  if (field == fields.end() || !word) return std::nullopt;
  return std::pair(static_cast<std::size_t>(field - fields.begin()), std::move(*word));
}

}  // namespace

std::string name_of(const LawTerm& term) {
  const auto& names = term_names();
  std::string name = term.term < names.size() ? names[term.term] : std::string(kOnce);
  char before = '@';
  for (const auto& [field, word] : term.when) {
    name += before + std::string(word_fields()[field]) + "=" + escaped(word);
    before = '&';
  }
  return name;
}

std::optional<LawTerm> law_term_named(std::string_view name) {
  const std::size_t at = name.find('@');
  const auto& names = term_names();
  const auto found = std::find(names.begin(), names.end(), name.substr(0, at));
  if (found == names.end() && name.substr(0, at) != kOnce) return std::nullopt;
  LawTerm term{static_cast<std::size_t>(found - names.begin())};
  if (at == std::string_view::npos) return term;
  if (name.ends_with('&')) return std::nullopt;
  std::string_view conditions = name.substr(at + 1);
  do {
    auto condition = take_condition(conditions);
    if (!condition) return std::nullopt;
    term.when.push_back(std::move(*condition));
  } while (!conditions.empty());
  return term;
}

std::vector<LawTerm> law_terms_by(std::span<const std::size_t> fields,
                                  std::span<const JobFeatures* const> jobs) {
  std::set<When> combinations;
  for (const JobFeatures* job : jobs) {
    When when;
    for (const std::size_t field : fields) when.emplace_back(field, job->words[field]);
    combinations.insert(std::move(when));
  }
  std::vector<LawTerm> terms;
  for (const When& when : combinations) {
    for (std::size_t i = 0; i <= term_names().size(); ++i) terms.push_back({i, when});
  }
  return terms;
}

std::vector<double> values_of(std::span<const LawTerm> terms, const JobFeatures& job) {
  std::vector<double> values;
  values.reserve(terms.size());
  for (const LawTerm& term : terms) {
    const double value = term.term < job.terms.size() ? job.terms[term.term] : 1;
    values.push_back(holds(term, job) ? value : 0);
  }
  return values;
}

}  // namespace foretrain::embedding
