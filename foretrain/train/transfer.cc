// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/transfer.h"

#include <algorithm>
#include <array>

#include "foretrain/base/error.h"

namespace foretrain::train {
namespace {

struct Row {
  std::string_view name;
  std::vector<std::string> frozen;  // how the names of parameters begin
};

const std::array<Row, 5>& rows() {
  static const std::array<Row, 5> kRows{{
      {"driple", {"first", "repeated", "gru", "set2set", "attention"}},
      {"repeated+mlp", {"first", "gru", "set2set", "attention"}},
      {"repeated+gru", {"first", "set2set", "attention", "dense"}},
      {"mlp", {"first", "repeated", "copied", "gru", "set2set", "attention"}},
      {"all", {}},
  }};
  return kRows;
}

// Puts a copy of the repeated layer behind it, for the second half of the repetitions.
learn::GraphNetwork with_copy(const learn::GraphNetwork& trained) {
  learn::GraphNetwork network{trained.shape, {}};
  network.shape.copied_from = 1 + (trained.shape.depth - 1) / 2;
  std::vector<learn::NamedMatrix> copies;
  for (const learn::NamedMatrix& one : trained.parameters) {
    const std::string repeated = "repeated";
    const bool of_repeated = one.name.starts_with(repeated);
    if (!of_repeated) {
      std::move(copies.begin(), copies.end(), std::back_inserter(network.parameters));
      copies.clear();
    } else {
      copies.push_back({"copied" + one.name.substr(repeated.size()), one.matrix});
    }
    network.parameters.push_back(one);
  }
  return network;
}

}  // namespace

std::string_view name_of(Partition partition) {
  return rows().at(static_cast<std::size_t>(partition)).name;
}

std::optional<Partition> partition_named(std::string_view name) {
  const auto found =
      std::find_if(rows().begin(), rows().end(), [&](const Row& row) { return row.name == name; });
  if (found == rows().end()) return std::nullopt;
  return static_cast<Partition>(found - rows().begin());
}

std::vector<std::string_view> partition_names() {
  std::vector<std::string_view> names;
  for (const Row& row : rows()) names.push_back(row.name);
  return names;
}

Transfer transfer_from(const learn::GraphNetwork& trained, Partition partition) {
  if (partition == Partition::Driple && trained.shape.depth < 2) {
    throw Error(ErrorKind::BadInput, "a network of one convolution has no repetitions to train");
  }
  if (partition == Partition::RepeatedGru && !trained.shape.gru) {
    throw Error(ErrorKind::BadInput, "a network without GRU has none to train");
  }
  const bool copy = partition == Partition::Driple && !trained.shape.copied_from;
  return {copy ? with_copy(trained) : trained,
          rows().at(static_cast<std::size_t>(partition)).frozen};
}

}  // namespace foretrain::train
