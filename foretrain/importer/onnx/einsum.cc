// SPDX-License-Identifier: Apache-2.0
// Einsum of one or two tensors as the transposes, sums and GEMM that it stands for.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Shape;
using graph::TensorId;

struct Equation {
  std::vector<std::string> inputs;  // one letter per axis
  std::string output;
};

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

bool repeats(const std::string& labels) {
  return std::any_of(labels.begin(), labels.end(), [&](char label) {
    return std::count(labels.begin(), labels.end(), label) > 1;
  });
}

// nullopt for what has an ellipsis or a diagonal.
std::optional<Equation> parse(std::string_view text) {
  Equation equation;
  std::string* labels = &equation.inputs.emplace_back();
  bool explicit_output = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == ',') {
      labels = &equation.inputs.emplace_back();
    } else if (c == '-' && i + 1 < text.size() && text[i + 1] == '>') {
      labels = &equation.output;
      explicit_output = true;
      ++i;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      *labels += c;
    } else {
      return std::nullopt;
    }
  }
  if (!explicit_output) {  // every letter that occurs once, in order
    std::string all;
    for (const std::string& input : equation.inputs) all += input;
    std::string sorted = all;
    std::sort(sorted.begin(), sorted.end());
    for (const char c : sorted) {
      if (std::count(all.begin(), all.end(), c) == 1) equation.output += c;
    }
  }
  const bool diagonal = repeats(equation.output) ||
                        std::any_of(equation.inputs.begin(), equation.inputs.end(), repeats);
  if (diagonal) return std::nullopt;
  return equation;
}

// A tensor whose axes have letters.
struct Labelled {
  TensorId id;
  std::string labels;
};

Dim size_of(const OnnxCall& call, const Labelled& x, char label) {
  return call.shape_of(x.id)[static_cast<int>(x.labels.find(label))];
}

Labelled ordered(const OnnxCall& call, const Labelled& x, const std::string& labels) {
  std::vector<int> order;
  for (const char label : labels) order.push_back(static_cast<int>(x.labels.find(label)));
  return {call.transpose(x.id, order), labels};
}

// Sums over the letters that neither `a` nor `b` has.
Labelled summed(const OnnxCall& call, const Labelled& x, const std::string& a,
                const std::string& b) {
  std::vector<Dim> axes;
  std::string rest;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (has(a, x.labels[i]) || has(b, x.labels[i])) {
      rest += x.labels[i];
    } else {
      axes.emplace_back(static_cast<std::int64_t>(i));
    }
  }
  if (axes.empty()) return x;
  return {call.emit(Kind::Sum, {x.id}, {{Attr::Axes, axes}}), rest};
}

// The tensor as [batch..., rows, columns], each of rows and columns one axis.
TensorId as_matrices(const OnnxCall& call, const Labelled& x, const std::string& batch,
                     const std::string& rows, const std::string& columns) {
  const Labelled turned = ordered(call, x, batch + rows + columns);
  Shape shape;
  for (const char label : batch) shape.push_back(size_of(call, turned, label));
  for (const std::string& part : {rows, columns}) {
    Dim size(1);
    for (const char label : part) size = size * size_of(call, turned, label);
    shape.push_back(size);
  }
  return call.reshape(turned.id, shape);
}

Labelled multiplied(const OnnxCall& call, const Labelled& a, const Labelled& b,
                    const std::string& output) {
  std::string batch;
  std::string rows;
  std::string inner;
  std::string columns;
  for (const char label : a.labels) {
    if (!has(b.labels, label)) rows += label;
    if (has(b.labels, label) && has(output, label)) batch += label;
    if (has(b.labels, label) && !has(output, label)) inner += label;
  }
  for (const char label : b.labels) {
    if (!has(a.labels, label)) columns += label;
  }
  const TensorId left = as_matrices(call, a, batch, rows, inner);
  const TensorId right = as_matrices(call, b, batch, inner, columns);
  const TensorId product = call.emit(Kind::MatMul, {left, right});
  Shape shape;
  for (const char label : batch) shape.push_back(size_of(call, a, label));
  for (const char label : rows) shape.push_back(size_of(call, a, label));
  for (const char label : columns) shape.push_back(size_of(call, b, label));
  return {call.reshape(product, shape), batch + rows + columns};
}

void einsum(const OnnxCall& call, Kind /*kind*/) {
  const std::optional<Equation> equation = parse(call.text("equation", ""));
  if (!equation || call.inputs() > 2) return translate_unknown(call);
  if (static_cast<int>(equation->inputs.size()) != call.inputs()) {
    OnnxCall::fail("the equation names another number of tensors");
  }
  std::vector<Labelled> operands;
  std::string all;
  for (int i = 0; i < call.inputs(); ++i) {
    const std::string& labels = equation->inputs[static_cast<std::size_t>(i)];
    if (static_cast<int>(labels.size()) != call.rank(i)) {
      OnnxCall::fail("the equation does not name every axis");
    }
    operands.push_back({call.weight(i), labels});
    all += labels;
  }
  for (const char label : equation->output) {
    if (!has(all, label)) OnnxCall::fail("the equation's result has an axis that no tensor has");
  }
  const std::string& output = equation->output;
  Labelled result =
      summed(call, operands[0], output, operands.size() > 1 ? operands[1].labels : "");
  if (operands.size() > 1) {
    const Labelled right = summed(call, operands[1], output, operands[0].labels);
    for (const char label : result.labels) {
      if (has(right.labels, label) &&
          !(size_of(call, result, label) == size_of(call, right, label))) {
        return translate_unknown(call);
      }
    }
    result = multiplied(call, result, right, output);
  }
  call.give(0, ordered(call, result, output).id);
}

constexpr std::array kRules{OnnxRule{"Einsum", einsum}};

}  // namespace

std::span<const OnnxRule> onnx_einsum_rules() { return kRules; }

}  // namespace foretrain::importer
