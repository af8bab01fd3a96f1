// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/mapping.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/measured/report_number.h"

namespace foretrain::measured {
namespace {

const std::vector<std::string> kColumns{"model",  "gpu",   "gpus", "nodes",
                                        "metric", "value", "notes"};

Row row(std::vector<std::string> cells) { return {&kColumns, std::move(cells), 2}; }

Row usual() { return row({"ResNet", "T4", "7", "3", "step", "250", "placement=34; seq=128"}); }

Measurement map(const std::string& json, const Row& one) {
  const Mapping mapping = parse_mapping(json, "mapping");
  check_columns(mapping, kColumns);
  return map_row(mapping, one);
}

// The request that one template makes, beside model and comparison.
std::string request_of(const std::string& variables, const std::string& field) {
  const Measurement mapped = map(R"({"variables": {)" + variables + R"(}, "rules": [{"request":
      {"model": "m", )" + field + R"(}, "compare": {"number": "step_time_s"}}]})",
                                 usual());
  return mapped.request.value_or("no request: " + mapped.reason);
}

TEST(MapRow, TakesValuesFromColumnsAsNumbersOrText) {
  EXPECT_EQ(request_of("", R"("device": "{gpu}", "batch": "{gpus}")"),
            R"({"batch":7,"device":"T4","model":"m"})");
}

TEST(MapRow, FillsHolesInsideTextAndInsideObjects) {
  EXPECT_EQ(
      request_of(
          R"j("seq": {"column": "notes", "regex": "seq=([0-9]+)"})j",
          R"("trainable": "lora:rank={seq},n={gpus}", "strategy": {"kind": "ps", "servers": "{nodes}"})"),
      R"({"model":"m","strategy":{"kind":"ps","servers":3},"trainable":"lora:rank=128,n=7"})");
}

TEST(MapRow, SplitsTextIntoLists) {
  EXPECT_EQ(request_of(R"j("p": {"column": "notes", "regex": "placement=([0-9]+)", "split": ""})j",
                       R"("placement": "{p}")"),
            R"({"model":"m","placement":[3,4]})");
  EXPECT_EQ(request_of(R"("p": {"column": "notes", "regex": "^[^;]*", "split": "="})",
                       R"("placement": "{p}")"),
            R"({"model":"m","placement":["placement",34]})");
  // Inside of text a list is text.
  EXPECT_EQ(request_of(R"("p": {"column": "notes", "regex": "^[^;]*", "split": "="})",
                       R"("placement": "of {p}")"),
            R"({"model":"m","placement":"of [\"placement\",34]"})");
}

// Of 7 samples the quantile is 6.625 / 7.25 = 0.914, 1.364 deviations above the mean: 100 + 13.6,
// or 120 in twenties.
TEST(MapRow, PadsToTheLongestSample) {
  const auto frames = [](const std::string& column, const std::string& more) {
    return request_of(R"("f": {"column": ")" + column +
                          R"(", "longest": {"mean": 100, "deviation": 10)" + more + "}}",
                      R"("batch": "{f}")");
  };
  EXPECT_EQ(frames("gpus", ""), R"({"batch":114,"model":"m"})");
  EXPECT_EQ(frames("gpus", R"(, "multiple": 20)"), R"({"batch":120,"model":"m"})");
  EXPECT_EQ(frames("notes", "").substr(0, 11), "no request:");
}

// 7 devices over 3 nodes: 2 + 2 + 3.
TEST(MapRow, SpreadsDevicesEvenly) {
  EXPECT_EQ(
      request_of(R"("p": {"column": "gpus", "spread_over": "nodes"})", R"("placement": "{p}")"),
      R"({"model":"m","placement":[2,2,3]})");
  EXPECT_EQ(
      request_of(R"("p": {"column": "nodes", "spread_over": "gpus"})", R"("placement": "{p}")"),
      "no request: cannot spread nodes '3' over gpus '7'");
}

TEST(MapRow, MapsNamesAndSaysWhichIsUnknown) {
  EXPECT_EQ(request_of(R"("d": {"column": "gpu", "map": {"T4": "t4", "V100": "v100"}})",
                       R"("device": "{d}")"),
            R"({"device":"t4","model":"m"})");
  EXPECT_EQ(request_of(R"("d": {"column": "gpu", "map": {"V100": "v100"}})", R"("device": "{d}")"),
            "no request: d 'T4' is not in the mapping");
}

TEST(MapRow, SaysWhatIsMissing) {
  EXPECT_EQ(
      request_of(R"j("s": {"column": "notes", "regex": "tp=([0-9]+)"})j", R"("batch": "{s}")"),
      "no request: no s in notes");
  Row one = usual();
  one.cells[2] = "";
  EXPECT_EQ(map(R"({"rules": [{"request": {"model": "m", "batch": "{gpus}"},
                               "compare": {"number": "step_time_s"}}]})",
                one)
                .reason,
            "gpus is empty");
}

