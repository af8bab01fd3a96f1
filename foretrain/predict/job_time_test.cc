// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/job_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

JobEffects effects(double evaluate, double every, double checkpoint, double mtbf, double restart) {
  JobEffects result;
  result.evaluate_s = evaluate;
  if (every > 0) result.checkpoint_every = every;
  result.checkpoint_s = checkpoint;
  if (mtbf > 0) result.mtbf_s = mtbf;
  result.restart_s = restart;
  return result;
}

TEST(JobTime, IsThatOfItsStepsWithoutEffects) {
  const JobTime job = job_time(500, 4, 7, {});
  EXPECT_EQ(job.training, 500);
  EXPECT_EQ(total(job), 507);
}

// 500 s of steps in 3.9 epochs: 3 whole ones are evaluated, 10 s each. Work of 530 s in segments of
// 200, 200 and 130 s: three checkpoints of 5 s, the last at the end.
TEST(JobTime, EvaluatesWholeEpochsAndWritesAtTheEnd) {
  const JobTime job = job_time(500, 3.9, 0, effects(10, 200, 5, 0, 0));
  EXPECT_EQ(job.evaluation, 30);
  EXPECT_EQ(job.checkpoints, 15);
  EXPECT_EQ(total(job), 545);
  // 600 s are three segments, not four.
  EXPECT_EQ(job_time(600, 0, 0, effects(0, 200, 5, 0, 0)).checkpoints, 15);
  EXPECT_EQ(job_time(0.3, 0, 0, effects(0, 0.1, 5, 0, 0)).checkpoints, 15);
}

// Three segments of 200 + 20 s. With M = 220 / ln 2 an attempt fails half of the time, so one
// failure is expected before each segment is done: M (2 - 1) s until then, of which 220 count.
// With R = M ln 1.5 a restart takes M (1.5 - 1) s on average, and 1.5 failures come per segment.
TEST(JobTime, WithFailuresMatchesHandCalculation) {
  const double mtbf = 220 / std::log(2.0);
  const JobTime job = job_time(600, 0, 0, effects(0, 200, 20, mtbf, mtbf * std::log(1.5)));
  EXPECT_NEAR(job.lost_work, 3 * (mtbf - 220), 1e-9);
  EXPECT_NEAR(job.restarts, 3 * mtbf / 2, 1e-9);
  EXPECT_NEAR(job.failures, 4.5, 1e-12);
  EXPECT_NEAR(total(job), 4.5 * mtbf, 1e-9);
}

// One that waits, fails and writes as the model says: a failure after a random time whatever runs.
JobTime played(double work, const JobEffects& effects, std::mt19937_64& random) {
  std::exponential_distribution<double> until_failure(1 / *effects.mtbf_s);
  JobTime job;
  for (double left = work; left > 0;) {
    const double part = std::min(left, effects.checkpoint_every.value_or(work));
    const double segment = part + effects.checkpoint_s;
    const double fails_after = until_failure(random);
    if (fails_after >= segment) {
      left -= part;
      job.training += part;
      job.checkpoints += effects.checkpoint_s;
      continue;
    }
    job.lost_work += fails_after;
    ++job.failures;
    while (true) {
      const double again = until_failure(random);
      job.restarts += std::min(again, effects.restart_s);
      if (again >= effects.restart_s) break;
      ++job.failures;
    }
  }
  return job;
}

// Mean and variance of many numbers.
struct Sample {
  double sum = 0;
  double squares = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  double mean() const { return sum / count; }
  double standard_error() const { return std::sqrt((squares / count - mean() * mean()) / count); }
};

