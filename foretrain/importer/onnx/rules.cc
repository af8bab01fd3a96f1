// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/rules.h"

#include <algorithm>
#include <map>
#include <utility>

#include "foretrain/base/near.h"
#include "foretrain/importer/onnx/tensor.h"

namespace foretrain::importer {
namespace {

using graph::Dim;
using graph::Shape;
using graph::TensorId;
using Rules = std::map<std::pair<std::string_view, std::string_view>, const OnnxRule*>;

Rules all_rules() {
  Rules rules;
  for (const auto family :
       {onnx_constant_rules(), onnx_pointwise_rules(), onnx_arithmetic_rules(), onnx_view_rules(),
        onnx_repeat_rules(), onnx_slice_rules(), onnx_join_rules(), onnx_loss_rules(),
        onnx_lookup_rules(), onnx_product_rules(), onnx_einsum_rules(), onnx_window_rules(),
        onnx_resize_rules(), onnx_norm_rules(), onnx_reduction_rules(), onnx_recurrent_rules(),
        onnx_attention_rules(), onnx_control_rules(), onnx_sequence_rules()}) {
    for (const OnnxRule& rule : family) rules.emplace(std::pair{rule.domain, rule.name}, &rule);
  }
  return rules;
}

const Rules& rules() {
  static const Rules all = all_rules();
  return all;
}

const OnnxValueInfo* info_of(const OnnxScope& scope, std::string_view name) {
  for (const OnnxScope* s = &scope; s != nullptr; s = s->outer) {
    const auto found = s->infos.find(name);
    if (found != s->infos.end()) return found->second;
  }
  return nullptr;
}

[[noreturn]] void fail_without_shape(const OnnxNode& node, std::string_view output) {
  const std::string what =
      "the file does not state the shape of its output '" + printable(output) + "'";
  if (find_rule(node.domain, node.op_type) != nullptr) {
    OnnxCall::fail_unsupported(
        "its result depends on data, or it has a form that is not understood, and " + what);
  }
  const std::string domain = printable(node.domain.empty() ? "ai.onnx" : node.domain);
  OnnxCall::fail_unsupported("the operator '" + domain + "." + printable(node.op_type) +
                             "' is not known and " + what +
                             did_you_mean(node.op_type, ruled_operators(node.domain)));
}

}  // namespace

const OnnxRule* find_rule(std::string_view domain, std::string_view name) {
  const auto found = rules().find({domain, name});
  return found == rules().end() ? nullptr : found->second;
}

std::vector<std::string> ruled_operators(std::string_view domain) {
  std::vector<std::string> names;
  for (const auto& [key, rule] : rules()) {
    if (key.first == domain) names.emplace_back(key.second);
  }
  return names;
}

std::vector<TensorId> all_tensors(const OnnxCall& call) {
  std::vector<TensorId> tensors;
  for (int i = 0; i < call.inputs(); ++i) {
    if (call.has(i)) tensors.push_back(call.tensor(i));
  }
  return tensors;
}

void give_opaque(const OnnxCall& call, const Shape& shape, DType type) {
  call.give(0, call.emit_opaque(all_tensors(call), {shape}, type).front());
}

void give_opaque_like(const OnnxCall& call, int like) {
  give_opaque(call, call.shape(like), call.in(like).type);
}

void translate_identity(const OnnxCall& call, graph::Kind /*kind*/) {
  OnnxValue& value = call.in(0);
  if (value.stored == nullptr) return call.give(0, &value);
  call.give(0, OnnxValue(value));  // under its new name
}

void translate_unknown(const OnnxCall& call) {
  const OnnxNode& node = call.node();
  std::vector<Shape> shapes;
  std::vector<DType> types;
  for (const std::string_view output : node.outputs) {
    if (output.empty()) continue;
    const OnnxValueInfo* info = info_of(call.scope(), output);
    std::optional<Shape> shape =
        info == nullptr ? std::nullopt : stated_shape(call.all().symbols, *info);
    if (!shape) {
      fail_without_shape(node, output);
    }
    if (call.all().replaces_batch && shape->rank() > 0 && (*shape)[0] == Dim(1)) {
      (*shape)[0] = graph::symbol(0);
    }
    shapes.push_back(*shape);
    types.push_back(type_of_onnx(info->type));
  }
  const std::vector<TensorId> outputs = call.emit_opaque(all_tensors(call), shapes, DType::F32);
  std::size_t next = 0;
  for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
    if (!call.wants(i)) continue;
    call.all().graph.tensor(outputs[next]).type = types[next];
    call.give(i, outputs[next++]);
  }
}

}  // namespace foretrain::importer
