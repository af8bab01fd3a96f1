// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/external.h"

#include <gtest/gtest.h>

#include "foretrain/importer/onnx/test_graph.h"

namespace foretrain::importer {
namespace {

using namespace testing;  // NOLINT: this file is about files
using graph::Graph;

std::string entry(const std::string& key, const std::string& value) {
  return text(13, text(1, key) + text(2, value));
}

std::string elsewhere(const std::string& tensor, const std::string& location,
                      const std::string& offset, const std::string& length) {
  return tensor + entry("location", location) + entry("offset", offset) + entry("length", length) +
         number(14, 1);
}

// Reshapes x, [batch, 6], by a list of two numbers that lies in another file behind eight bytes;
// the weight, 6 * 5, is said to lie there too.
File reshape(const std::string& location) {
  return File()
      .input("x", {"batch", 6})
      .stored(elsewhere(tensor("shape", kInt64, {2}), location, "8", "16"))
      .stored(elsewhere(tensor("w", kFloat, {6, 5}), location, "4096", "120"))
      .run("Reshape", {"x", "shape"}, {"r"}, {}, "reshape")
      .run("MatMul", {"r", "w"}, {"y"})
      .output("y");
}

const std::string kUnknown = "node 'reshape' (Reshape): input 1 ('shape') is not known";

std::string message_of(const std::filesystem::path& file) {
  try {
    read_onnx(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(OnnxExternal, ConstantsAreReadWeightsNeedNotBeThere) {
  const TemporaryFile beside(raw(Numbers{7, -1, 6}), ".data");
  const TemporaryFile file(reshape(beside.path().filename().string()).bytes());
  const Graph graph = read_onnx(file.path());
  EXPECT_EQ(output(graph), "[batch, 5]");
  EXPECT_EQ(graph::parameter_count(graph), 30);
}

TEST(OnnxExternal, AFileThatEndsTooEarlyHasNoValues) {
  const TemporaryFile beside(raw(Numbers{7, -1}), ".data");
  const TemporaryFile file(reshape(beside.path().filename().string()).bytes());
  EXPECT_NE(message_of(file.path()).find(kUnknown), std::string::npos);
}

TEST(OnnxExternal, FilesOutsideTheFolderAreNotLookedAt) {
  const TemporaryFile beside(raw(Numbers{7, -1, 6}), ".data");
  const std::string name = beside.path().filename().string();
  const std::string folder = beside.path().parent_path().filename().string();
  for (const std::string& location : {beside.path().string(), "../" + folder + "/" + name,
                                      std::string("missing"), std::string(".")}) {
    const TemporaryFile file(reshape(location).bytes());
    EXPECT_NE(message_of(file.path()).find(kUnknown), std::string::npos) << location;
  }
}

TEST(OnnxExternal, ContentInMemoryHasNoFilesBesideIt) {
  const TemporaryFile beside(raw(Numbers{7, -1, 6}), ".data");
  EXPECT_NE(message(reshape(beside.path().filename().string())).find(kUnknown), std::string::npos);
}

}  // namespace
}  // namespace foretrain::importer
