// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/test_store.h"

namespace foretrain::store {
namespace {

constexpr std::uintmax_t kMostBytes = 1 << 20;

std::string exported(const Store& store, const std::string& table) {
  std::ostringstream out;
  export_table(store, table, out);
  return out.str();
}

// What one store exports another one imports whole, and only once.
TEST(Export, GoesIntoAnotherStore) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  RunRecord asked = sample_record(0);
  asked.run.request = R"({"batch":32,"model":"resnet18"})";
  store.append_run(asked);
  RunRecord failed = sample_record(1);
  failed.run.status = "failed";
  failed.run.message = "a \"quoted\",\nbroken line";
  failed.metrics.clear();
  failed.step_times_s.clear();
  store.append_run(failed);
  Training published;
  published.file = "t.csv";
  published.model = "resnet50";
  published.metric = "step_time";
  published.notes = "a, \"b\"";
  store.append_training(std::vector{published});
  store.append_operators(std::vector{sample_operator()});
  store.append_collectives(std::vector{sample_collective()});  // of the same source and machine
  export_folder(store, folder.path() / "out");

  const TemporaryStore other_file;
  Store other(other_file.path());
  import_paths(other, {folder.path() / "out"});
  import_paths(other, {folder.path() / "out"});
  for (const std::string& table : export_tables()) {
    EXPECT_GT(other.count(table), 0) << table;
    EXPECT_EQ(exported(store, table), exported(other, table)) << table;
  }
  EXPECT_EQ(other.run(1).step_times_s, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(other.run(1).run.request, asked.run.request);
  EXPECT_EQ(other.run(2).run.message, failed.run.message);
}

// 1/3 has six digits, 0.1 s as a 32-bit float is 0.1 again, whole bytes keep all of theirs.
TEST(Export, RoundsWhatWasMeasured) {
  const TemporaryStore file;
  Store store = file.open();
  RunRecord record = sample_record(0);
  record.run.step_median_s = 1.0 / 3;
  record.run.foreign_load = 123456789;
  record.run.details = R"({"compute_s":0.22717888799888897,"peak_tensor_bytes":190526264.0})";
  record.metrics[0].burst_amount = 123456789.5;
  record.step_times_s = {0.1, 2.0 / 3};
  store.append_run(record);
  const std::string runs = exported(store, "runs");
  EXPECT_NE(runs.find(",0.333333,"), std::string::npos) << runs;
  EXPECT_NE(runs.find(",123456789,"), std::string::npos) << runs;
  EXPECT_NE(runs.find(R"({""compute_s"":0.227179,""peak_tensor_bytes"":190526264})"),
            std::string::npos)
      << runs;
  EXPECT_NE(exported(store, "metrics").find(",123457000,"), std::string::npos);
  EXPECT_EQ(exported(store, "steps"), "run,times_s\n1,0.1 0.666667\n");
}

// Six digits of 123456789.5 are a whole number when they are read back.
TEST(Export, OfAnImportedExportIsTheSame) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  RunRecord record = sample_record(0);
  record.run.details = R"({"new_page_bytes":77866912.5,"peak_tensor_bytes":190526264.0})";
  record.metrics[0].burst_amount = 123456789.5;
  store.append_run(record);
  export_folder(store, folder.path());
  const TemporaryStore other_file;
  Store other(other_file.path());
  import_paths(other, {folder.path()});
  EXPECT_EQ(exported(other, "runs"), exported(store, "runs"));
  EXPECT_EQ(exported(other, "metrics"), exported(store, "metrics"));
}

// Of a run that does not count only its own line is written.
TEST(Export, LeavesOutWhatRunsThatDoNotCountMeasured) {
  const TemporaryStore file;
  Store store = file.open();
  RunRecord outlier = sample_record(0);
  outlier.run.status = "outlier";
  store.append_run(outlier);
  EXPECT_NE(exported(store, "runs").find("outlier"), std::string::npos);
  EXPECT_EQ(exported(store, "steps"), "run,times_s\n");
  EXPECT_EQ(exported(store, "metrics").find("worker"), std::string::npos);
}

// A line holds 10,000 steps at most.
TEST(Export, ManyStepsReadBack) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  RunRecord record = sample_record(0);
  record.step_times_s.assign(10'001, 0.25);
  record.step_times_s.back() = 0.5;
  store.append_run(record);
  const std::string steps = exported(store, "steps");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 3);
  EXPECT_TRUE(steps.ends_with("0.25\n1,0.5\n"));
  export_folder(store, folder.path());
  const TemporaryStore other_file;
  Store other(other_file.path());
  import_paths(other, {folder.path()});
  EXPECT_EQ(other.run(1).step_times_s, record.step_times_s);
}

// A table that is empty now has no file, not that of an earlier export.
TEST(Export, RemovesFilesOfTablesThatAreEmpty) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  store.append_operators(std::vector{sample_operator()});
  const std::vector<std::string> all{"machines.csv", "campaigns.csv", "operators.csv"};
  EXPECT_EQ(export_folder(store, folder.path()), all);
  folder.file("notes.csv", "not ours\n");
  EXPECT_EQ(store.forget_operators("collect", "here"), 1);
  EXPECT_EQ(export_folder(store, folder.path()).size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "operators.csv"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "notes.csv"));
}

std::size_t lines_of(const std::filesystem::path& file) {
  const std::string text = read_file(file, kMostBytes);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// A run has a line in each of four files. One that is appended while they are written is in all of
// them or in none.
TEST(Export, IsOfOneMoment) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store writer = file.open();
  writer.append_run(sample_record(0));
  std::thread meanwhile([&] {
    for (std::int64_t repeat = 1; repeat <= 100; ++repeat) writer.append_run(sample_record(repeat));
  });
  const Store reader(file.path(), OpenMode::ReadOnly);
  for (int i = 0; i < 20; ++i) {
    export_folder(reader, folder.path());
    const std::size_t runs = lines_of(folder.path() / "runs.csv");
    for (const char* name : {"metrics.csv", "steps.csv", "samples.csv"}) {
      EXPECT_EQ(lines_of(folder.path() / name), runs) << name;
    }
  }
  meanwhile.join();
  EXPECT_EQ(reader.count("runs"), 101);
}

}  // namespace
}  // namespace foretrain::store
