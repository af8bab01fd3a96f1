// SPDX-License-Identifier: Apache-2.0
// The seam between what is asked and who answers: every engine sees a resolved request and answers
// with named numbers.
#pragma once

#include <any>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "foretrain/engine/parts.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/request/resolve.h"

namespace foretrain {

// One number of the report that an engine can tell, by its path there: "step_time_s",
// "memory_bytes.peak". predict/targets.cc lists them all; resources come from the operator engine.
struct Target {
  std::string_view name;
  Estimate estimate;
  bool inside = true;    // of the domain that the engine was fitted on
  std::string_view why;  // how the engine came to it; lives as long as the engine
};

struct Answer {
  std::string_view engine;
  std::vector<Target> targets;
};

// A resolved request on its way through the engines. What one engine computes and others build on
// is computed once and kept here.
class Question {
 public:
  // `top_operators`: how many of the slowest operators the report lists.
  Question(const Resolved& resolved, const Library& library, std::size_t top_operators = 10)
      : resolved_(resolved), library_(library), top_operators_(top_operators) {}

  const Resolved& resolved() const { return resolved_; }
  const Library& library() const { return library_; }
  std::size_t top_operators() const { return top_operators_; }

  // The value of type T that `make` returns, made at the first call.
  template <typename T, typename Make>
  const T& shared(Make make) const {
    for (const std::shared_ptr<const std::any>& one : kept_) {
      if (const T* known = std::any_cast<T>(one.get())) return *known;
    }
    kept_.push_back(std::make_shared<const std::any>(make()));
    return *std::any_cast<T>(kept_.back().get());
  }

 private:
  const Resolved& resolved_;
  const Library& library_;
  std::size_t top_operators_;
  mutable std::vector<std::shared_ptr<const std::any>> kept_;  // values stay where they are
};

// An engine is chosen at run time and may hold what was fitted.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  // Nothing where it has no answer for such a request. Throws Error as `resolve` does.
  virtual std::optional<Answer> answer(const Question& question) const = 0;
};

}  // namespace foretrain
