// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/find_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

constexpr const char* kConfig =
    R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128,
        "vocab_size": 100})";

// A file in a folder of its own, gone afterwards.
class FindModel : public testing::Test {
 protected:
  FindModel()
      : folder_(std::filesystem::temp_directory_path() /
                ("foretrain_find_model_" +
                 std::to_string(testing::UnitTest::GetInstance()->random_seed()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FindModel() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(FindModel, ANameOfTheHubIsNoFile) {
  try {
    find_model("meta-llama/Meta-Llama-3-8B");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Io);
    EXPECT_STREQ(error.what(),
                 "file 'meta-llama/Meta-Llama-3-8B': there is no such file; for a model of the "
                 "Hugging Face hub give the path of its config.json");
  }
}

// (100 + 128) 64 + 2 (12 * 64^2 + 13 * 64) + 2 * 64 parameters.
TEST_F(FindModel, BuildsAHuggingFaceConfiguration) {
  const std::string path = file("config.json", kConfig);
  const graph::Graph model = find_model(path);
  EXPECT_EQ(graph::parameter_count(model), 228 * 64 + 2 * (12 * 64 * 64 + 13 * 64) + 2 * 64);
  EXPECT_EQ(model.tensors[0].shape[1], graph::Dim(128));
  EXPECT_EQ(find_model(path + ":seq=32").tensors[0].shape[1], graph::Dim(32));
}

TEST_F(FindModel, NamesTheFileThatIsWrong) {
  const std::string path = file("config.json", R"({"model_type": "gpt2"})");
  try {
    find_model(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "file '" + path + "': the field 'n_layer' is missing");
  }
}

TEST_F(FindModel, OtherFilesTakeNoParameters) {
  const std::string graph = file(
      "m.ftg.json", R"({"format": "foretrain-graph", "version": 1, "name": "m", "nodes": []})");
  EXPECT_EQ(find_model(graph).name, "m");
  EXPECT_THROW(find_model(graph + ":seq=32"), Error);
}

TEST_F(FindModel, ReadsNoFileWhereNoneMayBeRead) {
  EXPECT_THROW(find_model(file("config.json", kConfig) + ":seq=32", false), Error);
  EXPECT_THROW(find_model("config.json:seq=32", false), Error);
}

}  // namespace
}  // namespace foretrain
