// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

// The fewest tensors that an operator reads and writes.
struct Least {
  std::size_t inputs;
  std::size_t outputs;
};

Least least(Kind kind) {
  switch (kind) {
    case Kind::Opaque:
    case Kind::Update:
    case Kind::ZeroGrad:
    case Kind::AllReduce:
    case Kind::AllGather:
    case Kind::ReduceScatter:
    case Kind::AllToAll:
    case Kind::CollectivePermute:
    case Kind::Broadcast:
    case Kind::Reduce:
    case Kind::Pull:
    case Kind::Push:
    case Kind::ServerUpdate:
    case Kind::Send:
    case Kind::Receive:
      return {0, 0};
    case Kind::Fill:
      return {0, 1};
    case Kind::Fused:
      return {1, 0};
    case Kind::Linear:
    case Kind::MatMul:
    case Kind::Conv:
    case Kind::ConvInputGrad:
    case Kind::ConvWeightGrad:
    case Kind::Embedding:
    case Kind::EmbeddingGrad:
    case Kind::Gather:
    case Kind::GatherGrad:
    case Kind::NormGrad:
    case Kind::SoftmaxGrad:
      return {2, 1};
    case Kind::Attention:
      return {3, 2};
    case Kind::AttentionGrad:
      return {6, 3};
    case Kind::Recurrent:
      return {3, 3};
    case Kind::RecurrentGrad:
      return {3, 1};
    default:
      return {1, 1};
  }
}

bool all_of_rank(const Shapes& shapes, std::size_t first, std::size_t count, int rank) {
  return std::all_of(shapes.begin() + static_cast<std::ptrdiff_t>(first),
                     shapes.begin() + static_cast<std::ptrdiff_t>(first + count),
                     [rank](const Shape& shape) { return shape.rank() == rank; });
}

bool ranks_fit(Kind kind, const Shapes& inputs, const Shapes& outputs) {
  switch (kind) {
    case Kind::Linear:
      return inputs[1].rank() == 2;
    case Kind::MatMul:
      return std::min({inputs[0].rank(), inputs[1].rank(), outputs[0].rank()}) >= 2;
    case Kind::Conv:
    case Kind::ConvInputGrad:
    case Kind::ConvWeightGrad: {
      const int rank = outputs[0].rank();
      return rank >= 3 && rank <= 5 && all_of_rank(inputs, 0, 2, rank);
    }
    case Kind::Attention:
      return all_of_rank(inputs, 0, 3, 4);
    case Kind::AttentionGrad:
      return all_of_rank(inputs, 0, 5, 4);
    case Kind::Recurrent:
      return inputs[0].rank() == 3;
    case Kind::RecurrentGrad:
      return inputs[1].rank() == 3;
    default:
      return true;
  }
}

}  // namespace

void require_form(Kind kind, const Shapes& inputs, const Shapes& outputs) {
  require(inputs.size() >= least(kind).inputs, "has too few inputs");
  require(outputs.size() >= least(kind).outputs, "has too few outputs");
  require(ranks_fit(kind, inputs, outputs), "takes tensors of another rank");
}

}  // namespace foretrain::graph
