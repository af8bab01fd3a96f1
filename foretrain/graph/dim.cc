// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/dim.h"

#include <algorithm>
#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::graph {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 48;

}  // namespace

Dim symbol(int index) {
  Dim dim;
  dim.power[static_cast<std::size_t>(index)] = 1;
  return dim;
}

bool is_number(const Dim& dim) {
  return std::all_of(dim.power.begin(), dim.power.end(), [](auto p) { return p == 0; });
}

Dim operator*(const Dim& a, const Dim& b) {
  Dim product;
  if (__builtin_mul_overflow(a.factor, b.factor, &product.factor) || product.factor > kLargest) {
    throw Error(ErrorKind::BadInput, "a tensor has more than 2^48 elements; use smaller sizes");
  }
  for (std::size_t i = 0; i < product.power.size(); ++i) {
    const int power = a.power[i] + b.power[i];
    if (power > 8)
      throw Error(ErrorKind::BadInput, "a shape has a symbol to more than its 8th power");
    product.power[i] = static_cast<std::uint8_t>(power);
  }
  return product;
}

bool divides(const Dim& b, const Dim& a, Dim& quotient) {
  if (b.factor == 0 || a.factor % b.factor != 0) return false;
  Dim result(a.factor / b.factor);
  for (std::size_t i = 0; i < result.power.size(); ++i) {
    if (a.power[i] < b.power[i]) return false;
    result.power[i] = static_cast<std::uint8_t>(a.power[i] - b.power[i]);
  }
  quotient = result;
  return true;
}

Shape::Shape(std::initializer_list<Dim> dims) : Shape(std::span(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const Dim> dims) {
  for (const Dim& dim : dims) push_back(dim);
}

void Shape::push_back(const Dim& dim) {
  if (rank_ == kMaxRank) {
    throw Error(ErrorKind::Unsupported, "a tensor has more than 8 dimensions");
  }
  dims_[static_cast<std::size_t>(rank_++)] = dim;
}

bool Shape::operator==(const Shape& other) const {
  return std::ranges::equal(dims(), other.dims());
}

Dim elements(const Shape& shape) {
  Dim count(1);
  for (const Dim& dim : shape.dims()) count = count * dim;
  return count;
}

std::string to_string(const Dim& dim, const std::vector<std::string>& symbols) {
  std::string text;
  if (dim.factor != 1 || is_number(dim)) text = std::to_string(dim.factor);
  for (std::size_t i = 0; i < dim.power.size(); ++i) {
    for (int p = 0; p < dim.power[i]; ++p) {
      if (!text.empty()) text += '*';
      text += i < symbols.size() ? symbols[i] : "?";
    }
  }
  return text;
}

std::string to_string(const Shape& shape, const std::vector<std::string>& symbols) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += to_string(shape[i], symbols);
  }
  return text + "]";
}

Dim parse_dim(const std::string& text, const std::vector<std::string>& symbols) {
  Dim dim(1);
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('*', begin), text.size());
    const std::string factor = text.substr(begin, end - begin);
    begin = end + 1;
    std::int64_t number = 0;
    const auto parsed = std::from_chars(factor.data(), factor.data() + factor.size(), number);
    if (parsed.ec == std::errc{} && parsed.ptr == factor.data() + factor.size()) {
      dim = dim * Dim(number);
      continue;
    }
    const auto found = std::find(symbols.begin(), symbols.end(), factor);
    if (found == symbols.end()) {
      throw Error(ErrorKind::BadInput, "dimension '" + printable(text) +
                                           "' is neither a number nor a product of the symbols");
    }
    dim = dim * symbol(static_cast<int>(found - symbols.begin()));
  }
  return dim;
}

}  // namespace foretrain::graph
