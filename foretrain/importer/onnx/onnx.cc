// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx.h"

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/importer/import.h"
#include "foretrain/importer/onnx/files.h"
#include "foretrain/importer/onnx/import.h"

namespace foretrain::importer {
namespace {

graph::Graph read(std::string_view content, const std::string& where, const graph::Binding& values,
                  OnnxFiles& files) {
  try {
    if (content.empty()) throw Error(ErrorKind::BadInput, "is empty");
    return translate_onnx(parse_onnx(content, files), values);
  } catch (const Error& error) {
    throw Error(error.kind(), printable(where, 200) + ": " + error.what());
  }
}

}  // namespace
// ModelProto begins with ir_version (field 1, a small varint), then producer, graph or opset.
bool is_onnx(std::string_view content) {
  if (content.size() < 3 || content[0] != 0x08) return false;
  constexpr std::string_view kNext = "\x12\x1a\x22\x28\x32\x3a\x42";
  return content[1] > 1 && content[1] < 64 && kNext.find(content[2]) != std::string_view::npos;
}

graph::Graph read_onnx(const std::filesystem::path& file, const graph::Binding& values,
                       const std::filesystem::path& external) {
  OnnxFiles files(file, external);
  graph::Graph graph = read(files.content(), named(file), values, files);
  graph.name = file.stem().string();
  return graph;
}

graph::Graph read_onnx(std::string_view content, const std::string& where,
                       const graph::Binding& values) {
  OnnxFiles none;
  return read(content, where, values, none);
}

}  // namespace foretrain::importer
