// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/straggling.h"

namespace foretrain::cost {

std::vector<NumberPlace> named_numbers(Straggling& s) {
  return {{"gpu", "step_variation", &s.step_variation},
          {"node", "shared_slowdown", &s.shared_node_slowdown}};
}

Straggling read_straggling(std::string_view text, const std::string& where) {
  Straggling straggling;
  assign_numbers(read_number_file(text, where, kStragglingFormat), named_numbers(straggling),
                 where);
  return straggling;
}

std::string write_straggling(const Straggling& straggling, std::span<const std::string> notes) {
  Straggling copy = straggling;
  return write_number_file(kStragglingFormat, named_numbers(copy), notes);
}

}  // namespace foretrain::cost
