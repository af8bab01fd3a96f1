// SPDX-License-Identifier: Apache-2.0
// The messages of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), of which
// the fields that matter here are read. Numbers in the code are those of its fields.
#include <algorithm>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/importer/onnx/model.h"
#include "foretrain/importer/onnx/tensor.h"
#include "foretrain/importer/onnx/wire.h"

namespace foretrain::importer {
namespace {

constexpr int kDeepest = 32;                     // graphs inside attributes of nodes inside graphs
constexpr std::size_t kMostEntries = 8'000'000;  // of all lists together
constexpr std::size_t kMostNumbers = 65'536;     // of an attribute
constexpr std::size_t kMostDims = 1'000;
constexpr std::size_t kLongestName = 4'096;

class Parser {
 public:
  Parser(std::string_view content, OnnxFiles& files) : content_(content), files_(files) {}

  OnnxModel model() {
    OnnxModel model;
    for (WireReader in(content_, content_.data(), &files_); in.next();) {
      switch (in.field()) {
        case 1:
          model.ir_version = in.integer();
          break;
        case 2:
          model.producer = name(in);
          break;
        case 7:
          graph(in.message(), model.graph, 0);
          break;
        case 8:
          add(model.opsets, opset(in.message()), in);
          break;
        case 25:
          add(model.functions, function(in.message()), in);
          break;
        default:
          break;
      }
    }
    model.files = &files_;
    model.nodes = nodes_;
    model.entries = entries_;
    return model;
  }

 private:
  std::string_view name(const WireReader& in) const {
    if (in.place().size() > kLongestName) in.fail("a name is longer than 4096 bytes");
    return in.bytes();
  }

  // Every list counts, so that a small file cannot ask for much memory.
  template <typename Entry>
  void add(std::vector<Entry>& list, Entry entry, const WireReader& in) {
    if (++entries_ > kMostEntries) in.fail("there are more than 8,000,000 entries");
    list.push_back(std::move(entry));
  }

  OnnxOpset opset(WireReader in) const {
    OnnxOpset opset;
    while (in.next()) {
      if (in.field() == 1) opset.domain = domain(in);
      if (in.field() == 2) opset.version = in.integer();
    }
    return opset;
  }

  // "ai.onnx" is another name for ONNX's own operators.
  std::string_view domain(const WireReader& in) const {
    const std::string_view text = name(in);
    return text == "ai.onnx" ? "" : text;
  }

  // The value of the entry of a metadata list when its key is `key`; else "".
  static std::string_view metadata(WireReader in, std::string_view key) {
    std::string_view value;
    bool found = false;
    while (in.next()) {
      if (in.field() == 1) found = in.bytes() == key;
      if (in.field() == 2) value = in.bytes();
    }
    return found ? value : "";
  }

  void graph(WireReader in, OnnxGraph& graph, int depth) {
    if (depth > kDeepest) in.fail("graphs are nested more than 32 deep");
    while (in.next()) {
      switch (in.field()) {
        case 1:
          add_node(in, graph, depth);
          break;
        case 2:
          graph.name = name(in);
          break;
        case 5:
          add(graph.initializers, parse_onnx_tensor(in.message(), files_), in);
          break;
        case 11:
          add(graph.inputs, value_info(in.message()), in);
          break;
        case 12:
          add(graph.outputs, value_info(in.message()), in);
          break;
        case 13:
          add(graph.values, value_info(in.message()), in);
          break;
        case 15:
          add(graph.initializers, parse_onnx_sparse_tensor(in.message(), files_), in);
          break;
        default:
          break;
      }
    }
  }

  void add_node(const WireReader& in, OnnxGraph& graph, int depth) {
    if (++nodes_ > kMostOnnxNodes) in.fail("there are more than 1,000,000 nodes");
    add(graph.nodes, node(in.message(), depth), in);
  }

