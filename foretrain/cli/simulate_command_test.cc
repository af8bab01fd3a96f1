// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/json.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

// On one device: a runs 0 to 10, or is stopped by b (1 to 4) under srtf and ends at 13.
constexpr const char* kTrace = "job,submit_s,duration_s,devices\na,0,10,1\nb,1,3,1\n";

Json simulate(const std::string& trace, std::vector<std::string> options) {
  const TemporaryFile file("trace.csv", trace);
  options.insert(options.begin(), {"simulate", file.path()});
  options.emplace_back("--json");
  const Outcome outcome = run_program(options);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return parse_json(outcome.out);
}

void expect_refusal(const std::string& trace, std::vector<std::string> options, int code,
                    const std::string& part) {
  const TemporaryFile file("trace.csv", trace);
  options.insert(options.begin(), {"simulate", file.path()});
  const Outcome outcome = run_program(options);
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

TEST(Simulate, PrintsTheFiguresOfTheInterface) {
  const Json fifo = simulate(kTrace, {"--cluster", "1x1", "--policy", "fifo"});
  EXPECT_EQ(fifo["policy"], "fifo");
  EXPECT_EQ(fifo["jobs"], 2);
  EXPECT_EQ(fifo["completed"], 2);
  EXPECT_EQ(fifo["jct_s"]["mean"], 11);  // 10 and 12
  EXPECT_EQ(fifo["queue_s"]["mean"], 4.5);
  EXPECT_EQ(fifo["makespan_s"], 13);
  EXPECT_EQ(fifo["device_utilisation"], 1);
  EXPECT_EQ(fifo["preemptions"], 0);
  const Json srtf = simulate(kTrace, {"--cluster", "1x1", "--policy", "srtf"});
  EXPECT_EQ(srtf["jct_s"]["mean"], 8);  // 13 and 3
  EXPECT_EQ(srtf["preemptions"], 1);
}

TEST(Simulate, WritesALinePerJobAndPerEvent) {
  const TemporaryFile file("trace.csv", kTrace);
  const std::vector<std::string> common = {"simulate", file.path(), "--cluster",
                                           "1x1",      "--policy",  "srtf"};
  std::vector<std::string> jobs = common;
  jobs.insert(jobs.end(), {"--jobs", "-"});
  EXPECT_EQ(run_program(jobs).out,
            "job,submit_s,start_s,end_s,devices,queue_s,jct_s,preemptions\n"
            "b,1,1,4,1,0,3,0\na,0,0,13,1,3,13,1\n");
  std::vector<std::string> events = common;
  events.insert(events.end(), {"--events", "-"});
  EXPECT_EQ(run_program(events).out,
            "time_s,event,job,nodes\n0,submit,a,\n0,start,a,0:1\n1,submit,b,\n1,preempt,a,0:1\n"
            "1,start,b,0:1\n4,end,b,0:1\n4,start,a,0:1\n13,end,a,0:1\n");
}

TEST(Simulate, ReadsStandardInput) {
  const Outcome outcome = run_program({"simulate", "-", "--cluster", "1x1", "--json"}, kTrace);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(parse_json(outcome.out)["completed"], 2);
}

TEST(Simulate, ComparesPoliciesAndSeeds) {
  const Json sweep = simulate(
      kTrace, {"--cluster", "1x1", "--sweep", "fifo,srtf", "--seeds", "2", "--threads", "2"});
  ASSERT_EQ(sweep["runs"].size(), 4U);
  EXPECT_EQ(sweep["runs"][0]["policy"], "fifo");
  EXPECT_EQ(sweep["runs"][1]["seed"], 1);
  EXPECT_EQ(sweep["runs"][3]["jct_s"]["mean"], 8);
}

TEST(Simulate, DrawsCharts) {
  const TemporaryFile file("trace.csv", kTrace);
  for (const char* name : {"chart.svg", "chart.html"}) {
    const TemporaryFile chart(name, "");
    const Outcome outcome =
        run_program({"simulate", file.path(), "--cluster", "1x1", "--chart", chart.path()});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::string text = read_text(chart.path());
    EXPECT_NE(text.find("<svg"), std::string::npos);
    EXPECT_NE(text.find("b, devices: 1, waits 9.000 s"), std::string::npos) << text;
    EXPECT_NE(text.find("b, devices: 1, runs 3.000 s"), std::string::npos);
  }
}

// The engine predicts jobs that have a request; on two nodes joined by 1gbe the same job takes
// longer than inside one.
TEST(Simulate, TheEngineKnowsWhatSpreadingCosts) {
  const TemporaryFile cluster("cluster.json", R"({"nodes": [{"count": 2, "devices": 2,
      "device": "v100-sxm2-16gb"}], "network": "1gbe"})");
  const std::string trace =
      R"({"submit_s": 0, "devices": 2, "request": {"model": "resnet18", "batch": 8, "steps": 100}})";
  const auto time = [&](const char* placement) {
    return simulate(trace, {"--cluster", cluster.path(), "--placement", placement})["makespan_s"]
        .get<double>();
  };
  EXPECT_GT(time("best-fit"), 0);
  EXPECT_GT(time("spread"), 1.5 * time("best-fit"));
}

