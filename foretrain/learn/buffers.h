// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "foretrain/learn/matrix.h"

namespace foretrain::learn {

// Memory of matrices that are no longer needed, for the next ones: the system is asked once.
class Buffers {
 public:
  // Whatever is in it.
  Matrix take(std::size_t rows, std::size_t columns);
  void give_back(Matrix&& matrix);

 private:
  std::array<std::vector<std::vector<float>>, 64> spare_{};  // by the power of two they hold
};

}  // namespace foretrain::learn
