// SPDX-License-Identifier: Apache-2.0
// A hybrid as a list of numbers, for files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "foretrain/learn/hybrid.h"

namespace foretrain::learn {

// Physics (its feature from 1 on, 0 for none), offset, weight; then the residual and the absolute
// trees: base, how many trees, the nodes of each, then feature and value of every node. Children
// are not written: those of a tree's k-th inner node are its nodes 2k + 1 and 2k + 2.
std::vector<float> to_numbers(const Hybrid& hybrid);

// Throws Error(BadInput) naming `where` for what is no hybrid of so many features.
Hybrid hybrid_from(std::span<const float> numbers, std::size_t features, const std::string& where);

}  // namespace foretrain::learn
