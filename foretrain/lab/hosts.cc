// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/hosts.h"

#include <algorithm>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/lab/detail/command.h"

namespace foretrain::lab {
namespace {

constexpr const char* kBridge = "ftbridge";
// What a shaped link lets through at once: two milliseconds of its rate, and no less than 32 KiB.
constexpr double kBurstSeconds = 0.002;
constexpr double kLeastBurstBytes = 32 * 1024;

std::string outer_end(int index) { return "ftlink" + std::to_string(index); }

void shape(const std::vector<std::string>& prefix, const std::string& interface,
           double bytes_per_s) {
  std::vector<std::string> words = prefix;
  if (bytes_per_s <= 0) {
    words.insert(words.end(), {"tc", "qdisc", "del", "dev", interface, "root"});
    run_command(words);  // fails where nothing is shaped
    return;
  }
  const double burst = std::max(kLeastBurstBytes, kBurstSeconds * bytes_per_s);
  words.insert(words.end(), {"tc", "qdisc", "replace", "dev", interface, "root", "tbf", "rate",
                             std::to_string(std::llround(8 * bytes_per_s)) + "bit", "burst",
                             std::to_string(std::llround(burst)), "latency", "50ms"});
  must_run(words);
}

}  // namespace

Hosts::Hosts(int count, bool isolated)
    : isolated_(isolated), cgroups_(std::make_unique<Cgroups>()) {
  free_cgroups_ = cgroups_->add("free");
  if (isolated_) make_bridge();
  for (int i = 0; i < count; ++i) {
    Host host;
    host.name = "host" + std::to_string(i);
    host.address = "127.0.0.1";
    host.interface = "lo";
    host.cgroups = cgroups_->add(host.name);
    hosts_.push_back(host);
    if (isolated_) make_link(i);
  }
}

Hosts::Hosts(const std::vector<RemoteHost>& remote) {
  for (const RemoteHost& one : remote) {
    hosts_.push_back({.name = one.address,
                      .address = one.address,
                      .interface = one.interface,
                      .prefix = one.command,
                      .local = false});
  }
}

Hosts::~Hosts() {
  if (!isolated_) return;
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    run_command({"ip", "netns", "del", hosts_[i].name});
  run_command({"ip", "link", "del", kBridge});
}

void Hosts::make_bridge() const {
  must_run({"ip", "link", "set", "lo", "up"});
  must_run({"ip", "link", "add", kBridge, "type", "bridge"});
  must_run({"ip", "link", "set", kBridge, "up"});
}

void Hosts::make_link(int index) {
  Host& host = hosts_[static_cast<std::size_t>(index)];
  const std::string outer = outer_end(index);
  host.address = "10.77.0." + std::to_string(index + 1);
  host.interface = "eth0";
  host.prefix = {"ip", "netns", "exec", host.name};
  host.own_network = true;
  must_run({"ip", "netns", "add", host.name});
  must_run({"ip", "link", "add", outer, "type", "veth", "peer", "name", host.interface, "netns",
            host.name});
  must_run({"ip", "link", "set", outer, "master", kBridge, "up"});
  must_run({"ip", "-n", host.name, "addr", "add", host.address + "/24", "dev", host.interface});
  must_run({"ip", "-n", host.name, "link", "set", host.interface, "up"});
  must_run({"ip", "-n", host.name, "link", "set", "lo", "up"});
}

void Hosts::allot(int index, const Allotment& allotment) {
  Host& host = hosts_[static_cast<std::size_t>(index)];
  if (!host.local) {
    if (allotment.cores > 0 || allotment.bytes_per_s > 0) {
      throw Error(ErrorKind::Unsupported,
                  "remote hosts are used as they are: give their settings no 'network' and whole "
                  "cores");
    }
    return;
  }
  if (allotment.bytes_per_s > 0 && !isolated_) {
    throw Error(ErrorKind::Unsupported,
                "a link can be shaped only in namespaces: run as root, or use settings without "
                "'network'");
  }
  cgroups_->set(host.name, allotment.cpus, allotment.cores);
  if (!cgroups_->pins()) host.cpus = allotment.cpus;
  if (!isolated_) return;
  shape({}, outer_end(index), allotment.bytes_per_s);
  shape(host.prefix, host.interface, allotment.bytes_per_s);
}

}  // namespace foretrain::lab
