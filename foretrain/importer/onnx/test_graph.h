// SPDX-License-Identifier: Apache-2.0
// What tests ask of graphs that were read from ONNX.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/op.h"
#include "foretrain/importer/onnx.h"
#include "foretrain/importer/onnx/test_file.h"

namespace foretrain::importer::testing {

inline graph::Graph read(const File& file, const graph::Binding& values = {}) {
  return read_onnx(file.bytes(), "test", values);
}

// "Unsupported: test: node ...", or "none".
inline std::string message(const std::string& bytes, const graph::Binding& values = {}) {
  try {
    read_onnx(bytes, "test", values);
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "none";
}
inline std::string message(const File& file, const graph::Binding& values = {}) {
  return message(file.bytes(), values);
}

inline std::vector<graph::Kind> kinds(const graph::Graph& graph) {
  std::vector<graph::Kind> kinds;
  for (const graph::Node& node : graph.nodes) kinds.push_back(node.kind);
  return kinds;
}

inline int count(const graph::Graph& graph, graph::Kind kind) {
  const std::vector<graph::Kind> all = kinds(graph);
  return static_cast<int>(std::count(all.begin(), all.end(), kind));
}

// Of the first output of node n.
inline std::string shape(const graph::Graph& graph, std::size_t n) {
  return to_string(graph.tensor(graph.nodes.at(n).outputs.at(0)).shape, graph.symbols);
}

// Of what the model returns.
inline std::string output(const graph::Graph& graph, std::size_t i = 0) {
  return to_string(graph.tensor(graph.outputs.at(i)).shape, graph.symbols);
}

inline graph::Tensor tensor_named(const graph::Graph& graph, const std::string& name) {
  for (const graph::Tensor& tensor : graph.tensors) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no tensor named " << name;
  return {};
}

inline int count_role(const graph::Graph& graph, graph::Role role) {
  return static_cast<int>(std::count_if(graph.tensors.begin(), graph.tensors.end(),
                                        [=](const graph::Tensor& t) { return t.role == role; }));
}

inline bool has_note(const graph::Graph& graph, const std::string& part) {
  return std::any_of(graph.notes.begin(), graph.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

inline double gemm_flops(const graph::Graph& graph, std::int64_t batch) {
  const graph::Bound bound = bind(graph, {{"batch", batch}});
  double flops = 0;
  for (const graph::Node& node : graph.nodes) flops += graph::work({bound, node}).flops;
  return flops;
}

inline long peak_memory_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// A file that is gone when the test ends.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const std::string& ending = ".onnx") {
    path_ = std::filesystem::temp_directory_path() /
            ("foretrain-onnx-test-" + std::to_string(::getpid()) + ending);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Adds zeros that take no space on the disk.
  void extend(std::uintmax_t bytes) {
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) + bytes);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace foretrain::importer::testing