  OnnxNode node(WireReader in, int depth) {
    OnnxNode node;
    while (in.next()) {
      switch (in.field()) {
        case 1:
          add(node.inputs, name(in), in);
          break;
        case 2:
          add(node.outputs, name(in), in);
          break;
        case 3:
          node.name = name(in);
          break;
        case 4:
          node.op_type = name(in);
          break;
        case 5:
          add(node.attributes, attribute(in.message(), depth), in);
          break;
        case 7:
          node.domain = domain(in);
          break;
        case 8:
          node.overload = name(in);
          break;
        case 9:
          if (node.module_path.empty()) {
            node.module_path = metadata(in.message(), "pkg.torch.onnx.name_scopes");
          }
          break;
        default:
          break;
      }
    }
    return node;
  }

  OnnxAttribute attribute(WireReader in, int depth) {
    OnnxAttribute attribute;
    while (in.next()) {
      switch (in.field()) {
        case 1:
          attribute.name = name(in);
          break;
        case 2:
          attribute.real = in.real();
          break;
        case 3:
          attribute.integer = in.integer();
          break;
        case 4:
          attribute.text = in.bytes();
          break;
        case 5:
          attribute.tensor =
              std::make_shared<const OnnxTensor>(parse_onnx_tensor(in.message(), files_));
          break;
        case 6: {
          auto body = std::make_shared<OnnxGraph>();
          graph(in.message(), *body, depth + 1);
          attribute.graph = std::move(body);
          break;
        }
        case 7:
          in.append_reals(attribute.reals, kMostNumbers);
          break;
        case 8:
          in.append_integers(attribute.integers, kMostNumbers);
          break;
        case 21:
          attribute.refers_to = name(in);
          break;
        default:
          break;
      }
    }
    return attribute;
  }

  OnnxValueInfo value_info(WireReader in) {
    OnnxValueInfo info;
    while (in.next()) {
      switch (in.field()) {
        case 1:
          info.name = name(in);
          break;
        case 2:
          type(in.message(), info);
          break;
        case 4:
          if (info.torch_kind.empty()) {
            info.torch_kind =
                metadata(in.message(), "pkg.torch.export.graph_signature.InputSpec.kind");
          }
          break;
        default:
          break;
      }
    }
    return info;
  }

  // Of a TypeProto, only tensors are looked into.
  void type(WireReader in, OnnxValueInfo& info) {
    while (in.next()) {
      if (in.field() != 1) continue;
      for (WireReader tensor = in.message(); tensor.next();) {
        if (tensor.field() == 1) info.type = tensor.integer();
        if (tensor.field() == 2) info.shape = shape(tensor.message());
      }
    }
  }

  std::vector<OnnxDimension> shape(WireReader in) {
    std::vector<OnnxDimension> dims;
    while (in.next()) {
      if (in.field() != 1) continue;
      if (dims.size() == kMostDims) in.fail("a tensor has more than 1000 dimensions");
      OnnxDimension dim;
      for (WireReader part = in.message(); part.next();) {
        if (part.field() == 1) dim.value = part.integer();
        if (part.field() == 2) dim.name = name(part);
      }
      add(dims, dim, in);
    }
    return dims;
  }

  OnnxFunction function(WireReader in) {
    OnnxFunction function;
    while (in.next()) {
      switch (in.field()) {
        case 1:
          function.name = name(in);
          break;
        case 4:
          add(function.inputs, name(in), in);
          break;
        case 5:
          add(function.outputs, name(in), in);
          break;
        case 7:
          add_node(in, function.body, 0);
          break;
        case 9:
          add(function.opsets, opset(in.message()), in);
          break;
        case 10:
          function.domain = domain(in);
          break;
        case 11:
          add(function.defaults, attribute(in.message(), 0), in);
          break;
        case 12:
          add(function.body.values, value_info(in.message()), in);
          break;
        case 13:
          function.overload = name(in);
          break;
        default:
          break;
      }
    }
    return function;
  }

  std::string_view content_;
  OnnxFiles& files_;
  std::size_t entries_ = 0;
  std::size_t nodes_ = 0;
};

}  // namespace

OnnxModel parse_onnx(std::string_view content, OnnxFiles& files) {
  return Parser(content, files).model();
}

}  // namespace foretrain::importer
