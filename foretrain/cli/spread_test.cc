// SPDX-License-Identifier: Apache-2.0
// The protocol of docs/ray.md, driven by hand: what is listed, done and finished is what the
// command prints by itself.
#include "foretrain/cli/spread.h"

#include <gtest/gtest.h>

#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

using Words = std::vector<std::string>;

std::string said(Words words, const std::string& input = "") {
  const Outcome outcome = run_program(words, input);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string in_pieces(const Words& words) {
  const std::string list = said(with(words, {"--work", "list"}));
  std::string results;
  for (std::size_t at = 0; at < list.size();) {  // line by line
    const std::size_t end = list.find('\n', at) + 1;
    results += said(with(words, {"--work", "do"}), list.substr(at, end - at));
    at = end;
  }
  return said(with(words, {"--work", "finish"}), results);
}

TEST(Spread, SweepsAreTheSameInPieces) {
  // Generated jobs differ by seed; what gittins learns from is always of the first.
  const Words sweep{"simulate",  "generate:jobs=40,load=1.2",
                    "--cluster", "2x4",
                    "--sweep",   "fifo,gittins",
                    "--seeds",   "2",
                    "--seed",    "5"};
  EXPECT_EQ(in_pieces(sweep), said(sweep));
  EXPECT_EQ(in_pieces(with(sweep, {"--json"})), said(with(sweep, {"--json"})));
}

TEST(Spread, EvaluationsAreTheSameInPieces) {
  const TemporaryFile steps("steps.jsonl",
                            R"({"request":{"model":"mlp","device":"t4"},"step_time_s":0.1}
{"request":{"model":"mlp","device":"t4","batch":8},"step_time_s":0.2}
{"request":{"model":"nothing","device":"t4"},"step_time_s":0.3}
{"request":{"model":"mlp","device":"t4"},"step_time_s":0.4}
)");
  const Words words{"evaluate", "--data", steps.path()};
  EXPECT_EQ(in_pieces(words), said(words));
  EXPECT_EQ(in_pieces(with(words, {"--json"})), said(with(words, {"--json"})));
  EXPECT_EQ(said(with(words, {"--work", "finish"})), said(words));  // nothing was done elsewhere
}

// Three requests, the second of which is line 8 of the whole.
TEST(Spread, AnswersCallLinesByTheirNumberInTheWhole) {
  const std::string lines = "{\"model\":\"mlp\",\"device\":\"t4\"}\n{\n";
  const std::string whole = said({"predict", "--requests", "-"}, std::string(6, '\n') + lines);
  const std::string part = said({"predict", "--requests", "-", "--first-line", "7"}, lines);
  EXPECT_EQ(whole.substr(whole.size() - part.size()), part);
  EXPECT_NE(part.find("line 8"), std::string::npos);
}

TEST(Spread, RefusesWhatCannotBeSpread) {
  const auto refusal = [](const Words& words) { return run_program(words).err; };
  EXPECT_NE(refusal({"predict", "mlp", "--device", "t4", "--on", "local"})
                .find("--on spreads the lines of --requests"),
            std::string::npos);
  EXPECT_NE(refusal({"simulate", "generate:jobs=2", "--cluster", "1x1", "--on", "local"})
                .find("--sweep and --seeds"),
            std::string::npos);
  EXPECT_NE(refusal({"evaluate", "--data", "x", "--calibrate", "3", "--on", "local"})
                .find("leave out --resources and --calibrate"),
            std::string::npos);
}

TEST(Spread, SaysWhatIsMissingWhereThereIsNoPython) {
  const Outcome none = run_program({"predict", "--requests", "-", "--on", "local"}, "",
                                   {"FORETRAIN_RAY_PYTHON=/no/such/python"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("FORETRAIN_RAY_PYTHON"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace foretrain::cli
