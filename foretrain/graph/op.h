// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/graph/bind.h"
#include "foretrain/graph/graph.h"

namespace foretrain::graph {

class GradientContext;

// What one run of a node asks of any device: counts, never time.
struct Work {
  double flops = 0;         // of GEMMs (a multiply-add is two)
  double vector_flops = 0;  // of everything else
  double read_bytes = 0;
  double written_bytes = 0;
};

enum class Family : std::uint8_t {
  View,
  Copy,
  Matrix,
  Convolution,
  Attention,
  Recurrent,
  Lookup,
  Pointwise,
  Reduction,
  Normalization,
  Pool,
  Loss,
  Update,
  Collective,
  Server,
  Opaque,
};

// What automatic mixed precision does with an operator's floating-point inputs.
enum class Autocast : std::uint8_t {
  Half,    // computed in half precision
  Full,    // computed in fp32
  Follow,  // computed in the widest type among its inputs
};

// One kind of operator. `axes` names which input axes each output axis comes from and which
// are summed over ("bmk,bkn->bmn" for a batched GEMM), so that a pass can tell which axis may be
// split and where that leaves partial sums to be reduced (axes.h reads it):
//
//   *  all other axes, counted from their end, so that they broadcast
//   @  the axis that the attribute Axis names
//   !  after an axis: every value along it depends on all others, so it cannot be split
//   A  an upper-case axis is a window and splits only with its neighbours' rim
//   ~  the same values in the same order, other axes
//   ^  the axes in the order of the attribute Axes;  /  the axes but those
//   i  in a look-up: all axes of the indices
//   ?  nothing is known
struct Op {
  Kind kind;
  std::string_view name;
  std::string_view axes;
  Family family;
  Autocast autocast;
  std::vector<Shape> (*infer)(const Node&, const std::vector<Shape>& inputs);
  Work (*work)(const NodeView&);
  void (*gradient)(GradientContext&);  // null: no gradient flows through
};

const Op& op(Kind kind);
inline const Op& op(const Node& node) { return op(node.kind); }
std::optional<Kind> kind_named(std::string_view name);

// "conv", "relu_grad", an opaque node's own label.
std::string operator_name(const Node& node);
// The same, and whether it runs again: "conv (recomputed)".
std::string describe(const Node& node);

// Whether the output shares the input's memory.
bool is_view(const Node& node);

// Whether a parallel strategy added it: it runs on the network or on a server, not on the device.
bool is_communication(const Node& node);

// Which ranks take part in a collective.
Among among(const Node& node);

// Whether it belongs to the model's own passes: ranks that share layers, sequences or experts
// exchange activations or gradients of them. Other collectives are of parameters.
bool is_activation_exchange(const Node& node);

// Whether it passes tensors on between the stages of a pipeline. When that happens is decided by
// the pipeline's schedule, not by the order of one stage's nodes.
bool is_transfer(const Node& node);

Work work(const NodeView& node);

}  // namespace foretrain::graph
