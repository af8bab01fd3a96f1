// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/test_store.h"

namespace foretrain::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1 << 20;

const std::string kTrainingColumns =
    "source,framework,model,task_dataset,gpu,gpus,nodes,gpus_per_node,interconnect,precision,"
    "batch_per_gpu,global_batch,metric,value,unit,parallelism,notes\n";
const std::string kTrainingLine =
    "paper,PyTorch,resnet50,ImageNet,V100,8,1,3/4/4/4,NVLink,FP32,32,256,step_time,0.25,s,DDP,"
    "\"a, \"\"b\"\"\"\n";

const std::string kOperatorColumns =
    "machine,source,split,kind,shapes,attributes,dtype,direction,time_s,spread_s,repeats\n";
const std::string kOperatorLine = "here,collect,,linear,8x4;4x2,{},f32,forward,0.25,,3\n";

std::string import_error(Store& store, const std::vector<fs::path>& paths) {
  try {
    import_paths(store, paths);
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
  EXPECT_EQ(import_paths(store, {csv}).at(0).rows, 2U);
  EXPECT_EQ(import_paths(store, {csv}).at(0).table, "training");
  ASSERT_EQ(store.training("t.csv").size(), 2U);
  EXPECT_EQ(store.training()[1].gpus_per_node, "3/4/4/4");
  EXPECT_EQ(store.training()[1].notes, "a, \"b\"");
  EXPECT_EQ(store.training()[1].value, 0.25);
}

TEST(Import, AMalformedLineLeavesTheStoreAsItWas) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  import_paths(store, {folder.file("t.csv", kTrainingColumns + kTrainingLine)});
  std::string broken = kTrainingColumns + kTrainingLine + kTrainingLine;
  broken.replace(broken.rfind("0.25"), 4, "fast");
  EXPECT_EQ(import_error(store, {folder.file("t.csv", broken)}),
            "file t.csv, line 3: 'fast' in column value is no number");
  EXPECT_EQ(store.count("training"), 1);
  EXPECT_EQ(
      import_error(store, {folder.file("t.csv", kTrainingColumns + "a,b\n")}),
      "file t.csv, line 2: 2 fields where the first line has 17; is the line cut off or a quote "
      "missing?");
  EXPECT_NE(import_error(store, {folder.file("x.csv", "what,is,this\n1,2,3\n")}), "");
  EXPECT_NE(import_error(store, {folder.path() / "missing.csv"}), "");
  EXPECT_EQ(store.count("training"), 1);
}

// Operators and collectives that `collect` timed on one machine have one source. So has what it
// timed on another machine: that stays, too.
TEST(Import, ReplacesRowsOfItsTableSourceAndMachineOnly) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  store.put_machine({.id = "there"});
  Operator elsewhere = sample_operator();
  elsewhere.machine = "there";
  store.append_operators(std::vector{sample_operator(), sample_operator(), elsewhere});
  store.append_collectives(std::vector{sample_collective()});
  const Imported imported =
      import_paths(store, {folder.file("o.csv", kOperatorColumns + kOperatorLine)}).at(0);
  EXPECT_EQ(imported.rows, 1U);
  EXPECT_EQ(imported.replaced, 2U);
  EXPECT_EQ(store.operators("here").size(), 1U);
  EXPECT_EQ(store.operators("there").size(), 1U);
  EXPECT_EQ(store.count("collectives"), 1);
}

// Rows are told apart by the file's name: the second file would replace the first one's.
TEST(Import, RefusesTwoFilesOfOneNameAtOnce) {
  const TemporaryStore file;
  const TemporaryFolder one;
  const TemporaryFolder other;
  Store store = file.open();
  const std::vector<fs::path> files{one.file("t.csv", kTrainingColumns + kTrainingLine),
                                    other.file("t.csv", kTrainingColumns + kTrainingLine)};
  EXPECT_EQ(import_error(store, files),
            "file t.csv, line 2: rows of source 't.csv' came with another file of this import "
            "already; rename one of the files, or import this one alone to replace them");
  EXPECT_EQ(store.count("training"), 0);  // nothing of the first one, either
  import_paths(store, {files[0]});
  EXPECT_EQ(import_paths(store, {files[1]}).at(0).replaced, 1U);
}

