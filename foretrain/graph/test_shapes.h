// SPDX-License-Identifier: Apache-2.0
// For tests: shapes as text.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/graph/op.h"

namespace foretrain::graph {

inline const std::vector<std::string> kTestSymbols{"batch", "seq"};

// "batch,3,8,8"; "" is a scalar.
inline Shape shape(const std::string& text) {
  Shape result;
  std::istringstream stream(text);
  for (std::string dim; std::getline(stream, dim, ',');)
    result.push_back(parse_dim(dim, kTestSymbols));
  return result;
}

// The outputs that `kind` infers, such as "[batch, 4, 8, 8] [8]", or the error's message.
inline std::string inferred(Kind kind, const std::vector<std::string>& inputs,
                            const Attributes& attributes = {}) {
  Node node;
  node.kind = kind;
  node.attributes = attributes;
  std::vector<Shape> shapes;
  for (const std::string& input : inputs) shapes.push_back(shape(input));
  try {
    std::string text;
    for (const Shape& result : op(kind).infer(node, shapes)) {
      text += (text.empty() ? "" : " ") + to_string(result, kTestSymbols);
    }
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace foretrain::graph
