// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/evaluate/cases.h"

namespace foretrain::evaluate {

// What a case has for each of the keys. Throws Error(BadInput) for one that does not exist.
std::vector<std::string> group_of(const Case& one, const std::vector<std::string>& by);

// Collects cases into scores; keeps one number per row, so that medians are exact.
class Summary {
 public:
  // Throws Error(BadInput) where `options.by` names a key that does not exist.
  explicit Summary(const Options& options);

  void add(const Case& one);
  Evaluation finish() const;

 private:
  struct Tally {
    std::size_t rows = 0;
    std::size_t predicted = 0;
    std::size_t refused = 0;
    std::size_t not_fitting = 0;
    std::map<std::string, std::vector<double>> errors;  // by model

    void add(const Case& one, bool count_refused);
    Score score() const;
  };

  std::vector<std::string> by_;
  bool count_refused_;
  std::map<std::vector<std::string>, Tally> groups_;
  std::map<std::string, Tally> files_;
  Tally total_;
  std::map<std::pair<std::string, std::string>, Reason> reasons_;  // by file and text
};

}  // namespace foretrain::evaluate
