// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace foretrain::importer {

// What an ONNX file says, before it is understood. Names are views of the file's bytes, which
// must outlive these structs. Field names follow onnx.proto.

class OnnxFiles;
struct OnnxGraph;

// TensorProto::DataType, as far as this program tells types apart.
enum class OnnxType : std::uint8_t {
  Undefined = 0,
  Float = 1,
  Uint8 = 2,
  Int8 = 3,
  Uint16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  Uint32 = 12,
  Uint64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  Bfloat16 = 16,
  Last = 63,
};

// An initializer or constant. Its values are kept only when they are few: shapes may depend on
// them. Weights stay in the file.
struct OnnxTensor {
  std::string_view name;
  std::int64_t type = 0;  // OnnxType
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> integers;  // values of a small integer or boolean tensor
  std::vector<double> reals;           // values of a small floating-point tensor
  std::string_view raw;                // where the values lie, if they can be had as they are
  bool uniform = false;                // a vector whose values are all the same
};

struct OnnxAttribute {
  std::string_view name;
  std::string_view refers_to;  // inside a function: the attribute of the call that it takes
  std::optional<std::int64_t> integer;
  std::optional<double> real;
  std::optional<std::string_view> text;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::shared_ptr<const OnnxTensor> tensor;
  std::shared_ptr<const OnnxGraph> graph;
};

struct OnnxNode {
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;  // "" is ONNX's own
  std::string_view overload;
  std::string_view module_path;  // Python list that PyTorch's newer exporter writes; else ""
  std::vector<std::string_view> inputs;  // "" where an optional one is left out
  std::vector<std::string_view> outputs;
  std::vector<OnnxAttribute> attributes;
};

// A dimension is a number, a name, or neither: not known.
struct OnnxDimension {
  std::optional<std::int64_t> value;
  std::string_view name;
};

struct OnnxValueInfo {
  std::string_view name;
  std::string_view torch_kind;  // "PARAMETER", "BUFFER", ... from PyTorch's newer exporter
  std::int64_t type = 0;        // OnnxType of a tensor's elements; 0 for what is no tensor
  std::optional<std::vector<OnnxDimension>> shape;
};

struct OnnxGraph {
  std::string_view name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValueInfo> inputs;
  std::vector<OnnxValueInfo> outputs;
  std::vector<OnnxValueInfo> values;
};

struct OnnxOpset {
  std::string_view domain;
  std::int64_t version = 1;
};

struct OnnxFunction {
  std::string_view domain;
  std::string_view name;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<OnnxAttribute> defaults;
  std::vector<OnnxOpset> opsets;
  OnnxGraph body;  // its nodes and values only
};

struct OnnxModel {
  std::int64_t ir_version = 0;
  std::string_view producer;
  std::vector<OnnxOpset> opsets;
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;
  OnnxFiles* files = nullptr;  // that weights are read from where they must be looked at
  std::size_t nodes = 0;       // in all graphs and functions
  std::size_t entries = 0;     // of all lists
};

inline constexpr std::size_t kMostOnnxNodes = 1'000'000;
// The most values of a tensor that are kept and computed with.
inline constexpr std::size_t kMostOnnxValues = 1024;

// Reads the structure of an ONNX file; large tensors are skipped without being read, so a file of
// many gigabytes costs little. Throws Error(BadInput) where it is damaged or
// beyond the limits of docs/onnx.md; the message does not name the file. `files` must outlive
// the model.
OnnxModel parse_onnx(std::string_view content, OnnxFiles& files);

}  // namespace foretrain::importer
