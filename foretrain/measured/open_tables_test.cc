// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/open_tables.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/measured/import_measured.h"
#include "foretrain/measured/lab_runs.h"
#include "foretrain/measured/measurements.h"
#include "foretrain/measured/report_number.h"
#include "foretrain/measured/test_files.h"

namespace foretrain::measured {
namespace {

constexpr const char* kSteps =
    R"({"request": {"model": "mlp", "device": "t4"}, "step_time_s": 0.25, "exposed_communication_s": 0})"
    "\n"
    R"({"request": {"model": "mlp:hidden=64", "device": "t4"}, "step_time_s": 0.5})"
    "\n";

constexpr const char* kTrace = R"({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 900, "tid": 1},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 10, "dur": 5, "tid": 1},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "ts": 1000, "dur": 2000, "tid": 1},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 1010, "dur": 5, "tid": 1}]})";

// All measurements of jobs that `data` has, whatever it is.
std::vector<Measurement> all_of(const std::filesystem::path& data,
                                const std::string& request = "") {
  std::vector<Measurement> all;
  for (Table& table : open_tables(data, request)) {
    Measurements measurements(table);
    for (std::vector<Measurement> found; measurements.next(found);) {
      all.insert(all.end(), found.begin(), found.end());
    }
  }
  return all;
}

TEST(OpenTables, TellsFilesApartByTheirContent) {
  const TestFolder folder;
  EXPECT_EQ(kind_of(folder.write("a", kSteps)), FileKind::Steps);
  EXPECT_EQ(kind_of(folder.write("b", kTrace)), FileKind::Trace);
  EXPECT_EQ(kind_of(folder.write("c", "a,b\n1,2\n")), FileKind::Csv);
  EXPECT_EQ(kind_of(folder.write("d", "")), FileKind::Csv);
  EXPECT_EQ(kind_of(folder.write("e.jsonl", "")), FileKind::Steps);
  store::Store(folder.path() / "f");
  EXPECT_EQ(kind_of(folder.path() / "f"), FileKind::Store);
  EXPECT_THROW(open_tables(folder.path() / "none"), Error);
  EXPECT_THROW(open_tables(folder.path() / "b"), Error);  // what ran?
}

// The median of one step that counts: 2,000 us.
TEST(OpenTables, ATraceIsARunOfItsRequest) {
  const TestFolder folder;
  const std::vector<Measurement> found =
      all_of(folder.write("trace.json", kTrace), R"({"model": "mlp", "device": "cpu:cores=1"})");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].metric, "step_time");
  EXPECT_DOUBLE_EQ(found[0].measured, 2e-3);
  EXPECT_EQ(found[0].device, "cpu:cores=1");
}

bool same(const Measurement& a, const Measurement& b) {
  return a.model == b.model && a.device == b.device && a.metric == b.metric &&
         a.measured == b.measured && a.number == b.number && a.request == b.request &&
         a.source == b.source;
}

// One set of measurements as a file, in a store and as the store's export.
TEST(OpenTables, AFileAStoreAndItsExportAreReadAlike) {
  const TestFolder folder;
  const std::filesystem::path steps = folder.write("steps.jsonl", kSteps);
  store::Store store(folder.path() / "my.db");
  EXPECT_EQ(import_measured(store, {steps}).at(0).rows, 2U);
  EXPECT_EQ(import_measured(store, {steps}).at(0).skipped, 2U);
  store::export_folder(store, folder.path() / "out");
  const std::vector<Measurement> file = all_of(steps);
  ASSERT_EQ(file.size(), 2U);  // a wait of 0 s is nothing to be compared with
  EXPECT_EQ(file[0].model, "mlp");
  EXPECT_EQ(file[0].source, "steps.jsonl");
  EXPECT_EQ(file[1].measured, 0.5);
  EXPECT_EQ(report_numbers()[file[1].number].name, "step_time_s");
  for (const char* other : {"my.db", "out"}) {
    const std::vector<Measurement> read = all_of(folder.path() / other);
    ASSERT_EQ(read.size(), 2U) << other;
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(same(file[i], read[i])) << other;
    const std::vector<MeasuredStep> by = calibration_runs(folder.path() / other);
    ASSERT_EQ(by.size(), 2U) << other;
    EXPECT_EQ(by[0].exposed_communication_s, 0);
    EXPECT_EQ(calibration_runs(folder.path() / other, "", 1).size(), 1U);
  }
}

// Rows of training measurements are mapped by the file that they came from.
TEST(OpenTables, TrainingMeasurementsKeepTheirMappingInAStore) {
  const TestFolder folder;
  const std::filesystem::path csv =
      folder.write("made.csv", measurement("mlp", "T4", "step_time", "0.25"));
  const std::string mapping =
      R"({"rules": [{"request": {"model": "mlp"}, "compare": {"number": "step_time_s"}}]})";
  folder.write("made.json", mapping);
  store::Store store(folder.path() / "my.db");
  import_measured(store, {csv});
  store::export_folder(store, folder.path() / "out");
  std::filesystem::copy(folder.path() / "made.json", folder.path() / "out" / "made.json");
  const std::vector<Measurement> file = all_of(csv);
  const std::vector<Measurement> read = all_of(folder.path() / "out");
  ASSERT_EQ(file.size(), 1U);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_TRUE(same(file[0], read[0]));
  EXPECT_EQ(read[0].file, "made");
  // A store has no file beside it: the mapping must be one that is known.
  const std::vector<Measurement> unknown = all_of(folder.path() / "my.db");
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown[0].reason, "no mapping for made.csv");
}

// A campaign of the lab in which nothing of the request was kept.
TEST(OpenTables, RunsWithoutARequestAskByTheirConfiguration) {
  const std::vector<std::string> columns{"configuration", "request"};
  const std::string old =
      R"({"batch":4,"cores":1,"model":"mlp","optimizer":"sgd","strategy":{"kind":"ddp"},"workers":2})";
  EXPECT_EQ(request_of_run({&columns, {old, ""}, 1}, "x"), run_request(old, "x"));
  EXPECT_EQ(request_of_run({&columns, {old, "{}"}, 1}, "x"), "{}");
}

}  // namespace
}  // namespace foretrain::measured
