// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/search_runs.h"

#include <algorithm>
#include <map>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/lab/child.h"
#include "foretrain/lab/interrupt.h"
#include "foretrain/measured/table.h"

namespace foretrain::cli {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

void check_variables(const std::string& word, const std::vector<std::string>& variables) {
  for (std::size_t open = word.find('{'); open != std::string::npos;
       open = word.find('{', open + 1)) {
    const std::size_t close = word.find('}', open);
    if (close == std::string::npos) return;
    const std::string name = word.substr(open + 1, close - open - 1);
    if (std::find(variables.begin(), variables.end(), name) != variables.end()) continue;
    throw Error(ErrorKind::BadInput, "--command: '{" + printable(name) +
                                         "}' is no variable of the space; it has " +
                                         joined(variables));
  }
}

// The last word of the line that is a positive number.
std::optional<double> last_number(const std::string& line) {
  std::optional<double> found;
  std::size_t begin = 0;
  while (begin < line.size()) {
    std::size_t end = line.find_first_of(" \t\r,;:=s", begin);
    if (end == std::string::npos) end = line.size();
    const auto number = scaling::number_in(std::string_view(line).substr(begin, end - begin));
    if (number && *number > 0) found = number;
    begin = end + 1;
  }
  return found;
}

}  // namespace

std::vector<std::string> command_words(const std::string& text,
                                       const std::vector<std::string>& variables) {
  std::vector<std::string> words;
  bool inside = false;
  char quote = '\0';
  for (const char byte : text) {
    if (quote != '\0') {
      if (byte == quote) {
        quote = '\0';
      } else {
        words.back() += byte;
      }
      continue;
    }
    if (byte == ' ' || byte == '\t' || byte == '\n') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (byte == '\'' || byte == '"') {
      quote = byte;
    } else {
      words.back() += byte;
    }
  }
  if (quote != '\0') throw Error(ErrorKind::BadInput, "--command: a quote is never closed");
  if (words.empty()) throw Error(ErrorKind::BadInput, "--command: there is no command");
  for (const std::string& word : words) check_variables(word, variables);
  return words;
}

std::vector<std::string> filled(const std::vector<std::string>& words,
                                const std::vector<std::string>& variables,
                                const std::vector<std::string>& point) {
  std::vector<std::string> result;
  for (std::string word : words) {
    std::string text;
    for (std::size_t at = 0; at < word.size();) {
      bool replaced = false;
      for (std::size_t v = 0; v < variables.size() && !replaced; ++v) {
        const std::string mark = "{" + variables[v] + "}";
        if (word.compare(at, mark.size(), mark) != 0) continue;
        text += point[v];
        at += mark.size();
        replaced = true;
      }
      if (!replaced) text += word[at++];
    }
    result.push_back(std::move(text));
  }
  return result;
}

TryPoint by_command(std::vector<std::string> words, std::vector<std::string> variables,
                    Seconds patience) {
  return [words = std::move(words), variables = std::move(variables),
          patience](const std::vector<std::string>& point) -> std::optional<double> {
    const lab::Interrupt interrupt;
    lab::Child child({.words = filled(words, variables, point),
                      .interrupt = &interrupt,
                      .output_ends_with_it = true});
    child.close_input();
    std::optional<double> time;
    int code = 0;
    try {
      while (const auto line = child.read_line(patience)) {
        if (const auto number = last_number(*line)) time = number;
      }
      code = child.wait(patience);
    } catch (const Error&) {
      if (interrupt.raised()) {
        throw Error(ErrorKind::Io,
                    "interrupted; the run is ended, a --history has those before it");
      }
      return std::nullopt;  // it takes too long; the child is killed, with what it started
    }
    constexpr int kNotFound = 127;
    if (code == kNotFound && !time) {
      throw Error(ErrorKind::NotFound, "--command: cannot run '" + printable(words.front()) + "'");
    }
    return code == 0 ? time : std::nullopt;
  };
}

MeasuredPoints read_points(const std::string& file, std::vector<std::string> variables,
                           const std::string& goal) {
  measured::Table table{std::filesystem::path(file)};
  const std::vector<std::string>& columns = table.columns();
  const auto check = [&](const std::string& name) {
    if (std::find(columns.begin(), columns.end(), name) != columns.end()) return;
    throw Error(ErrorKind::BadInput,
                table.where() + ": no column '" + printable(name) + "'; it has " + joined(columns));
  };
  check(goal);
  if (variables.empty()) {
    for (const std::string& name : columns) {
      if (name != goal) variables.push_back(name);
    }
  }
  for (const std::string& name : variables) check(name);
  std::map<std::vector<std::string>, std::pair<double, double>> sums;
  std::vector<std::vector<std::string>> points;
  MeasuredPoints result;
  for (measured::Row row; table.next(row);) {
    const auto value = scaling::number_in(measured::cell(row, goal));
    if (!value || *value <= 0) {
      throw Error(ErrorKind::BadInput, table.where() + ": line " + std::to_string(row.line) +
                                           ": '" + printable(goal) + "' is no positive number");
    }
    std::vector<std::string> point;
    for (const std::string& name : variables) point.emplace_back(measured::cell(row, name));
    auto& [sum, count] = sums[point];
    if (count == 0) points.push_back(point);
    if (points.size() > scaling::kMostPoints) break;  // space_of says that they are too many
    sum += *value;
    count += 1;
    ++result.rows;
  }
  if (points.empty()) throw Error(ErrorKind::NotFound, table.where() + ": no row");
  for (const auto& point : points) {
    result.goals.push_back(sums.at(point).first / sums.at(point).second);
  }
  result.space = scaling::space_of(std::move(variables), std::move(points), table.where());
  return result;
}

}  // namespace foretrain::cli
