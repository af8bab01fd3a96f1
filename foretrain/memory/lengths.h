// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace foretrain::memory {

// Lengths of samples, in tokens: log-normal. Those that are longer than the model reads are left
// out.
struct Lengths {
  double mean = 0;
  double deviation = 0;  // standard deviation
};

// The tokens of one batch after another as shares of the largest one's, where a batch is padded to
// its own longest sample: of so many steps as the allocator's replay runs. The quantiles that they
// are at are multiples of the golden ratio, as even as they are irregular, so the same in every
// run. `longest` is what the model reads, `batch` the samples of a batch.
std::vector<double> batch_shares(const Lengths& lengths, double longest, std::int64_t batch);

}  // namespace foretrain::memory
