// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/files.h"

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

// The folder has a link to a file beside the folder.
TEST(OnnxExternal, LinksOutOfTheFolderAreNotFollowed) {
  const TemporaryFile outside(raw(Numbers{7, -1, 6}), ".data");
  namespace fs = std::filesystem;
  const fs::path folder = outside.path().string() + ".folder";
  fs::create_directory(folder);
  fs::create_symlink(outside.path(), folder / "link");
  std::ofstream(folder / "m.onnx", std::ios::binary) << reshape("link").bytes();
  EXPECT_NE(message_of(folder / "m.onnx").find(kUnknown), std::string::npos);
  fs::copy_file(outside.path(), folder / "inside");
  fs::remove(folder / "link");
  fs::create_symlink("inside", folder / "link");
  EXPECT_EQ(message_of(folder / "m.onnx"), "none");
  fs::remove_all(folder);
}

// A link, an absolute path and one through `..` lead into the folder that the user names, and into
// no other.
TEST(OnnxExternal, FilesOfTheFolderThatTheUserNamesAreRead) {
  const TemporaryFile outside(raw(Numbers{7, -1, 6}), ".data");
  namespace fs = std::filesystem;
  const fs::path root = outside.path().string() + ".root";
  fs::create_directories(root / "model");
  fs::create_directories(root / "data/deep");
  fs::create_directories(root / "other");
  fs::copy_file(outside.path(), root / "data/deep/x");
  fs::create_symlink(root / "data/deep/x", root / "model/link");
  const fs::path model = root / "model/m.onnx";
  for (const std::string& location :
       {std::string("link"), (root / "data/deep/x").string(), std::string("../data/deep/x")}) {
    std::ofstream(model, std::ios::binary) << reshape(location).bytes();
    EXPECT_THROW(read_onnx(model), Error) << location;
    EXPECT_THROW(read_onnx(model, {}, root / "other"), Error) << location;
    EXPECT_EQ(output(read_onnx(model, {}, root / "data")), "[batch, 5]") << location;
  }
  // What the external folder has a link to lies elsewhere.
  fs::create_symlink(outside.path(), root / "data/out");
  std::ofstream(model, std::ios::binary) << reshape("../data/out").bytes();
  EXPECT_THROW(read_onnx(model, {}, root / "data"), Error);
  EXPECT_THROW(read_onnx(model, {}, root / "none"), Error);
  EXPECT_THROW(read_onnx(model, {}, model), Error);  // no folder
  fs::remove_all(root);
}

// As Hugging Face's library keeps files.
TEST(OnnxExternal, LinksOfAHuggingFaceCacheAreFollowed) {
  const TemporaryFile root("", ".cache");
  namespace fs = std::filesystem;
  const fs::path model = root.path().string() + ".d/models--a--b";
  fs::create_directories(model / "blobs");
  fs::create_directories(model / "snapshots/1/onnx");
  std::ofstream(model / "blobs/1234", std::ios::binary) << reshape("m.data").bytes();
  std::ofstream(model / "blobs/5678", std::ios::binary) << raw(Numbers{7, -1, 6});
  fs::create_symlink("../../../blobs/1234", model / "snapshots/1/onnx/m.onnx");
  fs::create_symlink("../../../blobs/5678", model / "snapshots/1/onnx/m.data");
  EXPECT_EQ(message_of(model / "snapshots/1/onnx/m.onnx"), "none");
  fs::remove_all(model.parent_path());
}

// Cut off between opening and reading, which ended a program that had mapped the file.
TEST(SparseFile, SaysThatTheFileHasBecomeShorter) {
  const TemporaryFile file(std::string(1 << 20, 'x'), ".data");
  SparseFile sparse(file.path());
  const std::string_view content = sparse.content();
  sparse.load(content.substr(0, 5));
  EXPECT_EQ(content.substr(0, 5), "xxxxx");
  std::filesystem::resize_file(file.path(), 10);
  EXPECT_EQ(content.substr(0, 5), "xxxxx");
  EXPECT_THROW(sparse.load(content.substr(500'000, 5)), Error);
}

TEST(OnnxExternal, ContentInMemoryHasNoFilesBesideIt) {
  const TemporaryFile beside(raw(Numbers{7, -1, 6}), ".data");
  EXPECT_NE(message(reshape(beside.path().filename().string())).find(kUnknown), std::string::npos);
}

}  // namespace
}  // namespace foretrain::importer
