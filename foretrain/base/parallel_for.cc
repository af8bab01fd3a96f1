// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace foretrain {

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed = count;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        // Every lower number was taken before this one and is still carried out.
        next = count;
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
      }
    }
  };
  const std::size_t most = threads > 0
                               ? static_cast<std::size_t>(threads)
                               : std::max<std::size_t>(1, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min(most, count); ++t) others.emplace_back(take_turns);
  take_turns();
  others.clear();  // waits for them
  if (failure) std::rethrow_exception(failure);
}

}  // namespace foretrain
