// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace foretrain::learn {

// Each value in place. Relative errors below 4e-7; the same bits on every processor with AVX2, and
// on every one without.
void exp_all(std::span<float> values);
void sigmoid_all(std::span<float> values);  // 1 / (1 + e^-x)
void tanh_all(std::span<float> values);
void softmax_all(std::span<float> values);  // shares that add up to one

// What comes back through a softmax with these shares: g_i = p_i (h_i - sum_j p_j h_j), in place
// of h.
void softmax_gradient(std::span<const float> shares, std::span<float> h);

}  // namespace foretrain::learn
