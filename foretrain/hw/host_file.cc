// SPDX-License-Identifier: Apache-2.0
#include "foretrain/hw/detail/host_file.h"

#include <array>

namespace foretrain::hw {

Host host_of(const FactSheet& sheet) {
  static constexpr auto kFields =
      std::to_array<std::string_view>({"name", "memory_bytes_per_s", "least_offload_bytes"});
  check_fields(sheet, kFields);
  return {.memory_bytes_per_s = required_number(sheet, "memory_bytes_per_s", 1e6, 1e15),
          .least_offload_bytes = required_number(sheet, "least_offload_bytes", 0, 1e15)};
}

}  // namespace foretrain::hw
