// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/hybrid_file.h"

#include <cmath>

#include "foretrain/base/error.h"

namespace foretrain::learn {
namespace {

constexpr float kMostCount = 1 << 24;  // up to here floats are whole numbers

void append(const Trees& trees, std::vector<float>& numbers) {
  numbers.push_back(trees.base);
  numbers.push_back(static_cast<float>(trees.roots.size()));
  for (std::size_t i = 0; i < trees.roots.size(); ++i) {
    const std::size_t end = i + 1 < trees.roots.size()
                                ? static_cast<std::size_t>(trees.roots[i + 1])
                                : trees.nodes.size();
    numbers.push_back(static_cast<float>(end - static_cast<std::size_t>(trees.roots[i])));
  }
  for (const TreeNode& node : trees.nodes) {
    numbers.push_back(static_cast<float>(node.feature));
    numbers.push_back(node.value);
  }
}

// Takes numbers one by one.
class Reader {
 public:
  Reader(std::span<const float> numbers, const std::string& where)
      : numbers_(numbers), where_(where) {}

  float next() {
    if (place_ == numbers_.size()) fail();
    const float value = numbers_[place_++];
    if (!std::isfinite(value)) fail();
    return value;
  }
  // A whole number from `least` on.
  std::int32_t count(float least = 0) {
    const float value = next();
    if (value != std::floor(value) || value < least || value > kMostCount) fail();
    return static_cast<std::int32_t>(value);
  }
  std::size_t left() const { return numbers_.size() - place_; }
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::BadInput,
                where_ + ": its trees are damaged; `foretrain fit` writes the file anew");
  }

 private:
  std::span<const float> numbers_;
  const std::string& where_;
  std::size_t place_ = 0;
};

void read_tree(std::size_t nodes, Reader& reader, Trees& trees) {
  const std::size_t root = trees.nodes.size();
  trees.roots.push_back(static_cast<std::int32_t>(root));
  std::size_t child = root + 1;
  for (std::size_t i = 0; i < nodes; ++i) {
    TreeNode node;
    node.feature = reader.count(-1);
    node.value = reader.next();
    if (node.feature >= 0) {
      node.left = static_cast<std::int32_t>(child);
      child += 2;
    }
    trees.nodes.push_back(node);
  }
  if (child != root + nodes) reader.fail();
}

Trees read_trees(Reader& reader) {
  Trees trees;
  trees.base = reader.next();
  std::vector<std::size_t> sizes;
  for (std::int32_t left = reader.count(); left > 0; --left) {
    sizes.push_back(static_cast<std::size_t>(reader.count(1)));
    if (2 * sizes.back() > reader.left()) reader.fail();
  }
  for (const std::size_t size : sizes) read_tree(size, reader, trees);
  return trees;
}

}  // namespace

std::vector<float> to_numbers(const Hybrid& hybrid) {
  std::vector<float> numbers{hybrid.physics ? static_cast<float>(*hybrid.physics + 1) : 0,
                             static_cast<float>(hybrid.offset), static_cast<float>(hybrid.weight)};
  append(hybrid.residual, numbers);
  append(hybrid.absolute, numbers);
  return numbers;
}

Hybrid hybrid_from(std::span<const float> numbers, std::size_t features, const std::string& where) {
  Reader reader(numbers, where);
  Hybrid hybrid;
  if (const std::int32_t physics = reader.count(); physics > 0) {
    hybrid.physics = static_cast<std::size_t>(physics) - 1;
  }
  hybrid.offset = reader.next();
  hybrid.weight = reader.next();
  hybrid.residual = read_trees(reader);
  hybrid.absolute = read_trees(reader);
  if (reader.left() > 0 || !is_sound(hybrid, features)) reader.fail();
  return hybrid;
}

}  // namespace foretrain::learn
