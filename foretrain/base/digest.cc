// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/digest.h"

#include "foretrain/base/format.h"

namespace foretrain {

std::string digest_text(std::uint64_t value) {
  return format("%016llx", static_cast<unsigned long long>(value));
}

}  // namespace foretrain
