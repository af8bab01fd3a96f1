// SPDX-License-Identifier: Apache-2.0
// What holds for every request: tried on tests/corpus/requests.jsonl.
#include <gtest/gtest.h>

#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/operators/stages.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

// The corpus has 5,000 requests, 153 of which are refused: 150 as they were drawn (MOST_ERRORS of
// tools/make_corpus.py), 3 where a cloud decides the device, which cannot do the precision; of
// every 25th line, 6 of 200.
#ifdef NDEBUG
constexpr int kEvery = 1;
constexpr int kAnswers = 5000 - 153;
#else
constexpr int kEvery = 25;  // where sanitizers make each one slow
constexpr int kAnswers = 200 - 6;
#endif

TEST(Corpus, TheStepIsWhereTheTimelineEndsAndItsPartsAddUp) {
  std::ifstream file("tests/corpus/requests.jsonl");
  const Library library = load_library();
  std::string line;
  int answered = 0;
  for (int number = 1; std::getline(file, line); ++number) {
    if (number % kEvery != 0) continue;
    SCOPED_TRACE(line);
    try {
      const Resolved resolved = resolve(parse_request(line, "corpus"), library);
      const Question question(resolved, library);
      const Report report = predict(question);
      const double end = operators::stages_of(question).timeline.end.count();
      EXPECT_EQ(report.step_time_s.value, end);
      const Breakdown& parts = report.breakdown;
      const Seconds sum = parts.compute + parts.memory + parts.exposed_communication + parts.host +
                          parts.bubble + parts.input;
      EXPECT_NEAR(sum.count(), end, 1e-9 * end);
      const Phases& phases = report.phases;
      EXPECT_NEAR((phases.forward + phases.backward + phases.update).count(), end, 1e-9 * end);
      ++answered;
    } catch (const Error&) {
      continue;  // a request that is refused
    }
  }
  EXPECT_EQ(answered, kAnswers);
}

}  // namespace
}  // namespace foretrain
