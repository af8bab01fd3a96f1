// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "foretrain/base/error.h"

namespace foretrain {

// The product of what a user gives, as no `int` could hold it: each of tensor, pipeline and context
// may be in range while their product is not. Throws Error(BadInput), saying `what` is too large,
// beyond 2^53, what a double still counts by ones.
inline std::int64_t checked_product(std::initializer_list<std::int64_t> factors, const char* what) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product) || product > kMost || product < -kMost) {
      throw Error(ErrorKind::BadInput, std::string(what) + ": their product is beyond 2^53");
    }
  }
  return product;
}

}  // namespace foretrain
