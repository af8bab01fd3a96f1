// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/benchmarks.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/lab/detail/machine.h"
#include "foretrain/lab/test_worker.h"

namespace foretrain::lab {
namespace {

// Every model has the same ten linear layers, at batch 1 and 2 of other shapes. They are timed at
// 1 s each but for the widths in WIDE, which cannot be, and FATAL, which end the job.
const char* const kOperators = R"(
WIDE, FATAL = [], []
def answer(job):
    if job["kind"] == "list_operators":
        return {"operators": [{"op": "linear", "shapes": [[job["batch"], n]], "types": ["f32"]}
                              for n in range(10)]}
    rows, skipped = [], []
    for one in job["operators"]:
        width = one["shapes"][0][1]
        if width in FATAL:
            raise ValueError("out of memory")
        if width in WIDE:
            skipped.append("too wide")
            continue
        rows.append({"kind": one["op"], "shapes": str(one["shapes"]), "attributes": "{}",
                     "dtype": "f32", "direction": "forward", "time_s": 1, "spread_s": 0,
                     "repeats": 5})
    return {"rows": rows, "skipped": skipped}
)";

struct Seen {
  std::vector<std::size_t> rows;
  std::vector<double> shares;
};

Timings<store::Operator> time_with(const std::string& code, Seen& seen) {
  OperatorPlan plan;
  plan.models = {"mlp", "lstm-lm"};
  plan.batches = {1, 2};
  const FakeWorker worker(code);
  Hosts hosts(FakeWorker::hosts(1));
  return time_operators(plan, worker.options(), hosts, [&](const Part<store::Operator>& part) {
    seen.rows.push_back(part.rows.size());
    seen.shares.push_back(part.share);
  });
}

// Two batches of ten operators, whatever the model: 20, told of in parts of 8, 8 and 4 after the
// start.
TEST(TimeOperators, TimesEachOnceAndTellsOfParts) {
  Seen seen;
  const auto timings = time_with(kOperators, seen);
  EXPECT_EQ(timings.rows.size(), 20U);
  EXPECT_EQ(seen.rows, (std::vector<std::size_t>{0, 8, 8, 4}));
  EXPECT_EQ(seen.shares, (std::vector<double>{0, 0.4, 0.8, 1}));
  EXPECT_EQ(timings.machine.id, machine_id("fake", "toy"));
  EXPECT_EQ(timings.rows[0].machine, timings.machine.id);
}

TEST(TimeOperators, SaysWhatIsSkipped) {
  Seen seen;
  const auto timings = time_with(std::string(kOperators) + "WIDE = [3]\n", seen);
  EXPECT_EQ(timings.rows.size(), 18U);
  EXPECT_EQ(timings.skipped, (std::vector<std::string>{"too wide", "too wide"}));
}

// The tenth operator is in the second part: the first had been told of.
TEST(TimeOperators, HasToldOfWhatWasTimedBeforeAFailure) {
  Seen seen;
  EXPECT_THROW(time_with(std::string(kOperators) + "FATAL = [9]\n", seen), Error);
  EXPECT_EQ(seen.rows, (std::vector<std::size_t>{0, 8}));
}

TEST(TimeOperators, RefusesABadPlan) {
  const FakeWorker worker(kOperators);
  Hosts hosts(FakeWorker::hosts(1));
  OperatorPlan plan;
  plan.lines = "\n{\"op\": \"relu\", \"shapes\": [[1]], \"types\": []}\n";
  try {
    time_operators(plan, worker.options(), hosts, {});
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
  }
}

// Rank r takes 1 + r seconds, but rank 0 takes 5 s for 8 bytes: the slowest counts, 2 s and 5 s.
TEST(TimeCollectives, TakeAsLongAsTheSlowestRank) {
  const FakeWorker worker(R"(
def answer(job):
    rows = [{"kind": job["kinds"][0], "backend": "gloo", "bytes": size, "spread_s": 0, "repeats": 3,
             "time_s": 5 if size == 8 and job["rank"] == 0 else 1 + job["rank"]}
            for size in job["sizes"]]
    return {"rows": rows, "skipped": []}
)");
  CollectivePlan plan;
  plan.kinds = {"all_reduce", "broadcast"};
  plan.sizes = {4, 8};
  Hosts hosts(FakeWorker::hosts(2));
  std::vector<double> shares;
  const auto timings =
      time_collectives(plan, worker.options(), hosts,
                       [&](const Part<store::Collective>& part) { shares.push_back(part.share); });
  ASSERT_EQ(timings.rows.size(), 4U);
  EXPECT_EQ(timings.rows[0].time_s, 2);
  EXPECT_EQ(timings.rows[1].time_s, 5);
  EXPECT_EQ(timings.rows[2].kind, "broadcast");
  EXPECT_EQ(timings.rows[2].nodes, 2);
  EXPECT_EQ(shares, (std::vector<double>{0, 0.5, 1}));
}

}  // namespace
}  // namespace foretrain::lab
