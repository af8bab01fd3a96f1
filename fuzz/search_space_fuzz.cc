// SPDX-License-Identifier: Apache-2.0
// Whatever a file of configurations says: it is refused with an Error of one line, or a search over
// it proposes points of it until the runs are made.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/scaling/search.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;  // NOLINT: a program of its own
  try {
    const scaling::SearchSpace space =
        scaling::parse_space({reinterpret_cast<const char*>(data), size}, "fuzz");
    const scaling::SearchOptions options{.most = 8, .stop = 0};
    std::vector<scaling::Tried> tried;
    while (const auto next = scaling::next_point(space, tried, options)) {
      if (next->point >= space.points.size()) std::abort();
      tried.push_back({next->point, 1.0 + static_cast<double>(next->point % 7)});
    }
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
