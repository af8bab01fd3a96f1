// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foretrain::importer {
namespace {

using graph::Dim;

constexpr std::size_t kMostTerms = 16;
constexpr int kHighestPower = 8;                   // graph::Dim's own bound
constexpr double kMostExact = 9007199254740992.0;  // 2^53: doubles below hold every integer

bool is_before(const Dim& a, const Dim& b) { return a.power < b.power; }

// Product of two terms where it fits.
std::optional<Dim> product(const Dim& a, const Dim& b) {
  Dim result;
  if (__builtin_mul_overflow(a.factor, b.factor, &result.factor)) return std::nullopt;
  for (std::size_t i = 0; i < result.power.size(); ++i) {
    const int power = a.power[i] + b.power[i];
    if (power > kHighestPower) return std::nullopt;
    result.power[i] = static_cast<std::uint8_t>(power);
  }
  return result;
}

// Adds a term to an ordered sum; false where it does not fit.
bool add_term(std::vector<Dim>& terms, const Dim& term) {
  const auto place = std::lower_bound(terms.begin(), terms.end(), term, is_before);
  if (place == terms.end() || place->power != term.power) {
    if (term.factor != 0) terms.insert(place, term);
    return terms.size() <= kMostTerms;
  }
  if (__builtin_add_overflow(place->factor, term.factor, &place->factor)) return false;
  if (place->factor == 0) terms.erase(place);
  return true;
}

}  // namespace

Scalar::Scalar(const Dim& product) {
  if (product.factor != 0) terms_.push_back(product);
}

Scalar Scalar::from_real(double value) {
  Scalar scalar;
  scalar.is_real_ = true;
  scalar.real_ = value;
  return scalar;
}

std::optional<std::int64_t> Scalar::integer() const {
  if (is_real_) {
    if (std::trunc(real_) != real_ || std::fabs(real_) > kMostExact) return std::nullopt;
    return static_cast<std::int64_t>(real_);
  }
  if (terms_.empty()) return 0;
  if (terms_.size() > 1 || !is_number(terms_[0])) return std::nullopt;
  return terms_[0].factor;
}

std::optional<double> Scalar::number() const {
  if (is_real_) return real_;
  const std::optional<std::int64_t> whole = integer();
  if (!whole) return std::nullopt;
  return static_cast<double>(*whole);
}

std::optional<Dim> Scalar::dim() const {
  if (const auto whole = integer()) return Dim(*whole);
  if (is_real_ || terms_.size() != 1) return std::nullopt;
  return terms_[0];
}

double Scalar::least() const {
  if (is_real_) return real_;
  double sum = 0;
  for (const Dim& term : terms_) {
    if (term.factor < 0 && !is_number(term)) return -std::numeric_limits<double>::infinity();
    sum += static_cast<double>(term.factor);
  }
  return sum;
}

double Scalar::greatest() const {
  if (is_real_) return real_;
  double sum = 0;
  for (const Dim& term : terms_) {
    if (term.factor > 0 && !is_number(term)) return std::numeric_limits<double>::infinity();
    sum += static_cast<double>(term.factor);
  }
  return sum;
}

std::optional<Scalar> add(const Scalar& a, const Scalar& b) {
  if (a.is_real_ || b.is_real_) {
    const auto x = a.number();
    const auto y = b.number();
    if (x && y) return Scalar::from_real(*x + *y);
    // A sum of symbols plus a whole number that a cast made real stays whole.
    const Scalar& real = a.is_real_ ? a : b;
    if (!real.integer()) return std::nullopt;
    return add(a.is_real_ ? b : a, Scalar(*real.integer()));
  }
  Scalar sum = a;
  for (const Dim& term : b.terms_) {
    if (!add_term(sum.terms_, term)) return std::nullopt;
  }
  return sum;
}

