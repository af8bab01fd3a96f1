// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/vary.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

// A report that says which request it answers.
Report echo(const Request& request) {
  if (request.batch == 13) throw Error(ErrorKind::Unsupported, "thirteen");
  Report report;
  report.engine = request.model;
  report.samples_per_s = static_cast<double>(request.batch.value_or(0));
  report.step_time_s.value = request.strategy.servers;
  return report;
}

TEST(Vary, EachValueIsARequestOfItsOwn) {
  const Variation variation =
      vary(R"({"model": "m", "batch": 1})", "batch", {"2", "4", "13", "-1", "\"x\"", "{"}, echo);
  EXPECT_EQ(variation.field, "batch");
  EXPECT_EQ(variation.request, R"({"model":"m"})");
  ASSERT_EQ(variation.variants.size(), 6U);
  EXPECT_EQ(variation.variants[0].report->samples_per_s, 2);
  EXPECT_EQ(variation.variants[1].report->samples_per_s, 4);
  EXPECT_EQ(variation.variants[2].error->kind(), ErrorKind::Unsupported);
  for (std::size_t i = 3; i < 6; ++i) {
    EXPECT_EQ(variation.variants[i].error->kind(), ErrorKind::BadInput) << i;
    EXPECT_FALSE(variation.variants[i].report);
  }
  const std::string json = to_json(variation);
  EXPECT_TRUE(json.starts_with(R"([{"batch":2,"report":{"step_time_s":)")) << json;
  EXPECT_NE(json.find(R"({"batch":13,"error":{"kind":"Unsupported","message":"thirteen"}})"),
            std::string::npos)
      << json;
}

// Jobs of 100 / workers seconds that cost 1, 2, 1 and 4 dollars.
Variation four_jobs() {
  Variation variation;
  variation.field = "workers";
  const double costs[] = {1, 2, 1, 4};
  for (int workers = 1; workers <= 4; ++workers) {
    Variant variant{std::to_string(workers), Report{}, {}};
    variant.report->total_time_s = Estimate{100.0 / workers, {}, {}, {}};
    variant.report->cost_usd = Estimate{costs[workers - 1], {}, {}, {}};
    variation.variants.push_back(variant);
  }
  return variation;
}

TEST(Vary, TheCheapestEndsInTime) {
  const Variation jobs = four_jobs();
  EXPECT_EQ(cheapest_within(jobs, Seconds{100}), 0U);  // the first of two that cost the same
  EXPECT_EQ(cheapest_within(jobs, Seconds{60}), 2U);
  EXPECT_EQ(cheapest_within(jobs, Seconds{30}), 3U);
  EXPECT_EQ(cheapest_within(jobs, Seconds{20}), std::nullopt);
  const std::string json = to_json(jobs, Seconds{60});
  EXPECT_NE(json.find(R"("within_deadline":true,"cheapest":true},{"workers":4)"), std::string::npos)
      << json;
}

TEST(Vary, WithoutPricesNothingIsCheapest) {
  Variation jobs = four_jobs();
  for (Variant& variant : jobs.variants) variant.report->cost_usd.reset();
  EXPECT_THROW(cheapest_within(jobs, Seconds{60}), Error);
  EXPECT_EQ(cheapest_within(jobs, Seconds{20}), std::nullopt);
}

TEST(Vary, AFieldOfTheStrategyKeepsTheOthers) {
  const std::vector<std::string> values = {"3"};
  const auto servers = [&](const char* request) {
    return vary(request, "strategy.servers", values, echo).variants[0].report->step_time_s.value;
  };
  EXPECT_EQ(servers(R"({"model": "m"})"), 3);
  EXPECT_EQ(servers(R"({"model": "m", "strategy": "ps"})"), 3);
  EXPECT_EQ(servers(R"({"model": "m", "strategy": {"kind": "ps", "servers": 2}})"), 3);
  const Variation wrong = vary(R"({"model": "m", "strategy": 7})", "strategy.servers", {"1"}, echo);
  EXPECT_EQ(wrong.variants[0].error->kind(), ErrorKind::BadInput);
}

// A value that was refused before keeps its error, the others are predicted, each is counted.
TEST(Vary, AnErrorThatIsKnownStays) {
  const Error known(ErrorKind::BadInput, "no number");
  std::vector<std::size_t> told;
  const Variation variation = predict_variants(R"({"model": "m"})", "strategy.servers",
                                               {{"\"x\"", {}, known}, {"3", {}, {}}}, echo,
                                               [&](std::size_t done) { told.push_back(done); });
  EXPECT_STREQ(variation.variants[0].error->what(), "no number");
  EXPECT_FALSE(variation.variants[0].report);
  EXPECT_EQ(variation.variants[1].report->step_time_s.value, 3);
  EXPECT_EQ(told, (std::vector<std::size_t>{1, 2}));
}

TEST(Vary, WhatIsCommonIsTheRest) {
  EXPECT_EQ(without_field(R"({"model": "m"})", "strategy.servers"), R"({"model":"m"})");
  EXPECT_EQ(without_field(R"({"model": "m", "strategy": {"servers": 2}})", "strategy.servers"),
            R"({"model":"m"})");
  EXPECT_EQ(without_field(R"({"strategy": {"kind": "ps", "servers": 2}})", "strategy.servers"),
            R"({"strategy":{"kind":"ps"}})");
}

TEST(Vary, FieldsAreFoundByTheirNames) {
  EXPECT_EQ(find_field("global-batch"), "global_batch");
  EXPECT_EQ(find_field("strategy.server-device"), "strategy.server_device");
  EXPECT_EQ(find_field("tensor"), "strategy.tensor");  // as the option is called
  EXPECT_EQ(find_field("micro-batch"), "strategy.micro_batch");
  try {
    vary("{}", "bacth", {"1"}, echo);
    FAIL() << "an unknown field was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("batch"), std::string::npos) << error.what();
  }
  EXPECT_THROW(vary("[]", "batch", {"1"}, echo), Error);
}

}  // namespace
}  // namespace foretrain
