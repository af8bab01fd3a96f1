// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/library.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

// A note may name any format; the field "format" alone decides.
TEST(Predictor, IsWhatItsFormatFieldSays) {
  const std::string note = "beside a file of foretrain-calibration and foretrain-frameworks";
  const comm::Constants constants = *load_library().collectives;
  const std::string text = comm::write_constants(constants, std::span(&note, 1));
  const Predictor predictor = parse_predictor(text, "file");
  EXPECT_TRUE(predictor.collectives);
  EXPECT_FALSE(predictor.calibration);
  EXPECT_TRUE(predictor.frameworks.empty());
}

TEST(Predictor, OfAnUnknownFormatIsRefused) {
  const auto refused = [](const char* text) {
    try {
      parse_predictor(text, "file");
    } catch (const Error& error) {
      return error.kind() == ErrorKind::BadInput;
    }
    return false;
  };
  EXPECT_TRUE(refused(R"({"format": "foretrain-operator", "version": 1})"));
  EXPECT_TRUE(refused(R"({"note": "foretrain-operators"})"));
  EXPECT_TRUE(refused("foretrain-operators"));
}

}  // namespace
}  // namespace foretrain
