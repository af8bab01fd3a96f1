// SPDX-License-Identifier: Apache-2.0
// For the .cc files of this folder: samples in a few bytes each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain::store {

// Values as multiples of 1/1024 of the largest magnitude among them: a 64-bit float (little endian)
// with that quantum, then the differences of neighbours as variable-length integers (zigzag, seven
// bits a byte, low ones first), all of it compressed with zlib. NaN is a difference that cannot
// occur. docs/store.md describes the form for other readers.
std::string pack_samples(const std::vector<double>& values);

// Throws Error(BadInput) for bytes that pack_samples did not write, or of more than ten million
// values.
std::vector<double> unpack_samples(std::string_view packed);

}  // namespace foretrain::store
