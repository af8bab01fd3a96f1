// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/constants.h"

#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain::comm {
namespace {

constexpr std::string_view kLinks = "links";
constexpr std::int64_t kMostPeers = 1024;

Constants::LinkKind read_link(const Json& entry, const std::string& where) {
  JsonFields fields(entry, where);
  Constants::LinkKind link;
  link.constants = fields.required_text("constants");
  if (link.constants != "nvlink" && link.constants != "rdma" && link.constants != "tcp") {
    throw Error(ErrorKind::BadInput, where + ": 'constants' is not nvlink, rdma or tcp");
  }
  const std::int64_t peers = fields.integer("peers").value_or(0);
  if (peers < 0 || peers > kMostPeers) {
    throw Error(ErrorKind::BadInput, where + ": 'peers' is not within 0 to 1024");
  }
  link.peers = static_cast<int>(peers);
  link.source = fields.text("source").value_or("");
  fields.finish();
  return link;
}

// "8xhdr" is eight of "hdr".
std::string_view catalog_name(const hw::Link& link) {
  const std::string_view name = link.name;
  const std::string count = std::to_string(link.nics) + "x";
  return link.nics > 1 && name.starts_with(count) ? name.substr(count.size()) : name;
}

}  // namespace

std::vector<NumberPlace> named_numbers(Constants& c) {
  return {{"nvlink", "efficiency", &c.nvlink.efficiency},
          {"nvlink", "latency_s", &c.nvlink.latency_s},
          {"nvlink", "ramp_s", &c.nvlink.ramp_s},
          {"nvlink", "chain", &c.nvlink.chain},
          {"nvlink", "ring", &c.nvlink.ring},
          {"nvlink", "pair", &c.nvlink.pair},
          {"rdma", "efficiency", &c.rdma.efficiency},
          {"rdma", "latency_s", &c.rdma.latency_s},
          {"rdma", "ramp_s", &c.rdma.ramp_s},
          {"rdma", "ramp_growth", &c.rdma.ramp_growth},
          {"rdma", "pair", &c.rdma.pair},
          {"tcp", "shared_nic", &c.tcp_shared_nic},
          {"tcp", "neighbour", &c.tcp_neighbour},
          {"tcp", "pair", &c.tcp_pair},
          {"all", "launch_s", &c.launch_s},
          {"all", "least_share", &c.least_share},
          {"all", "ramp_exponent", &c.ramp_exponent},
          {"all", "copy_s_per_byte", &c.copy_s_per_byte}};
}

Link described(const hw::Link& link, const Constants& constants) {
  Link described(link);
  described.shared_nic = constants.tcp_shared_nic;
  described.neighbour = constants.tcp_shared_nic;
  described.ramp_exponent = constants.ramp_exponent;
  return described;
}

Link tuned(const hw::Link& link, const Constants& constants) {
  Link tuned = described(link, constants);
  const auto found = constants.links.find(catalog_name(link));
  const bool own = link.ramp == Seconds{0} && link.rdma;  // the catalog gives such links a ramp
  if (found == constants.links.end() || own) return tuned;
  const auto give = [&](const auto& kind) {
    tuned.efficiency = kind.efficiency;
    tuned.latency = Seconds{kind.latency_s};
    tuned.ramp = Seconds{kind.ramp_s};
    tuned.pair = kind.pair;
    tuned.launch = Seconds{constants.launch_s};
    tuned.least_share = constants.least_share;
  };
  tuned.peers = found->second.peers;
  if (found->second.constants == "nvlink") {
    give(constants.nvlink);
    tuned.chain = constants.nvlink.chain;
    tuned.ring = constants.nvlink.ring;
  } else if (found->second.constants == "rdma") {
    give(constants.rdma);
    tuned.ramp_growth = constants.rdma.ramp_growth;
  } else {
    tuned.pair = constants.tcp_pair;
    tuned.neighbour = constants.tcp_neighbour;
  }
  return tuned;
}

Constants with_numbers_of(std::string_view text, const std::string& where, Constants constants) {
  assign_numbers(read_number_file(text, where, kCollectivesFormat, std::span(&kLinks, 1)),
                 named_numbers(constants), where);
  const Json file = parse_json(text, where);
  const auto links = file.find(kLinks);
  if (links == file.end()) return constants;
  if (!links->is_object()) throw Error(ErrorKind::BadInput, where + ": 'links' is not an object");
  constants.links.clear();
  for (const auto& [name, entry] : links->items()) {
    constants.links[name] = read_link(entry, where + ": links." + printable(name));
  }
  return constants;
}

Constants read_constants(std::string_view text, const std::string& where) {
  Constants constants = with_numbers_of(text, where, {});
  if (constants.links.empty()) {
    throw Error(ErrorKind::BadInput,
                where +
                    ": 'links' is missing: which links the constants hold for; `foretrain fit "
                    "collectives` writes it");
  }
  return constants;
}

std::string write_constants(const Constants& constants, std::span<const std::string> notes) {
  Constants copy = constants;
  std::string text = write_number_file(kCollectivesFormat, named_numbers(copy), notes);
  if (constants.links.empty()) return text;
  std::string links;  // one per line: the file is read by people too
  for (const auto& [name, link] : constants.links) {
    OrderedJson entry{{"constants", link.constants}};
    if (link.peers > 0) entry["peers"] = link.peers;
    if (!link.source.empty()) entry["source"] = link.source;
    links +=
        (links.empty() ? "\n  " : ",\n  ") + json_text(OrderedJson(name)) + ": " + json_text(entry);
  }
  text.resize(text.size() - std::string_view("\n}\n").size());
  return text + ",\n \"links\": {" + links + "\n }\n}\n";
}

}  // namespace foretrain::comm