TEST(JobTime, AgreesWithManyPlayedJobs) {
  constexpr int kJobs = 40'000;
  std::mt19937_64 random(11);
  for (const JobEffects& one : {effects(0, 100, 10, 300, 40), effects(0, 100, 10, 80, 60),
                                effects(0, 333, 0, 2000, 500), effects(0, 1000, 50, 700, 0)}) {
    const JobTime expected = job_time(1000, 0, 0, one);
    Sample totals;
    Sample lost;
    Sample restarts;
    Sample failures;
    for (int i = 0; i < kJobs; ++i) {
      const JobTime job = played(1000, one, random);
      totals.add(total(job));
      lost.add(job.lost_work);
      restarts.add(job.restarts);
      failures.add(job.failures);
      EXPECT_NEAR(job.checkpoints, expected.checkpoints, 1e-9);
    }
    EXPECT_LT(totals.standard_error(), 0.005 * total(expected));
    EXPECT_NEAR(totals.mean(), total(expected), 4 * totals.standard_error());
    EXPECT_NEAR(lost.mean(), expected.lost_work, 4 * lost.standard_error());
    EXPECT_NEAR(restarts.mean(), expected.restarts, 4 * restarts.standard_error() + 1e-12);
    EXPECT_NEAR(failures.mean(), expected.failures, 4 * failures.standard_error());
  }
}

TEST(JobTime, GrowsWithItsStepsAndFailures) {
  double before = 0;
  for (double work = 50; work < 2000; work += 50) {
    const double now = total(job_time(work, 0, 0, effects(0, 300, 20, 900, 60)));
    EXPECT_GT(now, before);
    before = now;
  }
  before = total(job_time(1000, 0, 0, effects(0, 300, 20, 0, 0)));
  for (const double mtbf : {1e12, 1e6, 1e4, 1e3, 300.0}) {
    const double now = total(job_time(1000, 0, 0, effects(0, 300, 20, mtbf, 60)));
    EXPECT_GE(now, before * (1 - 1e-12));
    before = now;
  }
}

TEST(JobTime, RefusesAJobThatDoesNotEnd) {
  const auto message = [](const JobEffects& one) -> std::string {
    try {
      job_time(86400, 0, 0, one);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(effects(0, 0, 0, 3600, 0)).find("give 'checkpoint_every'"), std::string::npos);
  EXPECT_NE(message(effects(0, 600, 60, 30, 0)).find("lower 'checkpoint_every'"),
            std::string::npos);
  EXPECT_NE(message(effects(0, 600, 0, 3600, 86400)).find("a restart takes"), std::string::npos);
  EXPECT_EQ(message(effects(0, 600, 60, 3600, 600)), "");
}

Report report(const std::string& fields) {
  static const Library kLibrary = load_library();
  return predict(
      parse_request(R"({"model":"resnet18","device":"t4","batch":8)" + fields + "}", "test"),
      kLibrary);
}

TEST(JobTime, NeedsWhatItsFieldsAreAbout) {
  for (const char* fields :
       {R"(,"evaluate_s":3)", R"(,"steps":9,"checkpoint_s":3)", R"(,"steps":9,"restart_s":3)"}) {
    EXPECT_THROW(report(fields), Error) << fields;
  }
  const Report endless = report(R"(,"checkpoint_every":60,"mtbf_s":3600)");
  EXPECT_FALSE(endless.total_time_s);
  EXPECT_FALSE(endless.warnings.empty());
}

TEST(JobTime, OfAReportAddsUpAndMovesTheIntervalToo) {
  const std::string length = R"(,"samples":80000,"epochs":2,"price_per_device_hour":1)";
  const Report plain = report(length);
  const Report hit =
      report(length + R"(,"evaluate_s":30,"checkpoint_every":300,"checkpoint_s":10,)" +
             R"("mtbf_s":4000,"restart_s":120)");
  EXPECT_FALSE(plain.job_time);
  ASSERT_TRUE(hit.job_time && hit.total_time_s && hit.total_time_s->high && hit.total_time_s->low);
  EXPECT_DOUBLE_EQ(total(*hit.job_time), hit.total_time_s->value);
  EXPECT_DOUBLE_EQ(hit.job_time->training, plain.total_time_s->value);
  EXPECT_DOUBLE_EQ(hit.epoch_time_s->value, plain.epoch_time_s->value + 30);
  EXPECT_EQ(hit.step_time_s.value, plain.step_time_s.value);
  EXPECT_LT(*hit.total_time_s->low, hit.total_time_s->value);
  EXPECT_GT(*hit.total_time_s->high, hit.total_time_s->value);
  EXPECT_DOUBLE_EQ(hit.cost_usd->value, hit.total_time_s->value / 3600);
}

}  // namespace
}  // namespace foretrain
