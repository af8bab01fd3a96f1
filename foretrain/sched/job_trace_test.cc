// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/job_trace.h"

#include <gtest/gtest.h>

#include <sstream>

#include "foretrain/base/error.h"

namespace foretrain::sched {
namespace {

JobTrace read(const std::string& text) {
  std::istringstream in(text);
  return read_job_trace(in, "trace t");
}

std::string problem_of(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "nothing";
}

void expect_problem(const std::string& text, const std::string& part) {
  const std::string message = problem_of(text);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(JobTrace, OurCsvIsSortedAndCountsFromTheFirstSubmission) {
  const JobTrace trace = read(
      "job,submit_s,duration_s,devices,device,user,priority,deadline_s,request\n"
      "late,30,5,2,t4,me,3,60,\n"
      "early,10.5,1e2,1,,,,,\"{\"\"model\"\": \"\"mlp\"\"}\"\n");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.format, "csv");
  EXPECT_EQ(trace.jobs[0].name, "early");
  EXPECT_EQ(trace.jobs[0].id, 0);
  EXPECT_EQ(trace.jobs[0].submit, Seconds{0});
  EXPECT_EQ(*trace.jobs[0].duration, Seconds{100});
  EXPECT_EQ(trace.jobs[0].request, R"({"model": "mlp"})");
  EXPECT_EQ(trace.jobs[1].submit, Seconds{19.5});
  EXPECT_EQ(trace.jobs[1].devices, 2);
  EXPECT_EQ(trace.jobs[1].device, "t4");
  EXPECT_EQ(trace.jobs[1].user, "me");
  EXPECT_EQ(trace.jobs[1].priority, 3);
  EXPECT_EQ(*trace.jobs[1].deadline, Seconds{60});
}

TEST(JobTrace, JobsOfTheSameTimeKeepTheirOrder) {
  const JobTrace trace = read("job,submit_s,duration_s\nb,1,1\na,1,1\n");
  EXPECT_EQ(trace.jobs[0].name, "b");
  EXPECT_EQ(trace.jobs[1].name, "a");
}

TEST(JobTrace, JsonLinesHaveTheSameNames) {
  const JobTrace trace = read(
      "{\"job\": \"x\", \"submit_s\": 3, \"duration_s\": 4, \"devices\": 8}\n\n"
      "{\"submit_s\": 5, \"request\": {\"model\": \"mlp\", \"steps\": 10}}\n");
  EXPECT_EQ(trace.format, "jsonl");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].devices, 8);
  EXPECT_FALSE(trace.jobs[1].duration);
  EXPECT_EQ(trace.jobs[1].request, R"({"model":"mlp","steps":10})");
}

// 2017-10-09 07:01:55 is 3 h 55 s after 04:01:00.
TEST(JobTrace, Philly) {
  const JobTrace trace = read(
      "timestamp,duration,num_gpus,gpu_time,cluster\n"
      "2017-10-09 07:01:55,66.0,4,264.0,11cb48\n2017-10-09 04:01:00,5.0,1,5.0,ee\n");
  EXPECT_EQ(trace.format, "philly");
  EXPECT_EQ(trace.jobs[1].submit, Seconds{3 * 3600 + 55});
  EXPECT_EQ(trace.jobs[1].devices, 4);
  EXPECT_EQ(trace.jobs[1].user, "11cb48");
}

TEST(JobTrace, AlibabaLeavesOutWhatAsksForNoGpu) {
  const JobTrace trace = read(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\n"
      "p0,1,1,1,460,,LS,Running,10,100,20\np1,1,1,0,0,,LS,Running,5,6,5\n"
      "p2,1,1,1,1000,,LS,Pending,5,6,\n");
  EXPECT_EQ(trace.format, "alibaba");
  ASSERT_EQ(trace.jobs.size(), 1U);
  EXPECT_EQ(*trace.jobs[0].duration, Seconds{80});
  EXPECT_EQ(trace.notes.size(), 3U);  // shares of a GPU; two kinds left out
}

TEST(JobTrace, TiresiasInSeconds) {
  const JobTrace trace = read(
      "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
      "7,8,30,133,vgg11,147,23\n");
  EXPECT_EQ(trace.format, "tiresias");
  EXPECT_EQ(trace.jobs[0].name, "7");
  EXPECT_EQ(*trace.jobs[0].duration, Seconds{147});
}

// Milliseconds, rounded down. A batch of 128 in 711 ms of loading is 180 samples per second.
TEST(JobTrace, MuriInMilliseconds) {
  const JobTrace trace = read(
      "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
      "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\n"
      "0,1,0,10,resnet18,128,2999,1,779,711,110,0,1\n1,1,1999,10,a2c,64,5000,1,1,1,1,1,0\n");
  EXPECT_EQ(trace.format, "muri");
  EXPECT_EQ(*trace.jobs[0].duration, Seconds{2});
  EXPECT_EQ(trace.jobs[1].submit, Seconds{1});
  EXPECT_NE(trace.jobs[0].request.find("\"steps\": 10, \"input_rate\": 180.0"), std::string::npos);
  EXPECT_EQ(trace.jobs[1].request, "");  // not in the zoo
}

TEST(JobTrace, PolluxHasRequestsOnly) {
  const JobTrace trace =
      read("name,time,application,num_replicas,batch_size\ncifar10-0,53,cifar10,6,2048\n");
  EXPECT_EQ(trace.format, "pollux");
  EXPECT_FALSE(trace.jobs[0].duration);
  EXPECT_NE(trace.jobs[0].request.find("\"batch\": 341}"), std::string::npos);
}

TEST(JobTrace, ProblemsNameTheLine) {
  expect_problem("", "is empty");
  expect_problem("submit_s,duration_s\n", "no job");
  expect_problem("a,b\n1,2\n", "line 1: no known trace");
  expect_problem("submit_s,submit_s\n1,2\n", "given twice");
  expect_problem("submit_s,duration_s\n1,2\n3\n", "line 3: has 1 fields");
  expect_problem("submit_s,duration_s\n1,two\n", "line 2: 'duration_s' must be a number");
  expect_problem("submit_s,duration_s\n1,nan\n", "line 2");
  expect_problem("submit_s,duration_s\n-1,2\n", "line 2: 'submit_s' must be 0 to");
  expect_problem("submit_s,duration_s\n1,1e300\n", "line 2");
  expect_problem("submit_s,duration_s\n1,\n", "give 'duration_s' or 'request'");
  expect_problem("submit_s,duration_s,devices\n1,2,0\n", "line 2: a job has 1 to");
  expect_problem("submit_s,duration_s,devices\n1,2,0.5\n", "shares of a device");
  expect_problem("submit_s,duration_s\n1,\"2\n", "line 2: the quote");
  expect_problem("timestamp,duration,num_gpus\n2017-13-09 07:01:55,1,1\n", "line 2: 'timestamp'");
  expect_problem("timestamp,duration,num_gpus\n2017-10-09,1,1\n", "line 2: 'timestamp'");
  expect_problem("{\"submit_s\": 1, \"duration_s\": 2}\n{\"submit_s\": 1,\n", "line 2");
  expect_problem("{\"submit_s\": 1, \"duration\": 2}\n", "duration_s");
  expect_problem("name,time,application,num_replicas,batch_size\nx,5,chess,1,2\n", "'chess'");
}

TEST(JobTrace, AMissingFileIsAnIoError) {
  try {
    read_job_trace(std::filesystem::path("/no/such/trace.csv"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Io);
  }
}

}  // namespace
}  // namespace foretrain::sched
