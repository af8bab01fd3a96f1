// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fleet/simulation.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain::fleet {
namespace {

const Library& library() {
  static const Library loaded = load_library();
  return loaded;
}

// On one device: a runs 0 to 10, or is stopped by b (1 to 4) under srtf and ends at 13.
constexpr const char* kTrace = "job,submit_s,duration_s,devices\na,0,10,1\nb,1,3,1\n";

Json simulate(Json fields) {
  const SimulationRequest request = parse_simulation_request(json_text(fields), "simulate");
  return parse_json(simulate_json(request, library()));
}

std::string complaint(const Json& fields) {
  try {
    simulate(fields);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Simulation, AnswersARequestInJson) {
  const Json srtf = simulate({{"trace_text", kTrace},
                              {"cluster", "1x1"},
                              {"policy", "srtf"},
                              {"per_job", true},
                              {"chart", true}});
  EXPECT_EQ(srtf["policy"], "srtf");
  EXPECT_EQ(srtf["completed"], 2);
  EXPECT_EQ(srtf["jct_s"]["mean"], 8);  // 13 and 3
  EXPECT_EQ(srtf["per_job"], Json({{"job", {"b", "a"}},
                                   {"submit_s", {1.0, 0.0}},
                                   {"start_s", {1.0, 0.0}},
                                   {"end_s", {4.0, 13.0}},
                                   {"devices", {1, 1}},
                                   {"queue_s", {0.0, 3.0}},
                                   {"jct_s", {3.0, 13.0}},
                                   {"preemptions", {0, 1}}}));
  EXPECT_EQ(srtf["chart"]["bars"].size(), 4U);  // a runs, waits, runs; b runs
  EXPECT_FALSE(simulate({{"trace_text", kTrace}, {"cluster", "1x1"}}).contains("chart"));
}

TEST(Simulation, ASweepHasEachPolicyWithEachSeed) {
  const Json sweep = simulate({{"trace_text", kTrace},
                               {"cluster", {{"nodes", {{{"devices", 1}, {"device", "t4"}}}}}},
                               {"sweep", {"fifo", "srtf"}},
                               {"seeds", 2},
                               {"seed", 5},
                               {"threads", 3}});
  ASSERT_EQ(sweep["runs"].size(), 4U);
  EXPECT_EQ(sweep["runs"][1]["policy"], "fifo");
  EXPECT_EQ(sweep["runs"][1]["seed"], 6);
  EXPECT_EQ(sweep["runs"][2]["policy"], "srtf");
  EXPECT_EQ(sweep["runs"][2]["jct_s"]["mean"], 8);
}

// b waits for a from 1 to 10.
TEST(Simulation, GivesThePictureOfItsChart) {
  const Json fifo = simulate({{"trace_text", kTrace}, {"cluster", "1x1"}, {"svg", true}});
  const auto svg = fifo.at("svg").get<std::string>();
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_NE(svg.find("b, devices: 1, waits 9.000 s"), std::string::npos) << svg;
  EXPECT_FALSE(fifo.contains("chart"));
}

// The mean of two simulations is that of their numbers; another policy begins another row.
TEST(Simulation, MeansAreThoseOfAPolicysSeeds) {
  std::vector<SimulationReport> reports(3);
  reports[0].policy = reports[1].policy = "fifo";
  reports[2].policy = "srtf";
  reports[0].summary.makespan = Seconds{10};
  reports[1].summary.makespan = Seconds{20};
  reports[2].summary.makespan = Seconds{7};
  const std::vector<PolicyMeans> means = means_by_policy(reports);
  ASSERT_EQ(means.size(), 2U);
  EXPECT_EQ(means[0].runs, 2);
  EXPECT_EQ(means[0].makespan_s, 15);
  EXPECT_EQ(means[1].makespan_s, 7);
  std::vector<std::string> lines;
  for (const SimulationReport& report : reports) lines.push_back(to_json(report));
  const std::vector<PolicyMeans> read = means_by_policy(lines);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].makespan_s, 15);
  EXPECT_EQ(read[1].policy, "srtf");
  EXPECT_THROW(means_by_policy(std::vector<std::string>{"{}"}), Error);
}

TEST(Simulation, RefusesWhatItCannotDo) {
  const Json good = {{"trace_text", kTrace}, {"cluster", "1x1"}};
  EXPECT_EQ(complaint(good), "");
  const auto with = [&](const char* key, const Json& value) {
    Json fields = good;
    fields[key] = value;
    return complaint(fields);
  };
  EXPECT_NE(with("policy", "srft").find("srtf"), std::string::npos);
  EXPECT_NE(with("placement", "anywher").find("anywhere"), std::string::npos);
  EXPECT_NE(with("polisy", "fifo").find("policy"), std::string::npos);
  EXPECT_NE(with("durations", "guess").find("trace, placed, engine"), std::string::npos);
  EXPECT_NE(with("prediction_error", 2).find("'prediction_error' must be 0 to 1"),
            std::string::npos);
  EXPECT_NE(with("round_s", 0).find("'round_s' must be above 0"), std::string::npos);
  EXPECT_NE(with("trace_text",
                 "submit_s,request\n0,\"{\"\"model\"\": \"\"mlp\"\", \"\"steps\"\": 1e300}\"\n")
                .find("longer than 1e12 s"),
            std::string::npos);
  EXPECT_NE(with("mtbf_s", -1).find("mtbf_s"), std::string::npos);
  EXPECT_NE(with("limits_s", {"a"}).find("limits_s"), std::string::npos);
  EXPECT_NE(with("sweep", "fifo").find("sweep"), std::string::npos);
  EXPECT_NE(with("seeds", 0).find("seeds"), std::string::npos);
  EXPECT_NE(with("seed", -1).find("seed"), std::string::npos);
  EXPECT_NE(with("trace_text", "submit_s,duration_s\n0,x\n").find("trace, line 2"),
            std::string::npos);
  EXPECT_NE(complaint({{"cluster", "1x1"}}).find("'trace' is missing"), std::string::npos);
  EXPECT_NE(complaint({{"trace_text", kTrace}}).find("cluster"), std::string::npos);
  Json both = good;
  both["seeds"] = 2;
  both["svg"] = true;
  EXPECT_NE(complaint(both).find("one simulation"), std::string::npos);
}

}  // namespace
}  // namespace foretrain::fleet
