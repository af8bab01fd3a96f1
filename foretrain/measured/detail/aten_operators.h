// SPDX-License-Identifier: Apache-2.0
// Calls of PyTorch's operators, as its profiler records them with `record_shapes=True`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain::measured {

// One argument of a call.
struct AtenArgument {
  std::vector<std::int64_t> shape;  // of a tensor; empty: it is none
  std::string type;                 // "float", "c10::Half", "Scalar", ...
  std::string value;                // of what is no tensor: "[1, 1]", "False"
};

// A call in the words of `foretrain collect operators` (docs/store.md, table operators).
struct AtenCall {
  std::string kind;
  std::string shapes;      // "8x64;32x64"
  std::string attributes;  // {"stride":[2,2]}
  std::string dtype;
  std::string direction;
  bool operator<(const AtenCall& other) const;
};

// Whether calls of this name ("aten::linear") can be told.
bool is_known_aten(std::string_view name);

// Nothing where the operator is not known, or called in a way that is not.
std::optional<AtenCall> aten_call(std::string_view name,
                                  const std::vector<AtenArgument>& arguments);

}  // namespace foretrain::measured