const char* const kCascade = R"({"rules": [
    {"request": {"model": "{model}", "precision": "fp32", "workers": 1},
     "compare": {"number": "step_time_s"}},
    {"when": {"model": ["BERT", "GPT"]}, "skip": "not in the zoo: {model}"},
    {"when": {"gpu": {"regex": "^T[0-9]$"}, "metric": "step"}, "request": {"precision": "fp16"}},
    {"when": {"gpu": {"equals": "T4", "not": true}}, "request": {"precision": "fp64"}},
    {"when": {"notes": {"contains": ["nothing", "seq="]}}, "request": {"workers": null},
     "compare": {"number": "samples_per_s", "scale": 0.001, "divide_by": "gpus", "name": "rate"}}
]})";

// Later rules replace and remove; 250 x 0.001 / 7 workers.
TEST(MapRow, AppliesRulesFromTopToBottom) {
  const Measurement mapped = map(kCascade, usual());
  EXPECT_EQ(mapped.request, R"({"model":"ResNet","precision":"fp16"})");
  EXPECT_EQ(report_numbers()[mapped.number].name, "samples_per_s");
  EXPECT_DOUBLE_EQ(mapped.measured, 0.25 / 7);
  EXPECT_EQ(mapped.metric, "rate");
}

TEST(MapRow, NegatesConditions) {
  EXPECT_EQ(map(kCascade, row({"ResNet", "K80", "1", "1", "step", "1", "seq="})).request,
            R"({"model":"ResNet","precision":"fp64"})");
}

TEST(MapRow, GivesTheReasonOfASkipAsPlainText) {
  EXPECT_EQ(map(kCascade, row({"BERT", "T4", "1", "1", "step", "1", ""})).reason,
            "not in the zoo: BERT");
  const Measurement mapped = map(R"({"rules": [{"skip": "no \"{model}\""}]})",
                                 row({"a \"b\"", "T4", "1", "1", "step", "1", ""}));
  EXPECT_EQ(mapped.reason, "no \"a \"b\"\"");
  EXPECT_EQ(mapped.device, "T4");
}

TEST(MapRow, NeedsAPositiveFiniteValue) {
  const char* rules =
      R"({"rules": [{"request": {"model": "m"}, "compare": {"number": "step_time_s"}}]})";
  const auto reason = [&](const char* value) {
    return map(rules, row({"m", "T4", "1", "1", "step", value, ""})).reason;
  };
  EXPECT_EQ(reason(""), "no value");
  EXPECT_EQ(reason("nan"), "value 'nan' is not a number");
  EXPECT_EQ(reason("inf"), "value 'inf' is not a number");
  EXPECT_EQ(reason("3 ms"), "value '3 ms' is not a number");
  EXPECT_EQ(reason("0"), "a value of 0 or less has no relative error");
  EXPECT_EQ(reason("-1"), "a value of 0 or less has no relative error");
  EXPECT_EQ(reason("1e-3"), "");
}

TEST(MapRow, NamesARowThatNoRuleCompares) {
  EXPECT_EQ(map(R"({"rules": [{"request": {"model": "m"}}]})", usual()).reason,
            "no rule for model 'ResNet', metric 'step'");
}

TEST(MapRow, GivesTheMappingsOwnReasonWhereNoRuleNamesAModel) {
  const char* json = R"({"rules": [{"request": {"workers": 1}, "compare": {"number": "mfu"}}],
                         "otherwise": "not in the zoo: {model}"})";
  EXPECT_EQ(map(json, usual()).reason, "not in the zoo: ResNet");
}

// Cells come from outside: what they hold stays inside its JSON string.
TEST(MapRow, EscapesWhatCellsHold) {
  const Measurement mapped = map(
      R"({"rules": [{"request": {"model": "{model}:{notes}"}, "compare": {"number": "step_time_s"}}]})",
      row({"a\"}", "T4", "1", "1", "step", "1", "b\\\n\xff"}));
  EXPECT_EQ(mapped.request, "{\"model\":\"a\\\"}:b\\\\\\n\xEF\xBF\xBD\"}");
}

// In a time that grows with the cell alone: an engine that backtracks tries 2^100,000 ways.
TEST(MapRow, SearchesLongCells) {
  Row one = usual();
  one.cells[6] = std::string(100'000, 'x') + "seq=1";
  EXPECT_EQ(map(R"j({"variables": {"s": {"column": "notes", "regex": "(x|x)*seq=([0-9]+)"}},
                    "rules": [{"request": {"model": "{s}"}, "compare": {"number": "step_time_s"}}]})j",
                one)
                .request,
            R"({"model":"x"})");
}