TEST(Import, ABareMachineLeavesWhatIsKnownOfIt) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();  // a "toy" of 2 cores
  folder.file("machines.csv",
              "id,cpu,cores,memory_bytes,kernel,system,pytorch,details\nhere,,,,6.1,,,\n");
  import_paths(store, {folder.path()});
  EXPECT_EQ(store.machines()[0].cpu, "toy");
  EXPECT_EQ(store.machines()[0].cores, 2);
  EXPECT_EQ(store.machines()[0].kernel, "6.1");
}

// 0.5 ms are 0.0005 s.
TEST(Import, ReadsNeuSightOperators) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  import_paths(store, {folder.file("gemm.csv",
                                   "split,vendor,device,op,B,M,N,K,latency_ms,kernel,grid,block\n"
                                   "train,nvidia,A100,bmm,6,27,,390,0.5,k,4x1x6,256x1x1\n")});
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
  import_paths(store, {folder.file("ett.csv",
                                   "cluster,gpu,op,params,fwd_us,bwd_us\n"
                                   "P,A100,norm,b=2.0;l=1024.5,200,800\nP,A100,norm,b=1,100,\n")});
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
  import_paths(store,
               {folder.file("nccl.csv",
                            "cluster,gpu,collective,elements,bytes,nodes,gpus_per_node,dur_us\n"
                            "P,A100,allgather_large,100.0,400.0,2.0,4.0,50\n")});
  ASSERT_EQ(store.collectives().size(), 1U);
  EXPECT_EQ(store.collectives()[0].ranks, 8);
  EXPECT_DOUBLE_EQ(store.collectives()[0].time_s, 50e-6);
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
  import_paths(other, {folder.path()});
  EXPECT_EQ(other.run(1).step_times_s, (std::vector<double>{0.25, 0.5}));
}

TEST(Import, RefusesSamplesThatAreDamaged) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  store.append_run(sample_record(0));
  export_folder(store, folder.path());
  std::string samples = read_file(folder.path() / "samples.csv", kMostBytes);
  samples.erase(samples.size() - 9, 4);
  folder.file("samples.csv", samples);
  const TemporaryStore other_file;
  Store other(other_file.path());
  try {
    import_paths(other, {folder.path()});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("file samples.csv, line 2: "), std::string::npos)
        << error.what();
  }
}

// An export of version 1 has no column for the request.
TEST(Import, ReadsRunsWithoutTheirRequest) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  store.append_run(sample_record(0));
  export_folder(store, folder.path());
  std::string runs = read_file(folder.path() / "runs.csv", kMostBytes);
  runs.replace(runs.find(",request\n"), 9, "\n");
  ASSERT_TRUE(runs.ends_with(",\n"));  // the last cell is empty
  runs.replace(runs.size() - 2, 2, "\n");
  folder.file("runs.csv", runs);
  const TemporaryStore other_file;
  Store other(other_file.path());
  import_paths(other, {folder.path()});
  ASSERT_EQ(other.runs().size(), 1U);
  EXPECT_EQ(other.runs()[0].request, "");
}

// A folder with one run whose files are right until a test spoils one of them.
class RunFiles : public testing::Test {
 protected:
  RunFiles() {
    const TemporaryStore file;
    Store store = file.open();
    store.append_run(sample_record(0));
    export_folder(store, folder.path());
  }

  // What an empty store says to the folder when `from` in `name` is `to`.
  std::string error_with(const std::string& name, const std::string& from,
                         const std::string& to) const {
    const std::string good = read_file(folder.path() / name, kMostBytes);
    std::string bad = good;
    EXPECT_NE(bad.find(from), std::string::npos) << from;
    folder.file(name, bad.replace(bad.find(from), from.size(), to));
    const TemporaryStore file;
    Store store(file.path());
    std::string error = import_error(store, {folder.path()});
    EXPECT_EQ(store.count("machines"), 0);
    folder.file(name, good);
    return error;
  }

  TemporaryFolder folder;
};

