// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

namespace foretrain::zoo {

// Seeded draws that are the same on every platform: the standard fixes the generator's numbers
// but not what its distributions make of them. The bias of the remainder is below 2^-40 here.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}

  // Within [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) {
    const auto range = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>(generator_() % range);
  }

  // A number of 2^least to 2^(most + 1) - 1 whose magnitude is as likely to be one as another;
  // of at most four leading bits, as sizes in practice are. `least` is 3 or more.
  std::int64_t magnitude(int least, int most) {
    const std::int64_t shift = between(least - 3, most - 3);
    return between(8, 15) << shift;
  }

  bool chance(int percent) { return between(0, 99) < percent; }

  // One of the list; an entry that stands there twice is twice as likely.
  template <class T>
  T pick(std::initializer_list<T> list) {
    const std::int64_t index = between(0, static_cast<std::int64_t>(list.size()) - 1);
    return *(list.begin() + index);
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace foretrain::zoo
