// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "foretrain/base/precision.h"
#include "foretrain/graph/dim.h"
#include "foretrain/graph/kind.h"

namespace foretrain::graph {

using TensorId = std::int32_t;
using NodeId = std::int32_t;

enum class Role : std::uint8_t {
  Input,           // fed at every step
  Activation,      // written by a node
  Parameter,       // learned
  Buffer,          // kept between steps, not learned (running statistics, position tables)
  Gradient,        // written by a backward node
  OptimizerState,  // moments, master weights
};

enum class Phase : std::uint8_t {
  Forward,
  Backward,
  Update,
  Recompute,  // a forward node that runs again, in the backward pass
};

// Numbers that say how an operator works. Only what shapes, counts or costs depend on.
enum class Attr : std::uint8_t {
  Kernel,         // window per spatial axis
  Stride,         // likewise
  Padding,        // likewise: before and after, alike; two values per axis: before, after
  Dilation,       // likewise
  Groups,         // of a convolution or group norm
  CeilMode,       // pooling rounds up
  Transposed,     // of a convolution
  OutputPadding,  // of a transposed convolution
  Shape,          // target of reshape and expand; 0 copies, one -1 is what is left
  Axis,           // concat, softmax, gather, slice
  Axes,           // reduce, transpose (permutation), norms (how many trailing axes: one value)
  KeepDims,       // reduce
  Start,
  End,
  Step,  // slice
  TransposeA,
  TransposeB,  // matmul
  Gates,       // 4 LSTM, 3 GRU, 1 plain recurrent
  Hidden,
  Layers,
  Directions,
  BatchFirst,  // recurrent
  Causal,      // attention looks back only
  Mask,        // attention adds a mask
  Dropout,     // attention drops probabilities
  Inplace,     // the output overwrites the first input
  Frozen,      // batch norm uses its running statistics
  Of,          // of a gradient: the forward Kind; of a fused node: the Kinds of its parts
  Optimizer,   // of an update: its Optimizer
  Outputs,     // opaque and split: how many
  Sizes,       // split: along Axis
  Type,        // cast: the DType
  Waiting,     // of a collective: who waits for it (Waiting)
  Among,       // of a collective: which ranks take part (Among)
  EveryPass,   // of a collective: it runs in every pass of an accumulated step, not in the last
               // alone
  Indexed,     // pad: copied to where an index says (index_copy), whose source is saved
};

// Who waits for a collective: kernels that read its tensors, the device, or the host too.
enum class Waiting : std::uint8_t { Readers, Device, Host };

// Who takes part in a collective.
enum class Among : std::uint8_t {
  All,             // ranks that hold the same parameters: data parallel, context too
  ShardGroup,      // those of them that share one copy of the parameters
  Replicas,        // those of them that hold the same shard of different copies
  Host,            // a device and its own host
  Tensor,          // ranks that share each layer
  Context,         // ranks that share each sequence
  Data,            // ranks that work on different samples with the same parameters
  Pipeline,        // ranks that hold different layers
  Expert,          // ranks that hold different experts
  ExpertReplicas,  // ranks that hold the same experts
};
inline constexpr int kAmongs = static_cast<int>(Among::ExpertReplicas) + 1;

struct Attribute {
  Attr key;
  std::vector<Dim> values;
  bool operator==(const Attribute&) const = default;
};

// Sorted by key, so that equality does not depend on the order in which they were set.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<Attribute> list);

  // The first value of `key`, or `otherwise` when it is not set.
  std::int64_t number(Attr key, std::int64_t otherwise) const;
  // The value for spatial axis `i`: a single value stands for all axes.
  std::int64_t at(Attr key, int i, std::int64_t otherwise) const;
  const std::vector<Dim>* find(Attr key) const;
  void set(Attr key, std::vector<Dim> values);
  const std::vector<Attribute>& list() const { return list_; }
  bool operator==(const Attributes&) const = default;

 private:
  std::vector<Attribute> list_;
};

struct Tensor {
  std::string name;  // of inputs, parameters and buffers, as the framework names them; else ""
  Shape shape;
  DType type = DType::F32;
  Role role = Role::Activation;
  bool trainable = false;         // a parameter that gets a gradient
  bool partial_gradient = false;  // which is the sum over tensor-parallel ranks
};

struct Node {
  Kind kind = Kind::Opaque;
  Phase phase = Phase::Forward;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  Attributes attributes;
  std::string scope;  // path of the layer it came from: "layer1.0.conv1"
  std::string label;  // of an opaque or fused node: what it stands for; else ""
};

// Whether it computes what the model says, for the first time or again.
inline bool is_forward(const Node& node) {
  return node.phase == Phase::Forward || node.phase == Phase::Recompute;
}

// A model, or one step of its training: nodes in execution order. Every tensor has a shape.
struct Graph {
  std::string name;
  std::vector<std::string> symbols{"batch"};
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> outputs;  // what inference returns
  std::optional<TensorId> loss;   // the scalar that training lowers
  std::vector<std::pair<TensorId, TensorId>>
      gradients;                   // of each trainable parameter, after backward
  std::vector<std::string> notes;  // what a reader should know: assumptions made on import

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  Tensor& tensor(TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
};

// Number of learned values; a tensor used twice counts once.
std::int64_t parameter_count(const Graph& graph);

}  // namespace foretrain::graph
