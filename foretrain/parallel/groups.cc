// SPDX-License-Identifier: Apache-2.0
#include "foretrain/parallel/groups.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/json_writer.h"

namespace foretrain::parallel {
namespace {

using graph::Among;

// Devices of each node where all nodes are alike.
std::optional<int> devices_of_all_nodes(const hw::Cluster& cluster) {
  const auto& first = cluster.nodes.front();
  for (const auto& node : cluster.nodes) {
    const bool alike = node.devices == first.devices && node.intra_node == first.intra_node &&
                       node.network == first.network;
    if (!alike) return std::nullopt;
  }
  return first.devices;
}

// Their first ranks. Of groups that begin at the same place of nodes that are alike one is enough:
// they cross the same links.
std::vector<int> distinct_groups(const comm::Group& group, const Resolved& resolved) {
  const std::optional<int> period = devices_of_all_nodes(resolved.cluster);
  std::vector<bool> seen(static_cast<std::size_t>(period.value_or(resolved.workers)), false);
  std::vector<int> firsts;
  for (int begin = 0; begin < resolved.workers; begin += group.ranks * group.stride) {
    for (int offset = 0; offset < group.stride; ++offset) {
      const int first = begin + offset;
      const auto place = static_cast<std::size_t>(period ? first % *period : first);
      if (!seen[place]) firsts.push_back(first);
      seen[place] = true;
    }
  }
  return firsts;
}

bool is_slower(const comm::Path& a, const comm::Path& b) {
  if (a.flat.bytes_per_s != b.flat.bytes_per_s) return a.flat.bytes_per_s < b.flat.bytes_per_s;
  return a.flat.latency > b.flat.latency;
}

int most_on_node(const hw::Cluster& cluster) {
  int most = 1;
  for (const auto& node : cluster.nodes) most = std::max(most, node.devices);
  return most;
}

struct Name {
  Among among;
  const char* text;
};
constexpr std::array kNames{Name{Among::Tensor, "tensor"},     Name{Among::Context, "context"},
                            Name{Among::Data, "data"},         Name{Among::Pipeline, "pipeline"},
                            Name{Among::Expert, "expert"},     Name{Among::All, "gradients"},
                            Name{Among::ShardGroup, "shards"}, Name{Among::Replicas, "replicas"}};

// Of the links that the group's nodes have, each once.
std::vector<std::string> names_of(int hw::Node::*link, const comm::Group& group,
                                  const hw::Cluster& cluster) {
  std::vector<std::string> names;
  const int last = group.first + (group.ranks - 1) * group.stride;
  int rank = 0;
  for (const auto& node : cluster.nodes) {
    const int begin = rank;
    rank += node.devices;
    const int before = std::max(0, begin - group.first + group.stride - 1) / group.stride;
    const int member = group.first + before * group.stride;  // the first at or after `begin`
    if (member >= rank || member > last) continue;
    const std::string& name = cluster.links[static_cast<std::size_t>(node.*link)].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void write_link(const char* name, const comm::Link& link, const std::vector<std::string>& names,
                JsonWriter& json) {
  json.key(name).begin_object().key("links").begin_array();
  for (const std::string& one : names) json.value(std::string_view(one));
  json.end_array().field("bytes_per_s", link.bytes_per_s);
  json.field("latency_s", link.latency.count()).end_object();
}

void write_groups(const Name& name, const RankGroups& groups, const hw::Cluster& cluster,
                  JsonWriter& json) {
  const comm::Path& path = groups.path;
  const comm::Group& group = groups.slowest;
  json.begin_object().field("group", name.text);
  json.field("groups", static_cast<double>(groups.count));
  json.field("ranks", static_cast<double>(path.ranks));
  json.field("first", static_cast<double>(group.first));
  json.field("stride", static_cast<double>(group.stride));
  json.field("nodes", static_cast<double>(path.nodes));
  json.field("ranks_per_node", static_cast<double>(path.most_devices));
  json.field("groups_on_node", static_cast<double>(groups.groups_on_node));
  if (path.most_devices > 1) {
    write_link("inside", path.inside, names_of(&hw::Node::intra_node, group, cluster), json);
  }
  if (path.nodes > 1) {
    write_link("across", path.across, names_of(&hw::Node::network, group, cluster), json);
  }
  json.end_object();
}

}  // namespace

Degrees degrees_of(const Resolved& resolved) {
  const Strategy& strategy = resolved.strategy;
  return {strategy.tensor, strategy.context, resolved.data_parallel, strategy.pipeline,
          strategy.expert};
}

int gradient_ranks(const Resolved& resolved) {
  return resolved.data_parallel * resolved.strategy.context;
}

int shard_ranks(const Resolved& resolved) {
  return resolved.strategy.shard_group.value_or(gradient_ranks(resolved));
}

int copies(const Resolved& resolved) { return gradient_ranks(resolved) / shard_ranks(resolved); }

comm::Group first_group(Among among, const Resolved& resolved) {
  const Degrees d = degrees_of(resolved);
  const int same = gradient_ranks(resolved);
  switch (among) {
    case Among::All:
      return {0, same, d.tensor};
    case Among::ShardGroup:
      return {0, shard_ranks(resolved), d.tensor};
    case Among::Replicas:
      return {0, copies(resolved), d.tensor * shard_ranks(resolved)};
    case Among::Host:
      return {0, 1, 1};
    case Among::Tensor:
      return {0, d.tensor, 1};
    case Among::Context:
      return {0, d.context, d.tensor};
    case Among::Data:
      return {0, d.data, d.tensor * d.context};
    case Among::Pipeline:
      return {0, d.pipeline, d.tensor * same};
    case Among::Expert:
      return {0, d.expert, d.tensor};
    case Among::ExpertReplicas:
      return {0, same / d.expert, d.tensor * d.expert};
  }
  return {};
}

RankGroups rank_groups(Among among, const Resolved& resolved) {
  const comm::Group group = first_group(among, resolved);
  RankGroups groups;
  groups.count = resolved.workers / group.ranks;
  groups.groups_on_node = std::min(group.stride, most_on_node(resolved.cluster));
  bool first = true;
  for (const int begin : distinct_groups(group, resolved)) {
    const comm::Group one{begin, group.ranks, group.stride};
    const comm::Path path = comm::path_over(resolved.cluster, one, *resolved.collectives);
    if (first || is_slower(path, groups.path)) {
      groups.slowest = one;
      groups.path = path;
    }
    first = false;
  }
  return groups;
}

std::string dump_groups(const Resolved& resolved) {
  JsonWriter json;
  json.begin_array();
  for (const Name& name : kNames) {
    if (first_group(name.among, resolved).ranks == 1) continue;
    write_groups(name, rank_groups(name.among, resolved), resolved.cluster, json);
  }
  return json.end_array().finish();
}

}  // namespace foretrain::parallel
