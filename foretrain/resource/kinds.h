// SPDX-License-Identifier: Apache-2.0
// What is used, and by whom: the resources and roles whose bursts and idles are measured and
// predicted.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace foretrain::resource {

enum class Resource { Device, Memory, Transmit, Receive };
inline constexpr std::array kResources{Resource::Device, Resource::Memory, Resource::Transmit,
                                       Resource::Receive};

enum class Role { Worker, Server };
inline constexpr std::array kRoles{Role::Worker, Role::Server};

inline constexpr std::size_t index_of(Resource resource) {
  return static_cast<std::size_t>(resource);
}
inline constexpr std::size_t index_of(Role role) { return static_cast<std::size_t>(role); }

// As the report names it: "gpu_util", "gpu_memory_util", "net_tx", "net_rx".
constexpr std::string_view name_of(Resource resource) {
  constexpr std::array<std::string_view, kResources.size()> kNames{"gpu_util", "gpu_memory_util",
                                                                   "net_tx", "net_rx"};
  return kNames.at(index_of(resource));
}

constexpr std::string_view name_of(Role role) { return role == Role::Server ? "server" : "worker"; }

// The numbers that say how a resource alternates.
enum class Number { BurstAmount, IdleAmount, BurstTime, IdleTime, BurstShare };
inline constexpr std::array kNumbers{Number::BurstAmount, Number::IdleAmount, Number::BurstTime,
                                     Number::IdleTime, Number::BurstShare};

inline constexpr std::size_t index_of(Number number) { return static_cast<std::size_t>(number); }

// "burst_amount", "idle_amount", "burst_s", "idle_s", "burst_share".
constexpr std::string_view name_of(Number number) {
  constexpr std::array<std::string_view, kNumbers.size()> kNames{
      "burst_amount", "idle_amount", "burst_s", "idle_s", "burst_share"};
  return kNames.at(index_of(number));
}

// One number of one resource of one role.
struct UseName {
  Role role = Role::Worker;
  Resource resource = Resource::Device;
  Number number = Number::BurstAmount;
  std::string_view report{};  // its path there: "resources.worker.net_tx.burst_s"
  std::string_view name{};    // the same below `resources`: "worker.net_tx.burst_s"
};

// Resident bytes of a process, which do not alternate: the name below `resources`, and in the
// report.
constexpr std::string_view memory_used_name(Role role) {
  return role == Role::Server ? "server.memory_used" : "worker.memory_used";
}
constexpr std::string_view memory_used_report(Role role) {
  return role == Role::Server ? "resources.server.memory_used" : "resources.worker.memory_used";
}

// All there are: roles, their resources, their numbers.
std::span<const UseName> use_names();

}  // namespace foretrain::resource
