// SPDX-License-Identifier: Apache-2.0
#include "foretrain/scaling/search_space.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain::scaling {
namespace {

constexpr double kMostNumber = 1e150;
constexpr double kLeastNumber = 1e-150;
constexpr double kFarApart = 4;  // the most over the least

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

std::vector<std::string> texts_of(const Json& values, const std::string& name,
                                  const std::string& where) {
  std::vector<std::string> texts;
  std::set<std::string> known;
  if (!values.is_array() || values.empty()) bad(where, "'" + printable(name) + "' is no list");
  for (const Json& one : values) {
    if (!one.is_string() && !one.is_number() && !one.is_boolean()) {
      bad(where, "'" + printable(name) + "' has a value that is no number, word or truth");
    }
    texts.push_back(one.is_string() ? one.get<std::string>() : json_text(one));
    if (texts.back().find('\0') != std::string::npos) {
      bad(where,
          "'" + printable(name) + "' has a value with a NUL byte, which no command can take");
    }
    if (!known.insert(texts.back()).second) {
      bad(where, "'" + printable(name) + "' has " + printable(texts.back()) + " twice");
    }
  }
  return texts;
}

// A history has a column for each variable, and these besides.
void check_name(const std::string& name, const std::string& where) {
  constexpr std::array<std::string_view, 4> kColumns{"time_s", "expected_gain", "goal",
                                                     "best_goal"};
  if (std::find(kColumns.begin(), kColumns.end(), name) != kColumns.end()) {
    bad(where, "'" + printable(name) + "' is a column of the history; call the variable otherwise");
  }
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) { return c >= ' '; });
  if (name.empty() || !plain) {
    bad(where, "'" + printable(name) + "' is no name of a variable; use letters, digits and _");
  }
}

// One dimension of numbers, or one for each word.
void add_dimensions(SearchSpace& space, std::size_t variable, const std::string& where) {
  std::set<std::string> words;
  std::vector<double> numbers;
  for (const auto& point : space.points) {
    words.insert(point[variable]);
    if (const auto number = number_in(point[variable])) numbers.push_back(*number);
  }
  const bool by_words = numbers.size() < space.points.size();
  const std::size_t known = space.points.empty() ? 0 : space.coordinates.front().size();
  if (known + (by_words ? words.size() : 1) > kMostDimensions) {
    bad(where, "more than " + std::to_string(kMostDimensions) +
                   " dimensions: variables of numbers, and the words of others, of which '" +
                   printable(space.variables[variable]) + "' has " + std::to_string(words.size()) +
                   "; name fewer");
  }
  if (by_words) {
    for (const std::string& word : words) {
      for (std::size_t i = 0; i < space.points.size(); ++i) {
        space.coordinates[i].push_back(space.points[i][variable] == word ? 1 : 0);
      }
    }
    return;
  }
  double least = *std::min_element(numbers.begin(), numbers.end());
  double most = *std::max_element(numbers.begin(), numbers.end());
  if (least > 0 && most > kFarApart * least) {
    for (double& number : numbers) number = std::log(number);
    least = std::log(least);
    most = std::log(most);
  }
  for (std::size_t i = 0; i < space.points.size(); ++i) {
    space.coordinates[i].push_back(most > least ? (numbers[i] - least) / (most - least) : 0);
  }
}

}  // namespace

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  const double size = std::abs(value);
  if (size > kMostNumber || (size < kLeastNumber && size > 0)) return std::nullopt;
  return value;
}

SearchSpace space_of(std::vector<std::string> variables,
                     std::vector<std::vector<std::string>> points, const std::string& where) {
  if (points.size() > kMostPoints) {
    bad(where, "more than " + std::to_string(kMostPoints) + " combinations; give fewer values");
  }
  SearchSpace space{std::move(variables), std::move(points), {}};
  space.coordinates.resize(space.points.size());
  for (std::size_t v = 0; v < space.variables.size(); ++v) add_dimensions(space, v, where);
  return space;
}

SearchSpace parse_space(std::string_view json, const std::string& where) {
  const Json file = parse_json(json, where);
  JsonFields fields(file, where);
  const Json& variables = fields.require("variables");
  fields.ignore("about");
  fields.finish();
  if (!variables.is_object() || variables.empty()) {
    bad(where, "'variables' is no object of lists, such as {\"workers\": [1, 2, 4]}");
  }
  if (variables.size() > kMostDimensions) {
    bad(where, "more than " + std::to_string(kMostDimensions) + " variables; name fewer");
  }
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> points{{}};
  for (auto it = variables.begin(); it != variables.end(); ++it) {
    check_name(it.key(), where);
    names.push_back(it.key());
    const std::vector<std::string> texts = texts_of(it.value(), it.key(), where);
    if (texts.size() * points.size() > kMostPoints) {
      bad(where, "more than " + std::to_string(kMostPoints) + " combinations; give fewer values");
    }
    std::vector<std::vector<std::string>> more;
    for (const auto& point : points) {
      for (const std::string& text : texts) {
        more.push_back(point);
        more.back().push_back(text);
      }
    }
    points = std::move(more);
  }
  return space_of(std::move(names), std::move(points), where);
}

std::string describe_point(const SearchSpace& space, std::size_t point) {
  std::string text;
  for (std::size_t v = 0; v < space.variables.size(); ++v) {
    text += (v == 0 ? "" : ", ") + printable(space.variables[v]) + "=" +
            printable(space.points[point][v]);
  }
  return text;
}

std::optional<std::size_t> find_point(const SearchSpace& space,
                                      const std::vector<std::string>& point) {
  const auto found = std::find(space.points.begin(), space.points.end(), point);
  if (found == space.points.end()) return std::nullopt;
  return static_cast<std::size_t>(found - space.points.begin());
}

}  // namespace foretrain::scaling
