// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/hybrid.h"

#include <cmath>

namespace foretrain::learn {

double evaluate(const Hybrid& hybrid, std::span<const double> features) {
  double sum = 0;
  if (hybrid.weight > 0) {
    const double physics = features[hybrid.physics.value_or(0)] + hybrid.offset;
    sum += hybrid.weight * (physics + evaluate(hybrid.residual, features));
  }
  if (hybrid.weight < 1) sum += (1 - hybrid.weight) * evaluate(hybrid.absolute, features);
  return sum;
}

bool is_sound(const Hybrid& hybrid, std::size_t features) {
  if (hybrid.physics && *hybrid.physics >= features) return false;
  if (!(hybrid.weight >= 0 && hybrid.weight <= 1) || !std::isfinite(hybrid.offset)) return false;
  if (hybrid.weight > 0 && !hybrid.physics) return false;
  return is_sound(hybrid.residual, features) && is_sound(hybrid.absolute, features);
}

}  // namespace foretrain::learn
