// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/collective_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/measured/collected_operators.h"
#include "foretrain/measured/detail/cells.h"
#include "foretrain/measured/lab_runs.h"
#include "foretrain/measured/open_tables.h"

namespace foretrain::measured {
namespace {

constexpr double kMicro = 1e-6;

using Cases = std::vector<CollectiveCase>;

bool holds(const Doubt& doubt, const CollectiveCase& one) {
  return doubt.collective.value_or(one.collective) == one.collective &&
         doubt.nodes.value_or(one.nodes) == one.nodes &&
         doubt.devices.value_or(one.devices) == one.devices &&
         one.bytes <= doubt.most_bytes.value_or(one.bytes);
}

void add(CollectiveCase one, Cases& cases) {
  const MeasuredCluster& cluster = cluster_of(one);
  const auto matches = [&](const Doubt& doubt) { return holds(doubt, one); };
  one.suspect = std::any_of(cluster.suspect.begin(), cluster.suspect.end(), matches);
  const auto broken = std::find_if(cluster.broken.begin(), cluster.broken.end(), matches);
  if (broken != cluster.broken.end()) one.broken = broken->reason;
  if (one.broken.empty() && one.nodes * one.devices < 2) {
    one.broken = "one rank has nothing to exchange";
  }
  cases.push_back(std::move(one));
}

int count(const Cells& cells, const char* column) {
  const std::int64_t value = cells.size(column);
  if (value > hw::kMostNodes) cells.fail(std::string(column) + " is more than 100000");
  return static_cast<int>(value);
}

double above_zero(const Cells& cells, const char* column) {
  const double value = cells.number(column);
  if (!(value > 0)) cells.fail(std::string(column) + " is not above 0");
  return value;
}

// The cluster of a row that came into the store from a file of ETT or Echo.
std::optional<std::string> published_cluster(const Cells& cells) {
  if (cells.text("source").starts_with("echo_nccl")) return "Echo";  // its file names no cluster
  const std::vector<std::string> known = measured_cluster_names();
  const std::string link = cells.text("link");
  if (std::find(known.begin(), known.end(), link) == known.end()) return std::nullopt;
  return link;
}

// Bytes are those that each rank puts in; an all-gather fills a list of tensors.
void add_collected(const Cells& cells, std::size_t line, Cases& cases) {
  static const std::map<std::string, const char*> kCollectives{{"all_reduce", kAllReduce},
                                                               {"all_gather", kAllGather},
                                                               {"reduce_scatter", kReduceScatter},
                                                               {"broadcast", kBroadcast},
                                                               {"point_to_point", kPointToPoint},
                                                               {"allreduce", kAllReduce},
                                                               {"allreduce_large", kAllReduce},
                                                               {"allgather_large", kAllGather},
                                                               {"p2p", kPointToPoint}};
  const auto found = kCollectives.find(cells.text("kind"));
  if (found == kCollectives.end()) {
    cells.fail("collective '" + printable(cells.text("kind")) + "' is not known");
  }
  const std::string link = cells.text("link");
  CollectiveCase one{.line = line, .collective = found->second};
  if (const std::optional<std::string> published = published_cluster(cells)) {
    one.cluster = *published;
  } else {
    one.cluster = cells.text("machine") + (link.empty() ? "" : ", " + link);
    MeasuredCluster& own = one.own.emplace();
    own.name = one.cluster;
    own.device = collected_device(cells.text("machine"));
    own.network = link.empty() ? kUnshapedNetwork : link;
  }
  one.nodes = count(cells, "nodes");
  one.devices = std::max(1, count(cells, "ranks") / one.nodes);
  one.bytes = above_zero(cells, "bytes");
  one.measured = above_zero(cells, "time_s");
  one.copied = one.collective == kAllGather;
  if (one.copied) one.bytes *= one.nodes * one.devices;
  add(std::move(one), cases);
}

// Bytes of an all-gather are those of each rank's input, and its output is a list of tensors.
void add_ett(const Cells& cells, std::size_t line, Cases& cases) {
  static const std::map<std::string, const char*> kCollectives{{"allreduce", kAllReduce},
                                                               {"allreduce_large", kAllReduce},
                                                               {"allgather_large", kAllGather},
                                                               {"p2p", kPointToPoint}};
  const auto found = kCollectives.find(cells.text("collective"));
  if (found == kCollectives.end()) {
    cells.fail("collective '" + printable(cells.text("collective")) + "' is not known");
  }
  CollectiveCase one{.line = line, .cluster = cells.text("cluster"), .collective = found->second};
  one.nodes = count(cells, "nodes");
  one.devices = count(cells, "gpus_per_node");
  one.bytes = above_zero(cells, "bytes");
  one.measured = kMicro * above_zero(cells, "dur_us");
  one.copied = one.collective == kAllGather;
  if (one.copied) one.bytes *= one.nodes * one.devices;
  add(std::move(one), cases);
}

void add_echo(const Cells& cells, std::size_t line, Cases& cases) {
  CollectiveCase one{.line = line, .cluster = "Echo", .collective = kAllReduce};
  one.nodes = count(cells, "nodes");
  one.devices = std::max(1, count(cells, "ranks") / one.nodes);
  one.bytes = above_zero(cells, "bytes");
  one.measured = kMicro * above_zero(cells, "oop_time_us");
  add(std::move(one), cases);
}

// A column of SimAI's tables and the nodes of eight devices that it is about.
constexpr std::array<std::pair<const char*, int>, 8> kRatios{{{"1 Node(NVLinkx)", 1},
                                                              {"2Node-16GPU(NIC )", 2},
                                                              {"4Node-32GPU(NIC)", 4},
                                                              {"8Node-64GPU(NIC)", 8},
                                                              {"16Node-128GPU(NIC)", 16},
                                                              {"32Node-256GPU(NIC)", 32},
                                                              {"64Node-512GPU(NIC)", 64},
                                                              {"128Node-1024GPU(NIC)", 128}}};

// One row of a table, its cells as cases; ratios are against a rate that is not given.
void add_ratios(const Cells& cells, std::size_t line, const std::string& cluster, Cases& cases) {
  for (const auto& [column, nodes] : kRatios) {
    if (cells.text(column).empty()) continue;
    CollectiveCase one{.line = line, .cluster = cluster, .collective = kAllGather};
    one.nodes = nodes;
    one.devices = 8;
    one.bytes = above_zero(cells, "Size");
    one.measured = above_zero(cells, column);
    add(std::move(one), cases);
  }
}

// Ratios against the largest size of the same column, which itself goes.
void refer_to_largest(Cases& cases) {
  std::map<int, std::pair<double, double>> largest;  // nodes to size, ratio
  for (const CollectiveCase& one : cases) {
    largest[one.nodes] = std::max(largest[one.nodes], std::pair(one.bytes, one.measured));
  }
  std::erase_if(cases, [&](const auto& one) { return one.bytes == largest[one.nodes].first; });
  for (CollectiveCase& one : cases) {
    one.reference_bytes = largest[one.nodes].first;
    one.measured /= largest[one.nodes].second;
  }
}

enum class Form { None, Collected, Ett, Echo, Ratios };

Form form_of(const std::vector<std::string>& columns) {
  if (has_columns(columns, {"machine", "kind", "link", "ranks", "nodes", "bytes", "time_s"})) {
    return Form::Collected;
  }
  if (has_columns(columns,
                  {"cluster", "collective", "bytes", "nodes", "gpus_per_node", "dur_us"})) {
    return Form::Ett;
  }
  if (has_columns(columns, {"ranks", "nodes", "bytes", "oop_time_us"})) return Form::Echo;
  if (has_columns(columns, {"Size", kRatios[0].first})) return Form::Ratios;
  return Form::None;
}

// The cluster that a table of ratios is about, by the file's name.
std::optional<std::string> ratio_cluster(const std::string& stem) {
  if (stem.ends_with("_nic")) return "SimAI, NICs bind";
  if (stem.ends_with("_nvlink")) return "SimAI, NVLink binds";
  return std::nullopt;
}

}  // namespace

bool has_collectives(const std::vector<std::string>& columns) {
  return form_of(columns) != Form::None;
}

std::vector<CollectiveCase> read_collectives(const std::filesystem::path& data) {
  Cases cases;
  bool found = false;
  for (Table& table : open_tables(data)) {
    if (!has_collectives(table.columns())) continue;
    found = true;
    for (CollectiveCase& one : read_collectives(table)) cases.push_back(std::move(one));
  }
  if (!found) {
    throw Error(ErrorKind::BadInput,
                "file " + printable(data.filename().string()) +
                    ": not a known file of measured collectives, and no store that has some");
  }
  return cases;
}

std::vector<CollectiveCase> read_collectives(Table& file) {
  const std::string& name = file.where();
  const Form form = form_of(file.columns());
  const std::optional<std::string> cluster = ratio_cluster(file.name());
  if (form == Form::None) {
    throw Error(ErrorKind::BadInput, name + ": not a known file of measured collectives");
  }
  Cases cases;
  for (Row row; file.next(row);) {
    const Cells cells(row, name);
    if (form == Form::Collected) add_collected(cells, row.line, cases);
    if (form == Form::Ett) add_ett(cells, row.line, cases);
    if (form == Form::Echo) add_echo(cells, row.line, cases);
    if (form == Form::Ratios && cluster) add_ratios(cells, row.line, *cluster, cases);
  }
  if (form == Form::Ratios) refer_to_largest(cases);
  return cases;
}

std::string label(const CollectiveCase& one) {
  return one.collective + ", " + std::to_string(one.nodes) + " x " + std::to_string(one.devices) +
         (one.suspect ? " (suspect)" : "");
}

const MeasuredCluster& cluster_of(const CollectiveCase& one) {
  return one.own ? *one.own : measured_cluster(one.cluster);
}

}  // namespace foretrain::measured
