// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

constexpr const char* kSteps =
    R"({"request": {"model": "alexnet", "device": "t4", "batch": 8}, "step_time_s": 0.05})";

TEST(FitCommand, EveryPartHasHelpWithAnExample) {
  for (const char* part : {"operators", "collectives", "calibration", "intervals", "framework",
                           "inspector", "scaling", "embedding"}) {
    const Outcome outcome = run_program({"fit", part, "--help"});
    EXPECT_EQ(outcome.code, 0) << part;
    EXPECT_NE(outcome.out.find(std::string("  foretrain fit ") + part), std::string::npos) << part;
  }
}

// `transfer` is run by the same program.
TEST(FitCommand, TransferHasHelpAndRefusesWhatIsNoInspector) {
  const Outcome help = run_program({"transfer", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("  foretrain transfer "), std::string::npos);
  EXPECT_NE(help.out.find("Usage: foretrain transfer "), std::string::npos) << help.out;
  const TemporaryFile steps("transfer_steps.jsonl", kSteps);
  const Outcome refused =
      run_program({"transfer", steps.path(), "--data", steps.path(), "--setting", "a", "-o", "-"});
  EXPECT_EQ(refused.code, 2) << refused.err;
}

TEST(FitCommand, SaysWhatItFoundAndWritesIt) {
  const TemporaryFile steps("fit_steps.jsonl", kSteps);
  const TemporaryFile found("fit_found.json", "");
  const Outcome outcome =
      run_program({"fit", "calibration", "--data", steps.path(), "-o", found.path()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("t4 by 1 measured steps"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("written: " + found.path()), std::string::npos) << outcome.out;
  EXPECT_EQ(parse_json(read_text(found.path()), "found").at("device"), "t4");
}

// A predictor on standard output can be read by the next program.
TEST(FitCommand, APredictorOnStandardOutputIsAlone) {
  const TemporaryFile steps("fit_alone.jsonl", kSteps);
  const Outcome outcome = run_program({"fit", "calibration", "--data", steps.path(), "-o", "-"});
  EXPECT_EQ(parse_json(outcome.out, "standard output").at("device"), "t4");
}

// Where constants were before they were fitted: `fit` reads that file, no prediction does.
TEST(FitCommand, PriorConstantsAreNotInTheProgram) {
  const std::string program = read_text(std::getenv("FORETRAIN_PROGRAM"));
  EXPECT_NE(program.find("predictors/operators.json"), std::string::npos);
  EXPECT_EQ(program.find("_prior.json"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::cli
