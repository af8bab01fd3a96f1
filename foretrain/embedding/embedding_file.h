// SPDX-License-Identifier: Apache-2.0
// What `make embedding` trains and the program ships: a JSON object with the names of kinds and
// features, how far virtual edges reach, and the parameters as bits in base64; its checksum is that
// of the same object without it, keys sorted and no spaces in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/learn/gated_graph.h"

namespace foretrain::embedding {

struct Embedding {
  std::string dataset;             // whose images the hypernetwork learned to classify
  std::string command;             // that reproduces the file
  std::vector<std::string> kinds;  // rows of the table: "input", operators, "opaque" last
  std::int32_t reach = 1;          // steps that a virtual edge spans at most
  std::int32_t most_virtual = 0;   // of them that end at one node
  learn::GatedGraph network;
  // Of each number of an embedding, over the graphs of the training: distances count in spreads.
  std::vector<float> centre;
  std::vector<float> spread;
  std::uint32_t checksum = 0;  // tells one embedding from another
};

// Names of the features of a node, in order; each enters as log(1 + x).
const std::vector<std::string>& feature_names();

// Throws Error(BadInput) naming `where` for what is no embedding, is damaged, has parameters of
// other sizes or features that this program does not know.
Embedding read_embedding(std::string_view text, const std::string& where);

// The one that is built in.
Embedding shipped_embedding();

}  // namespace foretrain::embedding
