// SPDX-License-Identifier: Apache-2.0
// Transfer learning: a network trained for one setting becomes the start for another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/learn/graph_network.h"

namespace foretrain::train {

// What is trained for the new setting; everything else stays frozen.
enum class Partition {
  Driple,  // the second half of the repetitions, by a copy of their layer, and the dense layers
  RepeatedMlp,  // the repeated layer and the dense layers
  RepeatedGru,  // the repeated layer and the GRU
  Mlp,          // the dense layers
  All,
};
std::string_view name_of(Partition partition);  // "driple", "repeated+mlp", "repeated+gru", ...
std::optional<Partition> partition_named(std::string_view name);
std::vector<std::string_view> partition_names();

struct Transfer {
  learn::GraphNetwork network{};      // to begin training from; answers as the given one does
  std::vector<std::string> frozen{};  // for TrainOptions
};

// A network that has a copied layer already keeps it. Throws Error(BadInput) where the partition
// trains what the network has not: repetitions to halve, or a GRU.
// Source: Driple, SIGMETRICS 2022.
Transfer transfer_from(const learn::GraphNetwork& trained, Partition partition);

}  // namespace foretrain::train
