// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/buckets.h"

#include <utility>

#include "foretrain/graph/backward.h"

namespace foretrain::graph {

std::vector<std::size_t> bucket_ends(std::span<const double> bytes, const BucketSizes& sizes) {
  std::vector<std::size_t> ends;
  double limit = sizes.first_bytes;
  double filled = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    filled += bytes[i];
    if (filled < limit) continue;
    ends.push_back(i + 1);
    filled = 0;
    limit = sizes.bytes;
  }
  if (filled > 0) ends.push_back(bytes.size());
  return ends;
}

std::vector<Bucket> make_buckets(const Graph& step, const BucketSizes& sizes) {
  const std::vector<ParameterGradient> gradients = parameter_gradients(step);
  std::vector<double> bytes;
  bytes.reserve(gradients.size());
  for (const ParameterGradient& one : gradients) {
    const Tensor& tensor = step.tensor(one.gradient);
    bytes.push_back(static_cast<double>(elements(tensor.shape).factor) * bytes_of(tensor.type));
  }
  std::vector<Bucket> buckets;
  std::size_t next = 0;
  for (const std::size_t end : bucket_ends(bytes, sizes)) {
    Bucket bucket;
    for (; next < end; ++next) bucket.gradients.push_back(gradients[next].gradient);
    bucket.ready = gradients[end - 1].ready;
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

}  // namespace foretrain::graph
