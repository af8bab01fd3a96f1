// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace foretrain {

// Calls work(0) to work(count - 1), each once, on up to `threads` threads (0: one per core), each
// taking the next number that nobody has. The calling thread is one of them, so that 1 starts
// none. Each call writes to a place of its own, which keeps the order whatever the threads do.
//
// Where calls throw, no new ones begin and the exception of the lowest number is thrown once all
// threads are done: the same one for any number of threads.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace foretrain
