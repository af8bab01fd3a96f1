// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/store/test_store.h"

namespace foretrain::store {
namespace {

namespace fs = std::filesystem;

const std::string kTrainingColumns =
    "source,framework,model,task_dataset,gpu,gpus,nodes,gpus_per_node,interconnect,precision,"
    "batch_per_gpu,global_batch,metric,value,unit,parallelism,notes\n";
const std::string kTrainingLine =
    "paper,PyTorch,resnet50,ImageNet,V100,8,1,3/4/4/4,NVLink,FP32,32,256,step_time,0.25,s,DDP,"
    "\"a, \"\"b\"\"\"\n";

// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() /
              ("foretrain-exchange-" + std::to_string(std::random_device{}()))) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }
  fs::path file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  fs::path path_;
};

std::string import_error(Store& store, const fs::path& path) {
  try {
    import_path(store, path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Import, TakesTrainingRowsAndReplacesThemTheSecondTime) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  const fs::path csv = folder.file("t.csv", kTrainingColumns + kTrainingLine + kTrainingLine);
  EXPECT_EQ(import_path(store, csv).at(0).rows, 2U);
  EXPECT_EQ(import_path(store, csv).at(0).table, "training");
  ASSERT_EQ(store.training("t.csv").size(), 2U);
  EXPECT_EQ(store.training()[1].gpus_per_node, "3/4/4/4");
  EXPECT_EQ(store.training()[1].notes, "a, \"b\"");
  EXPECT_EQ(store.training()[1].value, 0.25);
}

TEST(Import, AMalformedLineLeavesTheStoreAsItWas) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  import_path(store, folder.file("t.csv", kTrainingColumns + kTrainingLine));
  std::string broken = kTrainingColumns + kTrainingLine + kTrainingLine;
  broken.replace(broken.rfind("0.25"), 4, "fast");
  EXPECT_EQ(import_error(store, folder.file("t.csv", broken)),
            "file t.csv, line 3: 'fast' in column value is no number");
  EXPECT_EQ(store.count("training"), 1);
  EXPECT_EQ(
      import_error(store, folder.file("t.csv", kTrainingColumns + "a,b\n")),
      "file t.csv, line 2: 2 fields where the first line has 17; is the line cut off or a quote "
      "missing?");
  EXPECT_NE(import_error(store, folder.file("x.csv", "what,is,this\n1,2,3\n")), "");
  EXPECT_NE(import_error(store, folder.path() / "missing.csv"), "");
  EXPECT_EQ(store.count("training"), 1);
}

// 0.5 ms are 0.0005 s.
TEST(Import, ReadsNeuSightOperators) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  import_path(store, folder.file("gemm.csv",
                                 "split,vendor,device,op,B,M,N,K,latency_ms,kernel,grid,block\n"
                                 "train,nvidia,A100,bmm,6,27,,390,0.5,k,4x1x6,256x1x1\n"));
  const std::vector<Operator> rows = store.operators("A100");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0].time_s, 0.0005);
  EXPECT_EQ(rows[0].kind, "bmm");
  EXPECT_EQ(rows[0].split, "train");
  EXPECT_EQ(rows[0].direction, "forward");
  EXPECT_EQ(
      rows[0].attributes,
      R"({"B":6,"K":390,"M":27,"block":"256x1x1","grid":"4x1x6","kernel":"k","vendor":"nvidia"})");
}

TEST(Import, ReadsBothDirectionsOfEtt) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  import_path(store, folder.file("ett.csv",
                                 "cluster,gpu,op,params,fwd_us,bwd_us\n"
                                 "P,A100,norm,b=2.0;l=1024.5,200,800\nP,A100,norm,b=1,100,\n"));
  const std::vector<Operator> rows = store.operators();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].attributes, R"({"b":2,"cluster":"P","l":1024.5})");
  EXPECT_DOUBLE_EQ(rows[1].time_s, 800e-6);
  EXPECT_EQ(rows[1].direction, "backward");
}

// Two nodes of four GPUs are eight ranks.
TEST(Import, ReadsCollectives) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  import_path(store,
              folder.file("nccl.csv",
                          "cluster,gpu,collective,elements,bytes,nodes,gpus_per_node,dur_us\n"
                          "P,A100,allgather_large,100.0,400.0,2.0,4.0,50\n"));
  ASSERT_EQ(store.collectives().size(), 1U);
  EXPECT_EQ(store.collectives()[0].ranks, 8);
  EXPECT_DOUBLE_EQ(store.collectives()[0].time_s, 50e-6);
}

// What one store exports another one imports whole, and only once.
TEST(Export, GoesIntoAnotherStore) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  store.append_run(sample_record(0));
  RunRecord failed = sample_record(1);
  failed.run.status = "failed";
  failed.run.message = "a \"quoted\",\nbroken line";
  failed.metrics.clear();
  failed.step_times_s.clear();
  store.append_run(failed);
  import_path(store, folder.file("t.csv", kTrainingColumns + kTrainingLine));
  Operator one;
  one.machine = "here";
  one.source = "base";
  one.kind = "linear";
  one.time_s = 0.1;
  store.append_operators(std::vector{one});
  export_folder(store, folder.path() / "out");

  const TemporaryStore other_file;
  Store other(other_file.path());
  import_path(other, folder.path() / "out");
  import_path(other, folder.path() / "out");
  for (const std::string& table : export_tables()) {
    std::ostringstream before;
    std::ostringstream after;
    export_table(store, table, before);
    export_table(other, table, after);
    EXPECT_EQ(before.str(), after.str()) << table;
  }
  EXPECT_EQ(other.run(1).step_times_s, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(other.run(2).run.message, failed.run.message);
}

std::string exported(const Store& store, const std::string& table) {
  std::ostringstream out;
  export_table(store, table, out);
  return out.str();
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
  EXPECT_NE(exported(store, "metrics").find(",1.23457e+08,"), std::string::npos);
  EXPECT_EQ(exported(store, "steps"), "run,times_s\n1,0.1 0.666667\n");
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
  import_path(other, folder.path());
  EXPECT_EQ(other.run(1).step_times_s, record.step_times_s);
}

TEST(Import, ReadsStepsOneByOneToo) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  store.append_run(sample_record(0));
  export_folder(store, folder.path());
  folder.file("steps.csv", "run,step,time_s\n1,0,0.25\n1,1,0.5\n");
  const TemporaryStore other_file;
  Store other(other_file.path());
  import_path(other, folder.path());
  EXPECT_EQ(other.run(1).step_times_s, (std::vector<double>{0.25, 0.5}));
  folder.file("steps.csv", "run,times_s\n1,0.25 fast\n");
  const TemporaryStore third_file;
  Store third(third_file.path());
  EXPECT_EQ(import_error(third, folder.path()),
            "file steps.csv, line 2: 'fast' in column times_s is no number");
}

// The file is read in blocks, so shares are those of blocks: more than one here.
TEST(Import, TellsHowFarItIs) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  std::string text = kTrainingColumns;
  for (int i = 0; i < 3000; ++i) text += kTrainingLine;
  std::vector<double> shares;
  import_path(store, folder.file("t.csv", text), [&](std::size_t lines, double share) {
    shares.push_back(share);
    EXPECT_EQ(lines, shares.size());
  });
  ASSERT_EQ(shares.size(), 3000U);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LT(shares.front(), 0.5);
  EXPECT_EQ(shares.back(), 1);
}

}  // namespace
}  // namespace foretrain::store
