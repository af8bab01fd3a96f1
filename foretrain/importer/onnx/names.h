// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "foretrain/importer/onnx/translation.h"

namespace foretrain::importer {

// "layer1.0.conv1": the layer that a node comes from, as far as exporters tell: by the node's
// name ("/layer1/layer1.0/conv1/Conv"), by PyTorch's metadata, or by the name of its weight.
std::string layer_path(const OnnxScope& scope, const OnnxNode& node);

// Whether two paths differ in their numbers only: the same layer of two blocks. PyTorch marks
// later runs of one layer ("fc@1"), which are no other layer.
bool are_sibling_layers(std::string_view a, std::string_view b);

// Whether PyTorch's exporters folded a batch norm into this convolution: the older one makes up a
// name for the new weight, the newer one leaves the norm's metadata.
bool has_folded_norm(const OnnxNode& node);

// Whether an exporter made up the name ("val_12", "onnx::MatMul_34"): the tensor was computed
// from parameters or constants.
bool is_made_up(std::string_view name);

// Whether a tensor of a single value is called as learned ones are: "act.weight", "logit_scale".
bool sounds_learned(std::string_view name);
// Whether it is called as what is kept but not learned: "running_mean", "attn_mask".
bool sounds_fixed(std::string_view name);

}  // namespace foretrain::importer
