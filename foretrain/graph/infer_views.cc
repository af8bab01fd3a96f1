// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {

void require(bool fits, const char* message) {
  if (!fits) throw Error(ErrorKind::BadInput, message);
}

void require_inputs(const Shapes& inputs, std::size_t least, std::size_t most) {
  if (inputs.size() < least || inputs.size() > most) {
    throw Error(ErrorKind::BadInput, "takes " + std::to_string(least) +
                                         (most == least ? "" : " to " + std::to_string(most)) +
                                         " inputs, has " + std::to_string(inputs.size()));
  }
}

int axis_of(const Node& node, const Shape& shape, std::int64_t otherwise) {
  std::int64_t axis = node.attributes.number(Attr::Axis, otherwise);
  if (axis < 0) axis += shape.rank();
  require(axis >= 0 && axis < shape.rank(), "axis lies outside the tensor's rank");
  return static_cast<int>(axis);
}

Shape broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  const int offset = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    const Dim& other = shorter[i];
    Dim& dim = result[i + offset];
    if (dim == Dim(1)) {
      dim = other;
    } else {
      require(other == dim || other == Dim(1), "shapes of the inputs do not broadcast");
    }
  }
  return result;
}

Shapes infer_same(const Node&, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  return {inputs[0]};
}

// Quantised values, their scales and, in backward, what the layer read.
Shapes infer_dequantize(const Node&, const Shapes& inputs) {
  require_inputs(inputs, 1, 4);
  return {inputs[0]};
}

Shapes infer_reshape(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  const std::vector<Dim>* target = node.attributes.find(Attr::Shape);
  require(target != nullptr, "reshape needs the attribute 'shape'");
  Shape result;
  int open = -1;
  Dim known(1);
  for (std::size_t i = 0; i < target->size(); ++i) {
    Dim dim = (*target)[i];
    if (dim == Dim(0)) {
      require(static_cast<int>(i) < inputs[0].rank(),
              "reshape copies a dimension that is not there");
      dim = inputs[0][static_cast<int>(i)];
    }
    if (dim == Dim(-1)) {
      require(open < 0, "reshape has more than one dimension of -1");
      open = static_cast<int>(i);
    } else {
      require(dim.factor > 0, "reshape has a dimension that is not positive");
      known = known * dim;
    }
    result.push_back(dim);
  }
  const Dim total = elements(inputs[0]);
  if (open >= 0) {
    require(divides(known, total, result[open]), "reshape does not divide the elements evenly");
  } else {
    require(known == total, "reshape changes the number of elements");
  }
  return {result};
}

Shapes infer_transpose(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  const std::vector<Dim>* order = node.attributes.find(Attr::Axes);
  const int rank = inputs[0].rank();
  require(order != nullptr && static_cast<int>(order->size()) == rank,
          "transpose needs 'axes' with one entry per dimension");
  Shape result;
  unsigned seen = 0;
  for (const Dim& axis : *order) {
    require(axis.factor >= 0 && axis.factor < rank, "transpose names an axis that is not there");
    const unsigned bit = 1U << static_cast<unsigned>(axis.factor);
    require((seen & bit) == 0, "transpose names an axis twice");
    seen |= bit;
    result.push_back(inputs[0][static_cast<int>(axis.factor)]);
  }
  return {result};
}