std::string complaint(const std::string& json) {
  try {
    map(json, usual());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ParseMapping, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(complaint("{}"), "mapping: the field 'rules' is missing");
  EXPECT_EQ(complaint(R"({"rules": []})"), "mapping: 'rules' must be a list of rules");
  EXPECT_EQ(complaint(R"({"rules": [{}]})"),
            "mapping: rule 1: needs 'skip', 'request', 'fitted' or 'compare'");
  EXPECT_EQ(complaint(R"({"rules": [{"skip": "x", "request": {"model": "m"}}]})"),
            "mapping: rule 1: 'skip' stands alone, without 'request', 'fitted' and 'compare'");
  EXPECT_EQ(complaint(R"({"rules": [{"request": {"modle": "m"}}]})"),
            "mapping: rule 1: a request has no field 'modle'; did you mean 'model' or 'mode'?");
  EXPECT_EQ(complaint(R"({"rules": [{"request": {"model": "{m"}}]})"),
            "mapping: rule 1: model: '{m' has a '{' without a name and '}'");
  EXPECT_EQ(complaint(R"({"rules": [{"when": {"gpu": {"regex": "("}}, "skip": "x"}]})"),
            "mapping: rule 1: when: gpu: '(' is no regular expression: missing ): (");
  EXPECT_EQ(
      complaint(R"({"rules": [{"when": {"gpu": {"regex": "a", "equals": "b"}}, "skip": "x"}]})"),
      "mapping: rule 1: when: gpu: needs one of 'equals', 'contains' and 'regex'");
  EXPECT_EQ(complaint(R"({"rules": [{"when": {"gpu": 3}, "skip": "x"}]})"),
            "mapping: rule 1: when: gpu: must be a text or a list of texts");
  EXPECT_EQ(
      complaint(R"({"rules": [{"compare": {"number": "step_time"}}]})"),
      "mapping: rule 1: compare: a report has no number 'step_time'; did you mean 'step_time_s'?");
  EXPECT_EQ(complaint(R"({"rules": [{"compare": {"number": "step_time_s", "scale": 0}}]})"),
            "mapping: rule 1: compare: 'scale' must be above 0");
}

// Facts: model, device and the two nodes of the map. Fitted: three flows, the host's speed, mean
// and deviation of the lengths.
TEST(ParseMapping, CountsFactsAndWhatWasFitted) {
  const Mapping mapping = parse_mapping(R"({"variables": {
      "node": {"column": "gpu", "map": {"T4": 1, "K80": 2}},
      "flow": {"column": "nodes", "map": {"1": 3e9, "2": 2e9, "3": 1e9}},
      "longest": {"column": "gpus", "longest": {"mean": 100, "deviation": 10}}},
    "rules": [{"request": {"model": "m", "device": "t4", "workers_per_node": "{node}", "batch": null},
               "fitted": {"network": {"flow_cap_bytes_per_s": "{flow}"}, "host_speed": 0.7}},
              {"fitted": {"model": "m:seq={longest}"}, "recovered": {"batch": 3}}]})",
                                        "mapping");
  EXPECT_EQ(mapping.knobs.facts, 4U);
  EXPECT_EQ(mapping.knobs.fitted, 6U);
  EXPECT_EQ(mapping.knobs.recovered, 1U);
  EXPECT_EQ(mapping.knobs.left_out, 0U);
}

// What was fitted is in the request, not in the plain one; a later fact replaces it.
TEST(MapRow, KeepsWhatWasFittedOutOfThePlainRequest) {
  const Measurement mapped = map(R"({"rules": [
    {"request": {"model": "m", "device": "t4", "batch": 1}, "fitted": {"host_speed": 0.7, "batch": 2}},
    {"request": {"batch": 3}, "recovered": {"workers": 2},
     "left_out": {"input_rate": 9}, "compare": {"number": "step_time_s"}}]})",
                                 usual());
  EXPECT_EQ(mapped.request,
            R"({"batch":3,"device":"t4","host_speed":0.7,"model":"m","workers":2})");
  EXPECT_EQ(mapped.plain, R"({"batch":3,"device":"t4","input_rate":9,"model":"m","workers":2})");
}

TEST(CheckColumns, FindsAColumnThatIsNotThere) {
  for (const char* json :
       {R"({"rules": [{"when": {"modell": "x"}, "skip": "y"}]})",
        R"({"rules": [{"skip": "{modell}"}]})",
        R"({"rules": [{"skip": "y"}], "otherwise": "{modell}"})",
        R"({"rules": [{"request": {"model": "{modell}"}}]})",
        R"({"variables": {"x": {"column": "modell"}}, "rules": [{"skip": "y"}]})",
        R"({"rules": [{"compare": {"number": "step_time_s", "divide_by": "modell"}}]})"}) {
    EXPECT_EQ(complaint(json),
              "mapping: the measurements have no column 'modell'; did you mean 'model'?");
  }
}

}  // namespace
}  // namespace foretrain::measured
