// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/workers.h"

#include <gtest/gtest.h>

#include "foretrain/base/json.h"
#include "foretrain/lab/test_worker.h"

namespace foretrain::lab {
namespace {

const char* const kEcho = R"(
import os
def answer(job):
    return {"process": os.getpid()}
)";

std::int64_t process_of(Workers& workers, int host) {
  workers.send(host, R"({"kind": "echo", "job": 1})");
  return parse_json(workers.receive(host, Seconds{60}), "answer").at("process");
}

// Three workers, then a job for two, then one for three: nobody is started again.
TEST(Workers, StayForJobsOfFewerHosts) {
  const FakeWorker worker(kEcho);
  const Hosts hosts(FakeWorker::hosts(3));
  Workers workers(hosts, worker.options());
  workers.ensure(3);
  const std::int64_t first = process_of(workers, 0);
  const std::int64_t last = process_of(workers, 2);
  EXPECT_NO_THROW(workers.ensure(2));
  workers.ensure(3);
  EXPECT_EQ(process_of(workers, 0), first);
  EXPECT_EQ(process_of(workers, 2), last);
}

TEST(Workers, AreStartedWhenAJobNeedsThem) {
  const FakeWorker worker(kEcho);
  const Hosts hosts(FakeWorker::hosts(2));
  Workers workers(hosts, worker.options());
  workers.ensure(1);
  const std::int64_t first = process_of(workers, 0);
  workers.ensure(2);
  EXPECT_EQ(process_of(workers, 0), first);
  EXPECT_NE(process_of(workers, 1), first);
}

}  // namespace
}  // namespace foretrain::lab
