// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/embedding_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/learn/checksum.h"

namespace foretrain::embedding {
namespace {

std::string shipped_text() {
  std::ifstream file("data/embeddings/digits.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The shipped file after a change, its checksum put right.
template <typename Change>
std::string changed(Change change) {
  Json json = parse_json(shipped_text());
  change(json);
  json.erase("checksum");
  json["checksum"] = learn::checksum(json_text(json));
  return json_text(json);
}

void expect_refused(const std::string& text, const std::string& because) {
  try {
    read_embedding(text, "here");
    FAIL() << because;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_TRUE(std::string(error.what()).starts_with("here")) << error.what();
    EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
  }
}

TEST(EmbeddingFile, TheShippedOneIsWholeAndSmall) {
  EXPECT_LT(shipped_text().size(), 500'000U);
  const Embedding read = read_embedding(shipped_text(), "here");
  EXPECT_EQ(read.checksum, shipped_embedding().checksum);
  EXPECT_EQ(read.kinds.front(), "input");
  EXPECT_EQ(read.spread.size(), 2 * read.network.shape.width);
  EXPECT_NO_THROW(read_embedding(changed([](Json&) {}), "here"));
}

TEST(EmbeddingFile, RefusesADamagedFile) {
  const std::string text = shipped_text();
  std::string flipped = text;
  const std::size_t data = text.find("\"data\": \"") + 20;
  flipped[data] = flipped[data] == 'A' ? 'B' : 'A';
  expect_refused(flipped, "checksum");
  expect_refused(text.substr(0, text.size() / 2), "here");
  expect_refused("{}", "no embedding");
}

TEST(EmbeddingFile, RefusesWhatDoesNotFit) {
  expect_refused(changed([](Json& json) { json["width"] = 16; }), "parameter");
  expect_refused(changed([](Json& json) { json["reach"] = 0; }), "reach");
  expect_refused(changed([](Json& json) { json["features"][0] = "other"; }), "version");
  expect_refused(changed([](Json& json) { json["kinds"][0] = "conv"; }), "kinds");
  expect_refused(changed([](Json& json) { json["parameters"].erase(3); }), "parameters");
  expect_refused(changed([](Json& json) { json["parameters"][0]["data"] = "AAAA"; }), "parameter");
  expect_refused(changed([](Json& json) { json["more"] = 1; }), "more");
}

}  // namespace
}  // namespace foretrain::embedding