std::optional<Scalar> multiply(const Scalar& a, const Scalar& b) {
  if (a.is_real_ || b.is_real_) {
    const auto x = a.number();
    const auto y = b.number();
    if (x && y) return Scalar::from_real(*x * *y);
    const Scalar& real = a.is_real_ ? a : b;
    const Scalar& sum = a.is_real_ ? b : a;
    if (const auto whole = real.integer()) return multiply(sum, Scalar(*whole));
    return divide(sum, Scalar::from_real(1 / real.real_), false);
  }
  Scalar result;
  for (const Dim& x : a.terms_) {
    for (const Dim& y : b.terms_) {
      const auto term = product(x, y);
      if (!term || !add_term(result.terms_, *term)) return std::nullopt;
    }
  }
  return result;
}

std::optional<Scalar> subtract(const Scalar& a, const Scalar& b) {
  const std::optional<Scalar> negative = multiply(b, Scalar(-1));
  if (!negative) return std::nullopt;
  return add(a, *negative);
}

std::optional<Scalar> divide(const Scalar& a, const Scalar& b, bool whole) {
  if (whole && a.integer() && b.integer()) {
    const std::int64_t x = *a.integer();
    const std::int64_t y = *b.integer();
    if (y == 0 || (y == -1 && x == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
    return Scalar(x / y);
  }
  if (a.number() && b.number()) {
    if (*b.number() == 0) return std::nullopt;
    return Scalar::from_real(*a.number() / *b.number());
  }
  const std::optional<Dim> divisor = b.dim();
  if (a.is_real_ || !divisor || divisor->factor == 0) return std::nullopt;
  Scalar result;
  for (const Dim& term : a.terms_) {
    Dim quotient;
    if (!divides(*divisor, term, quotient)) return std::nullopt;
    result.terms_.push_back(quotient);  // division keeps the order of the powers
  }
  return result;
}

std::optional<Scalar> modulo(const Scalar& a, const Scalar& b, bool sign_of_dividend) {
  const auto x = a.number();
  const auto y = b.number();
  if (x && y) {
    if (*y == 0) return std::nullopt;
    double rest = std::fmod(*x, *y);
    if (!sign_of_dividend && rest != 0 && (rest < 0) != (*y < 0)) rest += *y;
    if (a.integer() && b.integer() && !a.is_real()) return Scalar(static_cast<std::int64_t>(rest));
    return Scalar::from_real(rest);
  }
  if (divide(a, b, true)) return Scalar(0);  // of sums: only where nothing is left over
  return std::nullopt;
}

std::optional<Scalar> power(const Scalar& a, const Scalar& b) {
  const auto x = a.number();
  const auto y = b.number();
  if (x && y) {
    const Scalar result = Scalar::from_real(std::pow(*x, *y));
    if (!a.is_real() && result.integer()) return Scalar(*result.integer());
    return result;
  }
  const auto exponent = b.integer();
  if (!exponent || *exponent < 0 || *exponent > kHighestPower) return std::nullopt;
  std::optional<Scalar> result = Scalar(1);
  for (std::int64_t i = 0; i < *exponent && result; ++i) result = multiply(*result, a);
  return result;
}

std::optional<bool> equal(const Scalar& a, const Scalar& b) {
  if (a == b) return true;
  const std::optional<Scalar> difference = subtract(a, b);
  if (!difference) return std::nullopt;
  if (difference->number()) return *difference->number() == 0;
  if (difference->least() > 0 || difference->greatest() < 0) return false;
  return std::nullopt;
}

std::optional<bool> less(const Scalar& a, const Scalar& b) {
  const std::optional<Scalar> difference = subtract(a, b);
  if (!difference) return std::nullopt;
  if (difference->greatest() < 0) return true;
  if (difference->least() >= 0) return false;
  return std::nullopt;
}

std::optional<Scalar> round_scalar(const Scalar& a, Rounding rounding) {
  if (!a.is_real()) return a;
  double value = *a.number();
  switch (rounding) {
    case Rounding::Down:
      value = std::floor(value);
      break;
    case Rounding::Up:
      value = std::ceil(value);
      break;
    case Rounding::Nearest:
      value = std::nearbyint(value);
      break;
    case Rounding::Zero:
      value = std::trunc(value);
      break;
  }
  const auto whole = Scalar::from_real(value).integer();
  if (!whole) return std::nullopt;
  return Scalar(*whole);
}

}  // namespace foretrain::importer
