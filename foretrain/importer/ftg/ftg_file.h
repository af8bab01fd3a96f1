// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::importer {

inline constexpr std::size_t kMostTensors = 2'000'000;
inline constexpr std::size_t kMostNodes = 1'000'000;

// A tensor, by its number or name.
using Reference = std::variant<std::int64_t, std::string>;

struct FtgNode {
  std::string op;    // as written, known or not
  graph::Node node;  // all but kind, inputs and outputs
  std::vector<Reference> inputs;
  std::vector<Reference> outputs;
};

// What a .ftg.json says, before references are followed and shapes inferred.
struct FtgFile {
  std::string name;
  std::vector<std::string> symbols{"batch"};
  std::vector<graph::Tensor> tensors;  // those that are declared
  std::vector<FtgNode> nodes;
  std::vector<Reference> outputs;
  std::optional<Reference> loss;
  std::vector<std::pair<Reference, Reference>> gradients;
  std::vector<std::string> notes;
};

// Every list is of bounded length, every dimension between 1 and 2^48, every enumerator known.
// Throws Error naming `where` and the place: BadInput, or Unsupported for another version.
FtgFile parse_ftg(std::string_view text, const std::string& where);

}  // namespace foretrain::importer
