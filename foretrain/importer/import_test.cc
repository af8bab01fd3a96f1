// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/import.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <streambuf>

#include "foretrain/base/error.h"
#include "foretrain/importer/onnx/test_file.h"

namespace foretrain::importer {
namespace {

constexpr const char* kGraph =
    R"({"format": "foretrain-graph", "version": 1, "name": "m", "nodes": []})";

// A folder of its own, gone afterwards.
class ImportModel : public ::testing::Test {
 protected:
  ImportModel()
      : folder_(std::filesystem::temp_directory_path() /
                ("foretrain_import_" +
                 std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~ImportModel() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

std::string problem(const std::filesystem::path& file) {
  try {
    import_model(file);
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find(file.filename().string()), std::string::npos) << what;
    return std::string(to_string(error.kind())) + what.substr(what.rfind("': ") + 1);
  }
  return "none";
}

TEST_F(ImportModel, ReadsAGraphWhateverItsName) {
  EXPECT_EQ(import_model(file("m.ftg.json", kGraph)).name, "m");
  EXPECT_EQ(import_model(file("m.onnx", std::string("\n \t") + kGraph)).name, "m");
}

TEST_F(ImportModel, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(problem(folder() / "none.onnx"), "Io: there is no such file");
  EXPECT_EQ(problem(folder()), "BadInput: is a folder");
  EXPECT_EQ(problem(file("empty.json", "")), "BadInput: is empty");
  EXPECT_EQ(problem(file("blank.json", " \n")), "BadInput: is empty");
  EXPECT_EQ(
      problem(file("text.txt", "hello")),
      "BadInput: is not a model file: neither ONNX nor .ftg.json, which begins with '{'; use "
      ".onnx, or .ftg.json as Python's foretrain.from_torch(module, inputs).save() writes it");
}

// The first bytes of each format, as their writers leave them.
TEST_F(ImportModel, RecognisesFormatsThatItDoesNotReadYet) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {std::string("\x08\x01\x12\x99\x01", 5) + std::string(16, 'x'), "a TensorFlow SavedModel"},
      {std::string("\x0a\x1d\x0a\x05input\x12\x0bPlaceholder", 22), "a TensorFlow GraphDef"},
      {"node {\n  name: \"x\"\n}", "a TensorFlow GraphDef as text"},
      {"PK\x03\x04rest", "a PyTorch archive"},
      {std::string("\x80\x02}q", 4), "a Python pickle"},
      {"\x89HDF\r\n", "a Keras HDF5 file"},
  };
  for (const auto& [content, format] : cases) {
    EXPECT_EQ(problem(file("model.bin", content)),
              "Unsupported: this looks like " + format +
                  ", which cannot be read yet; use .onnx, or .ftg.json as Python's "
                  "foretrain.from_torch(module, inputs).save() writes it");
  }
  EXPECT_EQ(problem(file("config.json", R"({"model_type": "bert", "hidden_size": 768})")),
            "Unsupported: this looks like a Hugging Face config.json, which is read from a file of "
            "its own");
  std::filesystem::create_directories(folder() / "saved");
  file("saved/saved_model.pb", "x");
  EXPECT_EQ(problem(folder() / "saved"),
            "Unsupported: this looks like a TensorFlow SavedModel, which cannot be read yet; use "
            ".onnx");
}

// 'x' without end, as `cat /dev/zero |` brings.
class Endless : public std::streambuf {
 protected:
  int_type underflow() override {
    setg(buffer_.data(), buffer_.data(), buffer_.data() + buffer_.size());
    return traits_type::to_int_type(buffer_.front());
  }

 private:
  std::string buffer_ = std::string(4096, 'x');
};

TEST(ReadContent, OfAStreamEndsWhereItIsNoModel) {
  Endless endless;
  std::istream stream(&endless);
  EXPECT_LE(read_content(stream, "test").size(), std::size_t{1} << 16);
  std::istringstream json(std::string(" ") + kGraph);
  EXPECT_EQ(read_content(json, "test"), std::string(" ") + kGraph);
}

TEST_F(ImportModel, ReadsOnnxByItsContent) {
  const std::string onnx =
      testing::File().input("x", {"batch", "seq"}).run("Relu", {"x"}, {"y"}).output("y").bytes();
  const std::filesystem::path path = file("model.bin", onnx);
  EXPECT_EQ(import_model(path).symbols.size(), 2U);
  EXPECT_EQ(import_model(path, "seq=128").tensors[0].shape, (graph::Shape{graph::symbol(0), 128}));
  EXPECT_EQ(read_model(onnx, "upload").nodes.size(), 1U);
  EXPECT_EQ(problem(file("cut.onnx", onnx.substr(0, 20))),
            "BadInput: a field ends beyond its message at byte 10; the file is cut off, damaged or "
            "not ONNX");
  for (const char* wrong : {"seq", "seq=", "seq=a", "=3", "seq=1,,"}) {
    EXPECT_THROW(import_model(path, wrong), Error) << wrong;
  }
}

TEST_F(ImportModel, NamesFileAndPlaceOfAMistake) {
  try {
    import_model(file("m.ftg.json", std::string(kGraph).substr(0, 30)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("file '")) << what;
    EXPECT_NE(what.find("m.ftg.json': line 1, column"), std::string::npos) << what;
  }
}

TEST(SplitParameters, BeginsBehindAnExtension) {
  const auto split = [](const char* model) {
    const FileModel parts = split_parameters(model);
    return parts.file + "|" + parts.parameters;
  };
  EXPECT_EQ(split("config.json:seq=2048,head=qa"), "config.json|seq=2048,head=qa");
  EXPECT_EQ(split("c:\\a:b\\config.json:seq=2048"), "c:\\a:b\\config.json|seq=2048");
  EXPECT_EQ(split("folder/m.onnx"), "folder/m.onnx|");
  EXPECT_EQ(split("resnet50:image=224"), "resnet50:image=224|");
  EXPECT_EQ(split("config.json:"), "config.json|");
}

TEST(LooksLikeFile, GoesByTheTextAlone) {
  for (const char* file :
       {"m.onnx", "m.pb", "m.pbtxt", "m.ftg.json", "config.json", "./resnet50", "models/resnet50",
        "/saved_model", "saved_model/", "c:\\m.onnx", "config.json:seq=2048"}) {
    EXPECT_TRUE(looks_like_file(file)) << file;
  }
  for (const char* name : {"resnet50", "resnet50:image=224,classes=1000", "gpt:layers=24", "",
                           "vgg16", "efficientnet_b0", "squeezenet1_1", "mnasnet0_5"}) {
    EXPECT_FALSE(looks_like_file(name)) << name;
  }
}

}  // namespace
}  // namespace foretrain::importer