TEST_F(RunFiles, AreRefusedByFileAndLine) {
  EXPECT_EQ(error_with("machines.csv", "\nhere,", "\n,"),
            "file machines.csv, line 2: column id is empty");
  EXPECT_EQ(error_with("campaigns.csv", "\nbase,", "\n,"),
            "file campaigns.csv, line 2: column name is empty");
  EXPECT_EQ(error_with("runs.csv", ",here,", ",there,"),
            "file runs.csv, line 2: machine 'there' is neither in machines.csv nor in the store");
  EXPECT_EQ(error_with("runs.csv", "1,base,", "1,bass,"),
            "file runs.csv, line 2: campaign 'bass' is neither in campaigns.csv nor in the store");
  EXPECT_EQ(error_with("runs.csv", ",ok,", ",,"), "file runs.csv, line 2: column status is empty");
  EXPECT_EQ(error_with("runs.csv", ",0.25,", ",-0.25,"),
            "file runs.csv, line 2: the number in column step_median_s is negative");
  EXPECT_EQ(error_with("runs.csv", ":32,", ":32.0,"),
            "file runs.csv, line 2: the configuration is not in its one form: keys sorted, no "
            "spaces, whole numbers without a fraction");
  EXPECT_TRUE(error_with("runs.csv", "{", "").starts_with("file runs.csv, line 2: configuration"));
}

TEST_F(RunFiles, AreRefusedForMetricsAndStepsThatCannotBe) {
  const std::string metrics = read_file(folder.path() / "metrics.csv", kMostBytes);
  const std::string line = metrics.substr(metrics.find('\n') + 1);
  EXPECT_EQ(error_with("metrics.csv", line, line + line),
            "file metrics.csv, line 3: gpu_util of worker 0 of this run is there twice");
  EXPECT_EQ(error_with("metrics.csv", ",worker,", ",boss,"),
            "file metrics.csv, line 2: 'boss' in column role is none of 'worker', 'server'");
  EXPECT_EQ(error_with("metrics.csv", ",BIB,", ",XYZ,"),
            "file metrics.csv, line 2: 'XYZ' in column pattern is none of 'B', 'I', 'BIB'");
  EXPECT_EQ(error_with("metrics.csv", ",0,gpu", ",-1,gpu"),
            "file metrics.csv, line 2: the number in column instance is negative");
  EXPECT_EQ(error_with("metrics.csv", "1,worker", "2,worker"),
            "file metrics.csv, line 2: runs.csv has no run 2");
  EXPECT_EQ(error_with("steps.csv", "0.25", "1e+300"),  // beyond a 32-bit float
            "file steps.csv, line 2: '1e+300' in column times_s is no time of a step");
  EXPECT_EQ(error_with("steps.csv", "0.5", "-5"),
            "file steps.csv, line 2: '-5' in column times_s is no time of a step");
  EXPECT_EQ(error_with("steps.csv", "0.5", "fast"),
            "file steps.csv, line 2: 'fast' in column times_s is no number");
  fs::remove(folder.path() / "runs.csv");
  EXPECT_NE(error_with("steps.csv", "0.5", "0.5").find("runs.csv"), std::string::npos);
}

TEST(Import, RefusesRowsThatCannotBe) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  EXPECT_EQ(
      import_error(store, {folder.file("o.csv", kOperatorColumns +
                                                    "here,collect,,linear,,{},f32,up,0.25,,3\n")}),
      "file o.csv, line 2: 'up' in column direction is none of 'forward', 'backward', 'both', ''");
  EXPECT_EQ(import_error(store, {folder.file("c.csv",
                                             "gpu,ranks,nodes,bytes,oop_time_us\n"
                                             "A100,8,-2,1024,5\n")}),
            "file c.csv, line 2: '-2' in column nodes is no number of ranks");
  // 2^53 x 2^53 is no 64-bit number
  EXPECT_EQ(import_error(store, {folder.file("c.csv",
                                             "gpu,collective,bytes,nodes,gpus_per_node,dur_us\n"
                                             "A100,a,8,9007199254740992,9007199254740992,5\n")}),
            "file c.csv, line 2: '9007199254740992' in column nodes is no number of ranks");
}

// The file is read in blocks, so shares are those of blocks: more than one here.
TEST(Import, TellsHowFarItIs) {
  const TemporaryStore file;
  const TemporaryFolder folder;
  Store store = file.open();
  std::string text = kTrainingColumns;
  for (int i = 0; i < 3000; ++i) text += kTrainingLine;
  std::vector<double> shares;
  import_paths(store, {folder.file("t.csv", text)}, [&](std::size_t lines, auto share) {
    shares.push_back(share.value());
    EXPECT_EQ(lines, shares.size());
  });
  ASSERT_EQ(shares.size(), 3000U);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LT(shares.front(), 0.5);
  EXPECT_EQ(shares.back(), 1);
}

}  // namespace
}  // namespace foretrain::store
