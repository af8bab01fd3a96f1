// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrain::memory {

// Free blocks by size, then by address: few enough (rarely a hundred) that flat arrays beat a
// tree. Positions are valid until the next change.
class FreeList {
 public:
  struct Free {
    std::uint64_t bytes;
    std::uint64_t address;
    std::int32_t block;
  };

  std::size_t size() const { return rest_.size(); }
  std::int32_t block_at(std::size_t position) const { return rest_[position].block; }

  // The first that has at least `bytes`; size() where there is none.
  std::size_t best_fit(std::uint64_t bytes) const;
  std::size_t position(const Free& entry) const;

  void insert(const Free& entry);
  void erase(std::size_t position);
  // Puts `entry` in place of the one at `position` and restores the order.
  void change(std::size_t position, const Free& entry);

 private:
  struct Rest {
    std::uint64_t address;
    std::int32_t block;
  };

  static constexpr std::size_t kStride = 8;

  // Sorted; a stride of ends follows, so that a search may look beyond the last.
  std::vector<std::uint64_t> bytes_ = std::vector<std::uint64_t>(kStride, UINT64_MAX);
  std::vector<Rest> rest_;  // of each
};

}  // namespace foretrain::memory