// With a duration the trace decides, unless the engine is asked how placement changes it.
TEST(Simulate, ADurationIsStretchedByThePlacement) {
  const TemporaryFile cluster("cluster.json", R"({"nodes": [{"count": 2, "devices": 2,
      "device": "v100-sxm2-16gb"}], "network": "1gbe"})");
  const std::string trace =
      R"({"submit_s": 0, "devices": 2, "duration_s": 100, "request": {"model": "resnet18", "batch": 8}})";
  const auto time = [&](const char* placement, const char* durations) {
    return simulate(trace, {"--cluster", cluster.path(), "--placement", placement, "--durations",
                            durations})["makespan_s"]
        .get<double>();
  };
  EXPECT_EQ(time("spread", "trace"), 100);
  EXPECT_EQ(time("best-fit", "placed"), 100);
  EXPECT_GT(time("spread", "placed"), 150);
}

// 2 switches of 3 nodes of 4 GPUs are 24; a P100 node with 2 and a T4 node with 4 are 4 of one
// type at most.
TEST(Simulate, ReadsPublishedClusters) {
  const TemporaryFile tiresias("n.csv",
                               "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,"
                               "mem_p_node\n2,3,4,40,256\n");
  const std::string job = "submit_s,duration_s,devices\n0,10,";
  EXPECT_EQ(simulate(job + "24\n", {"--cluster", tiresias.path()})["device_utilisation"], 1);
  const TemporaryFile alibaba("a.csv",
                              "sn,cpu_milli,memory_mib,gpu,model\nx,1,1,2,P100\n"
                              "y,1,1,4,T4\n");
  EXPECT_EQ(simulate(job + "4\n", {"--cluster", alibaba.path()})["completed"], 1);
  expect_refusal(job + "5\n", {"--cluster", alibaba.path()}, 2, "needs 5 devices");
  const TemporaryFile unknown("u.csv", "sn,gpu,model\nx,1,H100\n");
  expect_refusal(job + "1\n", {"--cluster", unknown.path()}, 2, "line 2: GPU model 'H100'");
  const TemporaryFile other("o.csv", "a,b\n1,2\n");
  expect_refusal(job + "1\n", {"--cluster", other.path()}, 2, "neither");
}

TEST(Simulate, RefusesWhatItCannotDo) {
  expect_refusal(kTrace, {"--cluster", "1x1", "--policy", "srft"}, 2, "srtf");
  expect_refusal(kTrace, {"--cluster", "1x1", "--placement", "anywher"}, 2, "anywhere");
  expect_refusal(kTrace, {"--cluster", "0x1"}, 2, "count");
  expect_refusal(kTrace, {"--cluster", "/no/such.json"}, 1, "/no/such.json");
  expect_refusal(kTrace, {"--cluster", "1x1", "--durations", "guess"}, 2, "trace, placed, engine");
  expect_refusal(kTrace, {"--cluster", "1x1", "--prediction-error", "2"}, 2, "--prediction-error");
  for (const char* option : {"--prediction-error", "--mtbf", "--round", "--limits"}) {
    expect_refusal(kTrace, {"--cluster", "1x1", option, "nan"}, 2, "'nan'");
  }
  expect_refusal(kTrace, {"--cluster", "1x1", "--sweep", "fifo", "--jobs", "-"}, 2, "--sweep");
  expect_refusal("submit_s,duration_s,devices\n0,1,4\n", {"--cluster", "1x2"}, 2,
                 "needs 4 devices");
  expect_refusal("submit_s,duration_s\n0,x\n", {"--cluster", "1x2"}, 2, "line 2");
  expect_refusal(R"({"submit_s": 0, "request": {"model": "resnet5000", "steps": 1}})",
                 {"--cluster", "1x2"}, 2, "job '0'");
  expect_refusal(R"({"submit_s": 0, "request": {"model": "resnet18"}})", {"--cluster", "1x2"}, 2,
                 "no length");
}

}  // namespace
}  // namespace foretrain::cli
