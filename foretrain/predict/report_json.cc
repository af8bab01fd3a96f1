// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/json.h"
#include "foretrain/predict/report.h"

namespace foretrain {
namespace {

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson or_null(const std::optional<Seconds>& value) {
  return value ? OrderedJson(value->count()) : OrderedJson(nullptr);
}

OrderedJson json_of(const Estimate& estimate) {
  return {{"value", estimate.value},
          {"low", or_null(estimate.low)},
          {"high", or_null(estimate.high)},
          {"confidence", or_null(estimate.confidence)}};
}

OrderedJson json_of(const std::optional<Estimate>& estimate) {
  return estimate ? json_of(*estimate) : OrderedJson(nullptr);
}

OrderedJson json_of(const std::optional<ResourceReport>& report) {
  if (!report) return nullptr;
  const resource::Bursts& bursts = report->bursts;
  return {{"pattern", resource::to_string(bursts.pattern)},
          {"burst_amount", or_null(bursts.burst_amount)},
          {"idle_amount", or_null(bursts.idle_amount)},
          {"burst_s", or_null(bursts.burst)},
          {"idle_s", or_null(bursts.idle)},
          {"unit", report->unit}};
}

OrderedJson json_of(const RoleReport& role) {
  return {{"gpu_util", json_of(role.gpu_util)},
          {"gpu_memory_util", json_of(role.gpu_memory_util)},
          {"net_tx", json_of(role.net_tx)},
          {"net_rx", json_of(role.net_rx)},
          {"memory_used", json_of(role.memory_used)}};
}

OrderedJson json_of(const MemoryReport& memory) {
  return {{"peak", memory.peak},
          {"allocated", memory.allocated},
          {"parameters", memory.parameters},
          {"gradients", memory.gradients},
          {"optimizer", memory.optimizer},
          {"activations", memory.activations},
          {"workspace", memory.workspace},
          {"fragmentation", memory.fragmentation},
          {"framework", memory.framework},
          {"capacity", memory.capacity},
          {"fits", memory.fits}};
}

OrderedJson engines(const Report& report) {
  OrderedJson list;
  for (const char* number : {"step_time_s", "memory_bytes", "resources"}) {
    list[number] = {{"engine", report.engine}, {"why", "no fitted predictor was given"}};
  }
  return list;
}

}  // namespace

std::string to_json(const Report& report) {
  const Breakdown& parts = report.breakdown;
  OrderedJson json;
  json["step_time_s"] = json_of(report.step_time_s);
  json["throughput"] = {{"samples_per_s", report.samples_per_s},
                        {"tokens_per_s", or_null(report.tokens_per_s)},
                        {"tokens_per_s_per_device", or_null(report.tokens_per_s_per_device)},
                        {"mfu", or_null(report.mfu)}};
  json["epoch_time_s"] = json_of(report.epoch_time_s);
  json["total_time_s"] = json_of(report.total_time_s);
  json["breakdown_s"] = {{"compute", parts.compute.count()},
                         {"memory", parts.memory.count()},
                         {"exposed_communication", parts.exposed_communication.count()},
                         {"host", parts.host.count()},
                         {"bubble", parts.bubble.count()},
                         {"input", parts.input.count()}};
  json["communication_s"] = report.communication.count();
  json["memory_bytes"] = json_of(report.memory);
  json["resources"] = {{"window_s", report.window.count()},
                       {"worker", json_of(report.worker)},
                       {"server", report.server ? json_of(*report.server) : OrderedJson(nullptr)}};
  json["cost"] = nullptr;
  if (report.cost_usd) {
    json["cost"] = {{"value", report.cost_usd->value},
                    {"low", or_null(report.cost_usd->low)},
                    {"high", or_null(report.cost_usd->high)},
                    {"currency", "USD"}};
  }
  OrderedJson operators = OrderedJson::array();
  for (const OperatorReport& entry : report.top_operators) {
    operators.push_back({{"name", entry.name},
                         {"kind", entry.kind},
                         {"time_s", entry.time.count()},
                         {"share", entry.share}});
  }
  json["top_operators"] = std::move(operators);
  json["engine"] = report.engine;
  json["engines"] = engines(report);
  json["assumptions"] = report.assumptions;
  json["warnings"] = report.warnings;
  return json.dump();
}

}  // namespace foretrain
