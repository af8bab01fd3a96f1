// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "foretrain/base/error.h"

namespace foretrain::importer {

// What one import may make and go through, whatever the file repeats by loops and functions. The
// unit is a byte: of what is made, its own; of what only takes time, as many as are made in that
// time. A file gets the same for nothing as every other, and more for each node and entry that it
// holds, so that a small one is read, or refused, within about a second and 200 MB, and within
// three seconds where sanitizers watch.
struct OnnxBudget {
  static constexpr std::size_t kBase = 100'000'000;
  static constexpr std::size_t kPerNode = 4'096;
  static constexpr std::size_t kPerEntry = 256;
  static constexpr std::size_t kLookUp = 64;    // of a name
  static constexpr std::size_t kScope = 1'024;  // names of a body, opened and closed
  static constexpr std::size_t kTerm = 64;      // arithmetic on two terms of sums of symbols

  std::size_t left = kBase;

  void spend(std::size_t bytes) {
    if (bytes > left) {
      left = 0;
      throw Error(ErrorKind::BadInput,
                  "its functions, loops and constants stand for too much; export the model with "
                  "them resolved");
    }
    left -= bytes;
  }
};

}  // namespace foretrain::importer
