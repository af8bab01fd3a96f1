// SPDX-License-Identifier: Apache-2.0
// Families of operators, as features name them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "foretrain/graph/op.h"

namespace foretrain::inspector {

using graph::Family;

inline constexpr std::array<std::pair<Family, const char*>, 12> kFamilies{{
    {Family::Copy, "copy"},
    {Family::Matrix, "matrix"},
    {Family::Convolution, "convolution"},
    {Family::Attention, "attention"},
    {Family::Recurrent, "recurrent"},
    {Family::Lookup, "lookup"},
    {Family::Pointwise, "pointwise"},
    {Family::Reduction, "reduction"},
    {Family::Normalization, "normalization"},
    {Family::Pool, "pool"},
    {Family::Loss, "loss"},
    {Family::Update, "update"},
}};

// Where it stands above; behind the last for an operator that is of none.
inline std::size_t place_of(Family family) {
  const auto* const found = std::find_if(kFamilies.begin(), kFamilies.end(),
                                         [&](const auto& one) { return one.first == family; });
  return static_cast<std::size_t>(found - kFamilies.begin());
}

// Of what may be zero.
inline double log_of(double value) { return std::log(std::max(value, 1e-9)); }

}  // namespace foretrain::inspector
