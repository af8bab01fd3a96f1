// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace foretrain::graph {

inline constexpr int kMaxRank = 8;
inline constexpr int kMaxSymbols = 4;

// A dimension: a number, or a number times powers of the graph's symbols (batch, seq, ...).
// Such products are closed under everything that reshaping, stacking and flattening do, so
// shapes are inferred once for all batch sizes and `bind` only has to evaluate them.
struct Dim {
  std::int64_t factor = 1;
  std::array<std::uint8_t, kMaxSymbols> power{};  // of Graph::symbols[i]

  Dim() = default;
  Dim(std::int64_t number) : factor(number) {}  // NOLINT: a number is a dimension
  bool operator==(const Dim&) const = default;
};

// 1 * symbol number `index`.
Dim symbol(int index);

bool is_number(const Dim& dim);

// Product. Throws Error(BadInput) beyond 2^48 elements or the eighth power of a symbol.
Dim operator*(const Dim& a, const Dim& b);

// Whether b divides a for every value of the symbols; then `quotient` is a / b.
bool divides(const Dim& b, const Dim& a, Dim& quotient);

// A shape of at most kMaxRank dimensions, stored inline. Rank 0 is a scalar.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims);
  explicit Shape(std::span<const Dim> dims);

  int rank() const { return rank_; }
  const Dim& operator[](int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  Dim& operator[](int axis) { return dims_[static_cast<std::size_t>(axis)]; }
  std::span<const Dim> dims() const { return {dims_.data(), static_cast<std::size_t>(rank_)}; }
  void push_back(const Dim& dim);
  bool operator==(const Shape& other) const;

 private:
  std::array<Dim, kMaxRank> dims_{};
  int rank_ = 0;
};

Dim elements(const Shape& shape);

// A shape in which every symbol has its value.
struct Extent {
  std::array<std::int64_t, kMaxRank> size{};
  int rank = 0;

  std::int64_t operator[](int axis) const { return size[static_cast<std::size_t>(axis)]; }
  std::int64_t from_end(int back) const { return size[static_cast<std::size_t>(rank - back)]; }
};

// "2*batch*seq", "64"; the inverse throws Error(BadInput) for what is not such a product of
// the given symbols.
std::string to_string(const Dim& dim, const std::vector<std::string>& symbols);
std::string to_string(const Shape& shape, const std::vector<std::string>& symbols);
Dim parse_dim(const std::string& text, const std::vector<std::string>& symbols);

}  // namespace foretrain::graph
