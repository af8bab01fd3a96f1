// SPDX-License-Identifier: Apache-2.0
// The numbers of collective communication that measurements decide.
// data/predictors/collectives.json has those in use, `foretrain fit collectives` finds them;
// docs/models/collectives.md has the formulas and a table made from the comments below.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/number_file.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

struct Constants {
  // NVLink and other links inside a node.
  struct NvLink {
    double efficiency = 1;  // share of the nominal rate that long transfers reach
    double latency_s = 0;   // of one step of a collective
    double ramp_s = 0;      // how slowly small transfers reach the rate
    double chain = 1;       // latency of a step of a tree's chain inside a node, against a ring's
    double ring = 1;  // latency of a step inside a node in a ring over several nodes, against one
    double pair = 1;  // rate of one device's transfer to another alone, against that of a ring
  };
  // Networks with RDMA.
  struct Rdma {
    double efficiency = 1;   // share of the nominal rate that long transfers reach
    double latency_s = 0;    // of one step of a collective
    double ramp_s = 0;       // how slowly small transfers reach the rate, between two nodes
    double ramp_growth = 0;  // between N nodes the ramp is (N/2)^growth times as long
    double pair = 1;  // rate of one device's transfer to another alone, against that of a ring
  };
  NvLink nvlink;
  Rdma rdma;
  // What each further device that sends over the same NIC costs a node's rate.
  double tcp_shared_nic = 0;
  double tcp_neighbour = 0;    // what each further device with a NIC of its own costs a node's rate
  double tcp_pair = 1;         // flows between two devices alone, against one in a ring
  double launch_s = 0;         // of a collective on NVLink or RDMA
  double least_share = 0;      // of the rate, which transfers reach however small they are
  double ramp_exponent = 1;    // how the ramp fades as transfers grow
  double copy_s_per_byte = 0;  // of each rank's input: what an all-gather into separate tensors
                               // adds in PyTorch

  // Which of them hold for a link of data/hardware/links, and why.
  struct LinkKind {
    std::string constants;  // "nvlink", "rdma" or "tcp"
    int peers = 0;          // devices that a direct link joins a device to; 0: it is no such link
    std::string source;
  };
  std::map<std::string, LinkKind, std::less<>> links;
};

// Every number in the order of the file. Pointers into `constants`.
std::vector<NumberPlace> named_numbers(Constants& constants);

// The link as it is described, with what holds for every link, named or not.
Link described(const hw::Link& link, const Constants& constants);

// The link as collectives see it: one that `constants.links` names gets the constants of its kind
// in place of what the catalog says; any other is `described`. Links of the
// catalog are known by their names and their ramps, which a user's own link has only if it says so.
Link tuned(const hw::Link& link, const Constants& constants);

inline constexpr std::string_view kCollectivesFormat = "foretrain-collectives";

// Reads a file as `write_constants` writes it. Throws Error(BadInput) naming `where` for what is
// missing, unknown or wrong.
Constants read_constants(std::string_view text, const std::string& where);

// `constants` with the numbers of such a file, which may leave the links out.
Constants with_numbers_of(std::string_view text, const std::string& where, Constants constants);

// `notes` are lines of text that say where the numbers come from.
std::string write_constants(const Constants& constants, std::span<const std::string> notes);

}  // namespace foretrain::comm
