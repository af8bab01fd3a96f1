// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "foretrain/knowledge/library.h"

namespace foretrain {

inline constexpr std::size_t kLongestRequest = 4 << 20;  // bytes

// Answers each line, a request in JSON, with one line in its place: the report, or the error_json
// of what is wrong with it, which calls it "line N" and counts from `first`. Nothing is thrown for
// a request. By up to `threads` threads (0: one per core), which do not change the answers. With
// `advice` what would make a job fit that does not is predicted, too: some twenty more predictions.
std::vector<std::string> predict_many(const std::vector<std::string>& lines, std::size_t first,
                                      int threads, const Library& library, bool advice = false);

}  // namespace foretrain
