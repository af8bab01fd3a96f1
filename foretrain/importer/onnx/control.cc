// SPDX-License-Identifier: Apache-2.0
// Branches, loops and functions: replaced by what they run.
#include "foretrain/importer/onnx/control.h"

#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/base/near.h"
#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

constexpr std::size_t kDeepest = 64;
constexpr std::int64_t kMostRounds = 4096;

const OnnxGraph& body_of(const OnnxCall& call, const char* name) {
  const OnnxAttribute* attribute = call.attribute(name);
  if (attribute == nullptr || !attribute->graph)
    OnnxCall::fail(std::string("has no '") + name + "'");
  return *attribute->graph;
}

// Names of a graph inside a node: its own and those around it.
OnnxScope inner_scope(const OnnxCall& call) {
  OnnxScope scope;
  const OnnxScope& around = call.scope();
  scope.outer = &around;
  scope.opsets = around.opsets;
  scope.arguments = around.arguments;
  scope.defaults = around.defaults;
  scope.caller = around.caller;
  scope.path = call.path();
  return scope;
}

OnnxValue* result_of(const OnnxScope& scope, std::string_view name) {
  OnnxValue* value = find_value(scope, name);
  if (value == nullptr) OnnxCall::fail("its body does not write '" + printable(name) + "'");
  return value;
}

std::optional<bool> truth_of(const OnnxValue& value) {
  if (value.known == OnnxValue::Known::Nothing || value.content.size() != 1) return std::nullopt;
  const std::optional<bool> zero = equal(value.content.front(), Scalar(0));
  if (!zero) return std::nullopt;
  return !*zero;
}

void branch(const OnnxCall& call, Kind /*kind*/) {
  const std::optional<bool> taken = truth_of(call.in(0));
  if (!taken) {
    OnnxCall::fail_unsupported(
        "which branch is taken depends on data or on a symbol; export the model "
        "with the branch resolved, or give the symbols values");
  }
  const OnnxGraph& body = body_of(call, *taken ? "then_branch" : "else_branch");
  OnnxScope scope = inner_scope(call);
  open_scope(call.all(), scope, body);
  translate_nodes(call.all(), scope, body.nodes);
  for (std::size_t i = 0; i < std::min(body.outputs.size(), call.node().outputs.size()); ++i) {
    call.give(static_cast<int>(i), result_of(scope, body.outputs[i].name));
  }
}

std::int64_t rounds_of(const OnnxCall& call) {
  const OnnxValue* limit = call.has(0) ? &call.in(0) : nullptr;
  const bool known = limit != nullptr && limit->known == OnnxValue::Known::All &&
                     limit->content.size() == 1 && limit->content.front().integer();
  if (!known) {
    OnnxCall::fail_unsupported(
        "how often the loop runs depends on data or on a symbol; export the "
        "model with the loop unrolled, or give the symbols values");
  }
  const std::int64_t rounds = *limit->content.front().integer();
  if (rounds > kMostRounds) OnnxCall::fail_unsupported("runs more than 4096 times");
  return std::max<std::int64_t>(rounds, 0);
}

OnnxValue* known_scalar(const OnnxCall& call, DType type, std::int64_t number) {
  OnnxValue value;
  value.type = type;
  value.known = OnnxValue::Known::All;
  value.content = {Scalar(number)};
  return new_value(call.all(), std::move(value));
}

// What each round adds to, as one tensor with a leading axis.
TensorId stacked(const OnnxCall& call, const std::vector<OnnxValue*>& rounds) {
  std::vector<TensorId> tensors;
  for (OnnxValue* value : rounds) {
    Shape shape{Dim(1)};
    for (const Dim& dim : value->shape.dims()) shape.push_back(dim);
    tensors.push_back(call.reshape(tensor_of(call, *value), shape));
  }
  if (tensors.empty()) OnnxCall::fail_unsupported("collects nothing, for it never runs");
  return call.emit(Kind::Concat, tensors, {{Attr::Axis, {Dim(0)}}});
}

