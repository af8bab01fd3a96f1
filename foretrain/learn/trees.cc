// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/trees.h"

#include <cassert>
#include <cmath>

namespace foretrain::learn {

double evaluate(const Trees& trees, std::span<const double> features) {
  float sum = trees.base;
  for (const std::int32_t root : trees.roots) {
    const TreeNode* node = &trees.nodes[static_cast<std::size_t>(root)];
    while (node->feature >= 0) {
      assert(static_cast<std::size_t>(node->feature) < features.size());
      const auto value = static_cast<float>(features[static_cast<std::size_t>(node->feature)]);
      const bool right = value >= node->value;  // false for NaN
      node = &trees.nodes[static_cast<std::size_t>(node->left) + (right ? 1 : 0)];
    }
    sum += node->value;
  }
  return sum;
}

bool is_sound(const Trees& trees, std::size_t features) {
  const auto count = static_cast<std::int64_t>(trees.nodes.size());
  for (const std::int32_t root : trees.roots) {
    if (root < 0 || root >= count) return false;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const TreeNode& node = trees.nodes[static_cast<std::size_t>(i)];
    if (!std::isfinite(node.value)) return false;
    if (node.feature < 0) continue;
    if (static_cast<std::size_t>(node.feature) >= features) return false;
    if (node.left <= i || node.left + 1 >= count) return false;
  }
  return std::isfinite(trees.base);
}

}  // namespace foretrain::learn
