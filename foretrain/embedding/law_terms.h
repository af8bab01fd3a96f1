// SPDX-License-Identifier: Apache-2.0
// The terms of a law of times: seconds of one kind of work, or a constant, of all jobs or of some.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foretrain/embedding/job_features.h"

namespace foretrain::embedding {

struct LawTerm {
  std::size_t term = 0;  // of term_names(); one beyond them: 1 s, whatever the job
  // Fields of word_fields() with the words that a job must have; elsewhere the term is 0.
  std::vector<std::pair<std::size_t, std::string>> when{};
};

// "conv", "once", "conv@precision=fp16&memory_format=channels_last"; and back, absent for what is
// none.
std::string name_of(const LawTerm& term);
std::optional<LawTerm> law_term_named(std::string_view name);

// Every term for each combination of the words of these fields that a job has, one combination
// after the other; without fields every term for all jobs alike.
std::vector<LawTerm> law_terms_by(std::span<const std::size_t> fields,
                                  std::span<const JobFeatures* const> jobs);

std::vector<double> values_of(std::span<const LawTerm> terms, const JobFeatures& job);

}  // namespace foretrain::embedding
