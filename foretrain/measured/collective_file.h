// SPDX-License-Identifier: Apache-2.0
// Files of measured collectives.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/measured/measured_cluster.h"
#include "foretrain/measured/table.h"

namespace foretrain::measured {

inline constexpr const char* kAllReduce = "all-reduce";
inline constexpr const char* kAllGather = "all-gather";
inline constexpr const char* kReduceScatter = "reduce-scatter";
inline constexpr const char* kBroadcast = "broadcast";
inline constexpr const char* kPointToPoint = "point-to-point";

// A size of a collective on some nodes of a cluster.
struct CollectiveCase {
  std::size_t line = 0;
  std::string cluster{};                 // of data/collectives/clusters/, or what is in `own`:
  std::optional<MeasuredCluster> own{};  // where `foretrain collect collectives` ran
  std::string collective{};              // one of the names above
  int nodes = 1;
  int devices = 1;             // of each node
  double bytes = 0;            // of each rank: to be summed, held in the end, or sent
  bool copied = false;         // an all-gather that copies into separate tensors
  double measured = 0;         // seconds; or with reference_bytes:
  double reference_bytes = 0;  // rate of `bytes` against that of as many
  bool suspect = false;
  std::string broken{};  // why it is left out
};

// Whether the file is one of those that read_collectives knows, by its columns.
bool has_collectives(const std::vector<std::string>& columns);

// Every row, or every cell of a table of ratios: the store's own collectives, files of ETT and Echo
// (nccl-tests) and the tables of SimAI. Throws Error(BadInput) naming the line, NotFound for an
// unknown cluster, Io.
std::vector<CollectiveCase> read_collectives(Table& table);

// The same of all such tables of `data`, whatever it is (open_tables.h). Throws BadInput where
// there is none.
std::vector<CollectiveCase> read_collectives(const std::filesystem::path& data);

// "all-reduce, 2 x 4": collective, nodes and devices of each.
std::string label(const CollectiveCase& one);

// The cluster that it ran on: its own, or the one of that name. Throws Error(NotFound).
const MeasuredCluster& cluster_of(const CollectiveCase& one);

}  // namespace foretrain::measured
