// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/importer/onnx/call.h"

namespace foretrain::importer {

// How an operator of ONNX is translated. `kind` tells apart operators that share a rule.
struct OnnxRule {
  std::string_view name;
  void (*apply)(const OnnxCall& call, graph::Kind kind);
  graph::Kind kind = graph::Kind::Opaque;
  std::string_view domain = "";
};

// Null for an operator without a rule.
const OnnxRule* find_rule(std::string_view domain, std::string_view name);

// Names of the operators of a domain that have one, sorted; "" is ONNX's own domain.
std::vector<std::string> ruled_operators(std::string_view domain);

// The families, each in its own file.
std::span<const OnnxRule> onnx_constant_rules();
std::span<const OnnxRule> onnx_pointwise_rules();
std::span<const OnnxRule> onnx_arithmetic_rules();
std::span<const OnnxRule> onnx_view_rules();
std::span<const OnnxRule> onnx_repeat_rules();
std::span<const OnnxRule> onnx_slice_rules();
std::span<const OnnxRule> onnx_join_rules();
std::span<const OnnxRule> onnx_lookup_rules();
std::span<const OnnxRule> onnx_product_rules();
std::span<const OnnxRule> onnx_einsum_rules();
std::span<const OnnxRule> onnx_window_rules();
std::span<const OnnxRule> onnx_resize_rules();
std::span<const OnnxRule> onnx_norm_rules();
std::span<const OnnxRule> onnx_reduction_rules();
std::span<const OnnxRule> onnx_recurrent_rules();
std::span<const OnnxRule> onnx_attention_rules();
std::span<const OnnxRule> onnx_loss_rules();
std::span<const OnnxRule> onnx_control_rules();
std::span<const OnnxRule> onnx_sequence_rules();

// An operator that is not understood: an opaque node if the file states the shapes of its
// outputs, else Error(Unsupported).
void translate_unknown(const OnnxCall& call);

// An opaque node whose only output has the shape of input `like` or the given one. All inputs
// go in.
void give_opaque_like(const OnnxCall& call, int like = 0);
void give_opaque(const OnnxCall& call, const graph::Shape& shape, DType type);
// The tensors of all inputs that are there.
std::vector<graph::TensorId> all_tensors(const OnnxCall& call);

// Rules that other families use.
void translate_identity(const OnnxCall& call, graph::Kind kind);
graph::TensorId emit_slice(const OnnxCall& call, graph::TensorId id, int axis, std::int64_t start,
                           std::int64_t end);

// Known values of `length` places along an axis, from `start` on.
std::vector<Scalar> slice_content(const OnnxValue& value, int axis, std::int64_t start,
                                  std::int64_t length);

}  // namespace foretrain::importer