Shapes infer_slice(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  Shape result = inputs[0];
  const int axis = axis_of(node, result, 0);
  require(is_number(result[axis]), "slice along an axis whose size is a symbol");
  const std::int64_t size = result[axis].factor;
  const auto clamp = [size](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t start = clamp(node.attributes.number(Attr::Start, 0));
  const std::int64_t end = clamp(node.attributes.number(Attr::End, size));
  const std::int64_t step = node.attributes.number(Attr::Step, 1);
  require(step >= 1 && end > start, "slice is empty or runs backwards");
  result[axis] = Dim((end - start + step - 1) / step);
  return {result};
}

Shapes infer_split(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  const int axis = axis_of(node, inputs[0], 0);
  const std::vector<Dim>* sizes = node.attributes.find(Attr::Sizes);
  require(sizes != nullptr && !sizes->empty() && sizes->size() <= 65536,
          "split needs 'sizes' along its axis");
  Shapes results;
  Dim sum(0);
  for (const Dim& size : *sizes) {
    require(size.factor > 0 && size.power == inputs[0][axis].power,
            "split has a size that does not fit");
    Shape part = inputs[0];
    part[axis] = size;
    sum.factor += size.factor;
    sum = sum * Dim(1);  // throws beyond 2^48
    results.push_back(part);
  }
  require(sum.factor == inputs[0][axis].factor, "split sizes do not add up to the axis");
  return results;
}

Shapes infer_expand(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  const std::vector<Dim>* target = node.attributes.find(Attr::Shape);
  require(target != nullptr, "expand needs the attribute 'shape'");
  Shape wanted;
  const int offset = static_cast<int>(target->size()) - inputs[0].rank();
  require(offset >= 0, "expand lowers the rank");
  for (std::size_t i = 0; i < target->size(); ++i) {
    const int from = static_cast<int>(i) - offset;
    const bool copy = (*target)[i] == Dim(-1) || (*target)[i] == Dim(0);
    require(!copy || from >= 0, "expand copies a dimension that is not there");
    wanted.push_back(copy ? inputs[0][from] : (*target)[i]);
    require(wanted[static_cast<int>(i)].factor > 0, "expand has a dimension that is not positive");
  }
  require(broadcast(inputs[0], wanted) == wanted, "expand to a shape that the input does not fit");
  return {wanted};
}

Shapes infer_concat(const Node& node, const Shapes& inputs) {
  require(!inputs.empty(), "concat of nothing");
  Shape result = inputs[0];
  const int axis = axis_of(node, result, 1);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    require(inputs[i].rank() == result.rank(), "concat of different ranks");
    for (int d = 0; d < result.rank(); ++d) {
      if (d == axis) continue;
      require(inputs[i][d] == result[d], "concat of shapes that differ beside its axis");
    }
    require(inputs[i][axis].power == result[axis].power,
            "concat of a number and a symbol; give the symbol a value");
    result[axis].factor += inputs[i][axis].factor;
    result[axis] = result[axis] * Dim(1);  // throws beyond 2^48
  }
  return {result};
}

Shapes infer_pad(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  const std::vector<Dim>* padding = node.attributes.find(Attr::Padding);
  Shape result = inputs[0];
  const auto rank = static_cast<std::size_t>(result.rank());
  require(padding != nullptr && padding->size() == 2 * rank,
          "pad needs 'padding' with all sizes before, then all after");
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t extra = (*padding)[i].factor + (*padding)[i + rank].factor;
    if (extra == 0) continue;
    Dim& dim = result[static_cast<int>(i)];
    require(is_number(dim), "pad along an axis whose size is a symbol");
    dim.factor += extra;
    require(dim.factor > 0, "pad removes a whole axis");
  }
  return {result};
}

Shapes infer_gather(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 2, 2);
  const int axis = axis_of(node, inputs[0], 0);
  Shape result;
  for (int i = 0; i < axis; ++i) result.push_back(inputs[0][i]);
  for (const Dim& dim : inputs[1].dims()) result.push_back(dim);
  for (int i = axis + 1; i < inputs[0].rank(); ++i) result.push_back(inputs[0][i]);
  return {result};
}

Shapes infer_upsample(const Node& node, const Shapes& inputs) {
  require_inputs(inputs, 1, 1);
  Shape result = inputs[0];
  require(result.rank() >= 3, "upsample needs batch, channels and space");
  for (int i = 2; i < result.rank(); ++i) {
    const std::int64_t size = node.attributes.at(Attr::Sizes, i - 2, 0);
    require(size > 0, "upsample needs 'sizes', the output's extent");
    result[i] = Dim(size);
  }
  return {result};
}

}  // namespace foretrain::graph