// One round after another, when it is known how many there are.
void loop(const OnnxCall& call, Kind /*kind*/) {
  const OnnxGraph& body = body_of(call, "body");
  const std::int64_t rounds = rounds_of(call);
  const std::size_t carried = call.inputs() > 2 ? static_cast<std::size_t>(call.inputs()) - 2 : 0;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1) {
    OnnxCall::fail("its body does not fit its inputs");
  }
  std::vector<OnnxValue*> state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(&call.in(static_cast<int>(i) + 2));
  std::vector<std::vector<OnnxValue*>> collected(body.outputs.size() - carried - 1);
  bool goes_on = !call.has(1) || truth_of(call.in(1)).value_or(true);
  for (std::int64_t round = 0; round < rounds && goes_on; ++round) {
    call.all().budget.spend(carried * OnnxBudget::kLookUp);
    OnnxScope scope = inner_scope(call);
    open_scope(call.all(), scope, body);
    scope.values[body.inputs[0].name] = known_scalar(call, DType::I64, round);
    scope.values[body.inputs[1].name] = known_scalar(call, DType::Bool, 1);
    for (std::size_t i = 0; i < carried; ++i) scope.values[body.inputs[i + 2].name] = state[i];
    translate_nodes(call.all(), scope, body.nodes);
    const std::optional<bool> next = truth_of(*result_of(scope, body.outputs[0].name));
    if (!next) OnnxCall::fail_unsupported("how often the loop runs depends on data");
    goes_on = *next;
    for (std::size_t i = 0; i < carried; ++i) state[i] = result_of(scope, body.outputs[i + 1].name);
    for (std::size_t i = 0; i < collected.size(); ++i) {
      collected[i].push_back(result_of(scope, body.outputs[carried + 1 + i].name));
    }
  }
  for (std::size_t i = 0; i < carried; ++i) call.give(static_cast<int>(i), state[i]);
  for (std::size_t i = 0; i < collected.size(); ++i) {
    const int output = static_cast<int>(carried + i);
    if (call.wants(output)) call.give(output, stacked(call, collected[i]));
  }
}

void scan(const OnnxCall& /*call*/, Kind /*kind*/) {
  OnnxCall::fail_unsupported("scans are not read; export the model with its loop unrolled");
}

constexpr std::array kRules{
    OnnxRule{"If", branch},
    OnnxRule{"Loop", loop},
    OnnxRule{"Scan", scan},
};

}  // namespace

const OnnxFunction* find_function(const OnnxTranslation& all, const OnnxNode& node) {
  const auto found = all.functions.find({node.domain, node.op_type, node.overload});
  return found == all.functions.end() ? nullptr : found->second;
}

void inline_function(const OnnxCall& call, const OnnxFunction& function) {
  OnnxTranslation& all = call.all();
  const std::string name = printable(function.name);
  if (std::find(all.active.begin(), all.active.end(), &function) != all.active.end()) {
    OnnxCall::fail("the function '" + name + "' calls itself");
  }
  if (all.active.size() == kDeepest) OnnxCall::fail("functions are nested more than 64 deep");
  if (static_cast<std::size_t>(call.inputs()) > function.inputs.size()) {
    OnnxCall::fail("has more inputs than the function '" + name + "' takes");
  }
  OnnxScope scope;
  scope.opsets = &function.opsets;
  scope.arguments = &call.node().attributes;
  scope.defaults = &function.defaults;
  scope.caller = &call.scope();
  scope.path = call.path();
  open_scope(all, scope, function.body);
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    const int input = static_cast<int>(i);
    scope.values[function.inputs[i]] = call.has(input) ? &call.in(input) : nullptr;
  }
  for (const std::string_view output : function.outputs) ++scope.uses[output];
  all.active.push_back(&function);
  translate_nodes(all, scope, function.body.nodes);
  all.active.pop_back();
  for (std::size_t i = 0; i < std::min(function.outputs.size(), call.node().outputs.size()); ++i) {
    const int output = static_cast<int>(i);
    if (call.wants(output)) call.give(output, result_of(scope, function.outputs[i]));
  }
}

std::span<const OnnxRule> onnx_control_rules() { return kRules; }

}  // namespace foretrain::importer
