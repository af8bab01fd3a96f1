// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/free_list.h"

#include <algorithm>

namespace foretrain::memory {
// Counts the smaller ones, first in strides, then within one. A binary search would mispredict
// half of its branches; this has none that depend on the values.
std::size_t FreeList::best_fit(std::uint64_t bytes) const {
  const std::uint64_t* all = bytes_.data();
  std::size_t strides = 0;
  for (std::size_t i = kStride - 1; i < size(); i += kStride) {
    strides += static_cast<std::size_t>(all[i] < bytes);
  }
  const std::uint64_t* one = all + strides * kStride;
  std::size_t within = 0;
  for (std::size_t i = 0; i < kStride; ++i) within += static_cast<std::size_t>(one[i] < bytes);
  return strides * kStride + within;
}

std::size_t FreeList::position(const Free& entry) const {
  std::size_t i = best_fit(entry.bytes);
  while (bytes_[i] == entry.bytes && rest_[i].address < entry.address) ++i;
  return i;
}

void FreeList::insert(const Free& entry) {
  const auto i = static_cast<std::ptrdiff_t>(position(entry));
  bytes_.insert(bytes_.begin() + i, entry.bytes);
  rest_.insert(rest_.begin() + i, {entry.address, entry.block});
}

void FreeList::erase(std::size_t position) {
  bytes_.erase(bytes_.begin() + static_cast<std::ptrdiff_t>(position));
  rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(position));
}

void FreeList::change(std::size_t at, const Free& entry) {
  const auto put = [&](std::size_t to, std::size_t from) {
    bytes_[to] = bytes_[from];
    rest_[to] = rest_[from];
  };
  const auto below = [&](std::size_t i) {
    return bytes_[i] < entry.bytes ||
           (bytes_[i] == entry.bytes && rest_[i].address < entry.address);
  };
  for (; at > 0 && !below(at - 1); --at) put(at, at - 1);
  for (; at + 1 < size() && below(at + 1); ++at) put(at, at + 1);
  bytes_[at] = entry.bytes;
  rest_[at] = {entry.address, entry.block};
}

}  // namespace foretrain::memory
