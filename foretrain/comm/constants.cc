// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/constants.h"

#include <array>
#include <functional>
#include <map>
#include <utility>

#include "foretrain/base/embedded.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain::comm {

extern const std::span<const EmbeddedFile> kCollectivesFiles;

namespace {

constexpr int kVersion = 1;

// Where a constant stands in the file.
struct Place {
  const char* group;
  const char* name;
  double* value;
};

std::array<Place, 16> places(Constants& c) {
  return {{{"nvlink", "efficiency", &c.nvlink.efficiency},
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
           {"tcp", "neighbour", &c.tcp_neighbour},
           {"tcp", "pair", &c.tcp_pair},
           {"all", "launch_s", &c.launch_s},
           {"all", "least_share", &c.least_share},
           {"all", "copy_s_per_byte", &c.copy_s_per_byte}}};
}

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : kCollectivesFiles) {
    if (file.name == name) return file.text;
  }
  throw Error(ErrorKind::Io, "the program has no file data/" + std::string(name));
}

// What data/collectives/links.json says of a link.
struct Known {
  std::string constants;  // "nvlink", "rdma" or "tcp"
  int peers = 0;
};

const std::map<std::string, Known, std::less<>>& known_links() {
  static const std::map<std::string, Known, std::less<>> kKnown = [] {
    std::map<std::string, Known, std::less<>> known;
    const Json file = parse_json(embedded("collectives/links.json"), "collectives/links.json");
    for (const auto& [name, link] : file.at("links").items()) {
      known[name] = {link.at("constants").get<std::string>(), link.value("peers", 0)};
    }
    return known;
  }();
  return kKnown;
}

// "8xhdr" is eight of "hdr".
std::string_view catalog_name(const hw::Link& link) {
  const std::string_view name = link.name;
  const std::string count = std::to_string(link.nics) + "x";
  return link.nics > 1 && name.starts_with(count) ? name.substr(count.size()) : name;
}

}  // namespace

std::vector<NamedConstant> named_constants(Constants& constants) {
  std::vector<NamedConstant> all;
  for (const Place& place : places(constants)) {
    all.push_back({std::string(place.group) + "." + place.name, place.value});
  }
  return all;
}

Link tuned(const hw::Link& link, const Constants& constants) {
  Link tuned(link);
  const auto found = known_links().find(catalog_name(link));
  const bool own = link.ramp == Seconds{0} && link.rdma;  // the catalog gives such links a ramp
  if (found == known_links().end() || own) return tuned;
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

Constants read_constants(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields top(file, where);
  if (top.required_text("format") != kCollectivesFormat ||
      top.required_number("version") != kVersion) {
    throw Error(ErrorKind::BadInput,
                where +
                    ": no constants of collectives of version 1; `foretrain fit collectives` "
                    "writes them");
  }
  top.ignore("notes");
  Constants constants;
  std::vector<std::pair<std::string, JsonFields>> groups;
  for (const Place& place : places(constants)) {
    if (groups.empty() || groups.back().first != place.group) {
      groups.emplace_back(place.group, JsonFields(top.require(place.group),
                                                  where + ": " + std::string(place.group)));
    }
    *place.value = groups.back().second.required_number(place.name);
    if (!(*place.value >= 0 && *place.value < 1e9)) {
      throw Error(ErrorKind::BadInput,
                  where + ": " + place.group + "." + place.name + " is not a number from 0 to 1e9");
    }
  }
  for (const auto& [name, group] : groups) group.finish();
  top.finish();
  return constants;
}

std::string write_constants(const Constants& constants, std::span<const std::string> notes) {
  OrderedJson file{{"format", kCollectivesFormat}, {"version", kVersion}, {"notes", notes}};
  Constants copy = constants;
  for (const Place& place : places(copy)) file[place.group][place.name] = *place.value;
  return file.dump(1) + "\n";
}

const Constants& shipped_constants() {
  constexpr const char* kName = "predictors/collectives.json";
  static const Constants kShipped = read_constants(embedded(kName), kName);
  return kShipped;
}

}  // namespace foretrain::comm
