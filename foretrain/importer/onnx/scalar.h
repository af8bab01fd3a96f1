// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "foretrain/graph/dim.h"

namespace foretrain::importer {

// One value of a small tensor that shapes depend on: a floating-point number, or a sum of
// GEMMs of symbols with whole coefficients (`seq + 1`, `2 * batch * seq`, `7`). Arithmetic on
// them is exact; what is not such a value for every size of the symbols is std::nullopt.
class Scalar {
 public:
  Scalar() = default;                                          // 0
  Scalar(std::int64_t number) : Scalar(graph::Dim(number)) {}  // NOLINT: a number is a scalar
  explicit Scalar(const graph::Dim& product);
  static Scalar from_real(double value);

  bool is_real() const { return is_real_; }
  // As a whole number, where it is one; a real that is whole counts.
  std::optional<std::int64_t> integer() const;
  // As a number, where it is one.
  std::optional<double> number() const;
  // As a dimension: one GEMM of symbols, or a number.
  std::optional<graph::Dim> dim() const;
  // The least and greatest value for symbols of at least 1; infinite where there is none.
  double least() const;
  double greatest() const;

  const std::vector<graph::Dim>& terms() const { return terms_; }
  bool operator==(const Scalar& other) const = default;

 private:
  friend std::optional<Scalar> add(const Scalar& a, const Scalar& b);
  friend std::optional<Scalar> multiply(const Scalar& a, const Scalar& b);
  friend std::optional<Scalar> divide(const Scalar& a, const Scalar& b, bool whole);

  bool is_real_ = false;
  double real_ = 0;
  std::vector<graph::Dim> terms_;  // ordered by powers, none with the factor 0; empty is 0
};

std::optional<Scalar> add(const Scalar& a, const Scalar& b);
std::optional<Scalar> subtract(const Scalar& a, const Scalar& b);
std::optional<Scalar> multiply(const Scalar& a, const Scalar& b);
// `whole`: between integers, rounded towards zero.
std::optional<Scalar> divide(const Scalar& a, const Scalar& b, bool whole);
// The remainder with the sign of b (Python's), or of a (C's fmod).
std::optional<Scalar> modulo(const Scalar& a, const Scalar& b, bool sign_of_dividend);
std::optional<Scalar> power(const Scalar& a, const Scalar& b);

// Whether they are equal, or a < b, for every size of the symbols or for none.
std::optional<bool> equal(const Scalar& a, const Scalar& b);
std::optional<bool> less(const Scalar& a, const Scalar& b);

// To a whole number: down, up, to the nearest (halves to even), towards zero. Sums of symbols
// are whole already.
enum class Rounding { Down, Up, Nearest, Zero };
std::optional<Scalar> round_scalar(const Scalar& a, Rounding rounding);

}  // namespace foretrain::importer
