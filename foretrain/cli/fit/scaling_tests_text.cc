// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/fit/scaling_tests_text.h"

#include <algorithm>

#include "foretrain/base/csv.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"

namespace foretrain::cli {
namespace {

using train::Method;

std::string name(Method method) { return std::string(train::name_of(method)); }

// "7.3"; what is beyond all use is not told to the digit.
std::string percent(double error) { return error < 9.995 ? format("%.1f", 100 * error) : ">999"; }

double error_of(const train::ScalingTest& test, Method method) {
  for (const train::MethodScore& one : test.methods) {
    if (one.setting.method == method) return one.error;
  }
  return 0;
}

bool was_tried(const std::vector<train::ScalingTest>& tests, Method method) {
  return std::any_of(tests.front().methods.begin(), tests.front().methods.end(),
                     [&](const auto& one) { return one.setting.method == method; });
}

double share_inside(const train::ScalingSummary& one) {
  return static_cast<double>(one.inside) / static_cast<double>(one.judged);
}

double mean_of_chosen(const std::vector<train::ScalingTest>& tests) {
  double sum = 0;
  for (const train::ScalingTest& one : tests) sum += one.chosen.error;
  return sum / static_cast<double>(tests.size());
}

}  // namespace

void show_scaling_tests(const std::vector<train::ScalingTest>& tests, Console& console) {
  const bool ernest = was_tried(tests, Method::Ernest);
  console.line(format("  %-13s %-9s %-32s %6s %6s %7s %8s  %s", "test", "left out", "workload",
                      "train", "test", "error %", ernest ? "Ernest %" : "", "chosen"));
  for (const train::ScalingTest& one : tests) {
    console.line(format("  %-13s %-9s %-32s %6zu %6zu %7s %8s  %s", one.kind.c_str(),
                        one.variable.c_str(), printable(one.workload, 32).c_str(), one.train,
                        one.test, percent(one.chosen.error).c_str(),
                        ernest ? percent(error_of(one, Method::Ernest)).c_str() : "",
                        name(one.chosen.setting.method).c_str()));
  }
  console.line("");
  std::string head = format("  %-13s %-9s %5s %7s %7s %8s", "mean of", "left out", "tests",
                            "chosen", "worst", "inside %");
  const std::vector<train::ScalingSummary> summaries = train::summarise(tests);
  for (const auto& [method, error] : summaries.front().methods) {
    head += format(" %8s", name(method).c_str());
  }
  console.line(head);
  for (const train::ScalingSummary& one : summaries) {
    std::string line =
        format("  %-13s %-9s %5zu %7s %7s %8s", one.kind.c_str(), one.variable.c_str(), one.tests,
               percent(one.chosen).c_str(), percent(one.worst).c_str(),
               one.judged > 0 ? percent(share_inside(one)).c_str() : "");
    for (const auto& [method, error] : one.methods) line += format(" %8s", percent(error).c_str());
    console.line(line);
  }
  console.line(format("  all %zu tests: mean error %s %%", tests.size(),
                      percent(mean_of_chosen(tests)).c_str()));
}

std::string scaling_tests_json(const std::vector<train::ScalingTest>& tests) {
  JsonWriter json;
  json.begin_object().field("mean_error", mean_of_chosen(tests)).key("tests").begin_array();
  for (const train::ScalingTest& one : tests) {
    json.begin_object()
        .field("kind", std::string_view(one.kind))
        .field("variable", std::string_view(one.variable))
        .field("workload", std::string_view(one.workload))
        .field("train_rows", static_cast<double>(one.train))
        .field("test_rows", static_cast<double>(one.test))
        .field("chosen", train::name_of(one.chosen.setting.method))
        .field("error", one.chosen.error)
        .key("methods")
        .begin_object();
    for (const train::MethodScore& score : one.methods) {
      json.field(train::name_of(score.setting.method), score.error);
    }
    json.end_object().end_object();
  }
  json.end_array().key("summary").begin_array();
  for (const train::ScalingSummary& one : train::summarise(tests)) {
    json.begin_object()
        .field("kind", std::string_view(one.kind))
        .field("variable", std::string_view(one.variable))
        .field("tests", static_cast<double>(one.tests))
        .field("error", one.chosen)
        .field("worst", one.worst)
        .field("inside", one.judged > 0 ? std::optional(share_inside(one)) : std::nullopt)
        .key("methods")
        .begin_object();
    for (const auto& [method, error] : one.methods) json.field(train::name_of(method), error);
    json.end_object().end_object();
  }
  json.end_array().end_object();
  return json.finish();
}

std::string scaling_tests_rows(const std::vector<train::ScalingTest>& tests,
                               const train::ScalingData& data) {
  std::string text = "kind,variable,workload";
  for (const std::string& variable : data.variables) text += "," + variable + "_value";
  text += ",measured_s,predicted_s,method\n";
  for (const train::ScalingTest& test : tests) {
    for (std::size_t i = 0; i < test.rows.size(); ++i) {
      text += test.kind + "," + test.variable + "," + csv_field(test.workload);
      for (std::size_t v = 0; v < data.variables.size(); ++v) {
        text += "," + csv_field(test.rows[i].values[v]);
      }
      text += "," + csv_field(test.rows[i].time_s) + "," + csv_field(test.predicted_s[i]) + "," +
              name(test.chosen.setting.method) + "\n";
    }
  }
  return text;
}

}  // namespace foretrain::cli
