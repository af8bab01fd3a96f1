// SPDX-License-Identifier: Apache-2.0
// Whole predictions as data: every file of tests/cases/ is a request with what it must give.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

const std::filesystem::path kCases = "tests/cases";

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Names of files in a case are relative to its folder.
void resolve_files(Json& request) {
  for (const char* key : {"model", "device", "cluster", "network", "intra_node"}) {
    if (request.contains(key) && request[key].is_string() &&
        request[key].get<std::string>().ends_with(".json")) {
      request[key] = (kCases / request[key].get<std::string>()).string();
    }
  }
}

// "memory_bytes.peak" names a value inside objects; a bare estimate stands for its value.
const Json& at_path(const Json& report, const std::string& path) {
  const Json* value = &report;
  std::stringstream keys(path);
  for (std::string key; std::getline(keys, key, '.');) value = &value->at(key);
  return value->is_object() && value->contains("value") ? value->at("value") : *value;
}

TEST(Cases, GiveWhatTheyExpect) {
  const Library library = load_library();
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
    if (!entry.path().string().ends_with(".case.json")) continue;
    ++found;
    SCOPED_TRACE(entry.path().string());
    Json test = parse_json(read(entry.path()), entry.path().string());
    ASSERT_FALSE(test.at("source").get<std::string>().empty());
    resolve_files(test.at("request"));
    const Json& expect = test.at("expect");
    if (expect.contains("error")) {
      try {
        predict(parse_request(json_text(test.at("request")), "case"), library);
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(to_string(error.kind()), expect.at("error").get<std::string>()) << error.what();
      }
      continue;
    }
    const Json report = parse_json(
        to_json(predict(parse_request(json_text(test.at("request")), "case"), library)), "report");
    const double tolerance = expect.at("relative_tolerance").get<double>();
    for (const auto& [path, value] : expect.items()) {
      if (path == "relative_tolerance") continue;
      const Json& actual = at_path(report, path);
      if (value.is_number()) {
        EXPECT_NEAR(actual.get<double>(), value.get<double>(),
                    tolerance * std::abs(value.get<double>()) + 1e-12)
            << path;
      } else {
        EXPECT_EQ(actual, value) << path;
      }
    }
  }
  EXPECT_GE(found, 5);
}

}  // namespace
}  // namespace foretrain
