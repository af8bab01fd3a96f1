// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/vector_math.h"

#include <algorithm>

#include "foretrain/learn/detail/kernels.h"

namespace foretrain::learn {

void exp_all(std::span<float> values) { kernels().exp(values.size(), values.data()); }
void sigmoid_all(std::span<float> values) { kernels().sigmoid(values.size(), values.data()); }
void tanh_all(std::span<float> values) { kernels().tanh(values.size(), values.data()); }

void softmax_all(std::span<float> values) {
  if (values.empty()) return;
  const float largest = *std::max_element(values.begin(), values.end());
  for (float& value : values) value -= largest;
  exp_all(values);
  float total = 0;
  for (const float value : values) total += value;
  for (float& value : values) value /= total;
}

void softmax_gradient(std::span<const float> shares, std::span<float> h) {
  const float mean = kernels().dot(shares.size(), shares.data(), h.data());
  for (std::size_t i = 0; i < shares.size(); ++i) h[i] = shares[i] * (h[i] - mean);
}

}  // namespace foretrain::learn
