// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/given_request.h"

#include "foretrain/base/file.h"

namespace foretrain::cli {

std::string given_request(const std::string& text) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  const bool json = text.find_first_not_of(" \t\n") == text.find('{');
  return text.empty() || json ? text : read_file(text, kLargest);
}

}  // namespace foretrain::cli
