// SPDX-License-Identifier: Apache-2.0
// The law of a plain target: a sum of terms in seconds, found before any regressor.
#pragma once

#include <vector>

#include "foretrain/embedding/law_terms.h"
#include "foretrain/learn/regressor.h"
#include "foretrain/train/divisions.h"
#include "foretrain/train/embedding_examples.h"

namespace foretrain::train {

// Every term for all runs alike.
std::vector<embedding::LawTerm> plain_law(const EmbeddingData& data);

// The weights of the terms, none negative, by relative errors on `which`. Groups of runs share
// nothing, so each has its own fit; one that `which` has no run of has that of all. The terms are
// those of whole groups, as `law_terms_by` makes them.
learn::LinearModel fit_law(const EmbeddingData& data, const std::vector<std::size_t>& which,
                           const std::vector<embedding::LawTerm>& terms);

// One law for all, or one for each device, precision, framework, memory format, strategy, or
// combination of these: whichever has the least error on what the divisions of `which` test.
std::vector<embedding::LawTerm> choose_law(const EmbeddingData& data,
                                           const std::vector<std::size_t>& which,
                                           const std::vector<Division>& divisions);

}  // namespace foretrain::train
