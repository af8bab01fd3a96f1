// SPDX-License-Identifier: Apache-2.0
// Which constants a fit varies, and the search for their values.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/cost/constants.h"
#include "foretrain/fit/detail/minimise.h"

namespace foretrain::fit {

// Whether `name` is what `pattern` says; one that ends in '.', '_' or '*' stands for all names that
// begin so (the star is no part of them).
bool named_by(const std::string& name, std::string_view pattern);
bool named_by_any(const std::string& name, std::span<const std::string> patterns);

// Those of `constants` that one of the patterns names, or one of `vary`, which a user asks for.
// Throws Error(NotFound) for an entry of `vary` that names none.
std::vector<cost::NamedConstant> varied_constants(cost::Constants& constants,
                                                  std::span<const std::string_view> patterns,
                                                  std::span<const std::string> vary);

std::vector<double*> places_of(std::span<const cost::NamedConstant> varied);

// Where each of them may go: shares of something up to 1, everything else by a factor of four.
std::vector<Variable> variables_of(std::span<const cost::NamedConstant> varied);

// Changes the values that `varied` points to so that `loss` becomes small, but keeps those that it
// hardly depends on near where they were: a factor of 1.35 for all costs as much as a loss of
// 0.05. Deterministic; never worse than the start.
void search(std::span<const cost::NamedConstant> varied, int evaluations,
            const std::function<double()>& loss);

// Each as `rounded` does.
void round_digits(cost::Constants& constants);

}  // namespace foretrain::fit
