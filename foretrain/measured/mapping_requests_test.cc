// SPDX-License-Identifier: Apache-2.0
// What the mappings of data/evaluate/ ask of a row, whether or not this version can answer it.
// Every measurement here is invented.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "foretrain/base/embedded.h"
#include "foretrain/base/json.h"
#include "foretrain/measured/mapping.h"
#include "foretrain/measured/report_number.h"
#include "foretrain/measured/table.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/request/request.h"

namespace foretrain::measured {

extern const std::span<const EmbeddedFile> kMappingFiles;

namespace {

struct Asked {
  const char* file;
  const char* line;     // of the CSV file
  const char* request;  // JSON
  const char* number;   // of the report
  double measured;      // SI
};

Measurement map_line(const std::string& file, const std::string& line) {
  const std::string name = "evaluate/" + file + ".json";
  const auto found = std::find_if(kMappingFiles.begin(), kMappingFiles.end(),
                                  [&](const EmbeddedFile& one) { return one.name == name; });
  if (found == kMappingFiles.end()) throw std::logic_error("no mapping " + name);
  const TestFolder folder;
  folder.write(file + ".csv", kTrainingHeader + line + "\n");
  Table rows(folder.path() / (file + ".csv"));
  Row row;
  if (!rows.next(row)) throw std::logic_error("no row");
  return map_row(parse_mapping(found->text, name), row);
}

class AskedOfARow : public testing::TestWithParam<Asked> {};

TEST_P(AskedOfARow, IsACompleteRequest) {
  const Asked& asked = GetParam();
  const Measurement mapped = map_line(asked.file, asked.line);
  ASSERT_TRUE(mapped.request) << mapped.reason;
  EXPECT_EQ(parse_json(*mapped.request), parse_json(asked.request)) << *mapped.request;
  EXPECT_EQ(report_numbers()[mapped.number].name, asked.number);
  EXPECT_DOUBLE_EQ(mapped.measured, asked.measured);
  EXPECT_NO_THROW(parse_request(*mapped.request, "request"));
}

INSTANTIATE_TEST_SUITE_P(
    LanguageModels, AskedOfARow,
    testing::Values(
        // 50257 words are padded to 99 x 128 x 4.
        Asked{"vtrain_single_node",
              "s,f,GPT h=1024 L=24 heads=16,LM seq=1024,A100 80GB SXM,8,1,8,x,FP16 mixed,16,32,"
              "iteration_time,250,ms,tp=4 dp=2 pp=1 micro_batch=2,"
              "hidden=1024; layers=24; heads=16; seq=1024; raw",
              R"({"model": "gpt:layers=24,hidden=1024,heads=16,seq=1024,vocab=50688",
                  "device": "a100-sxm4-80gb", "workers": 8, "workers_per_node": 8,
                  "global_batch": 32, "precision": "fp16", "framework": "megatron",
                  "attention": "math", "optimizer": "adam", "intra_node": "nvswitch",
                  "strategy": {"kind": "ddp", "tensor": 4, "pipeline": 1, "micro_batch": 2,
                               "recompute": "full"}})",
              "step_time_s", 0.25},
        Asked{"korthikanti",
              "s,f,gpt3-175B h=12288 L=96 heads=96,seq=2048,A100 80GB SXM,64,8,8,x,FP16,,64,"
              "iteration_time,15,s,tp=8 pp=8 dp=1 micro_batch=1 interleave=3 recompute=attn_only,n",
              R"({"model": "gpt:layers=96,hidden=12288,heads=96,seq=2048,vocab=51200",
                  "device": "a100-sxm4-80gb", "workers": 64, "workers_per_node": 8,
                  "global_batch": 64, "precision": "fp16", "framework": "megatron",
                  "attention": "math", "optimizer": "adam", "intra_node": "nvswitch", "network": "8xhdr",
                  "strategy": {"kind": "ddp", "tensor": 8, "pipeline": 8, "micro_batch": 1,
                               "interleave": 3, "recompute": "selective",
                               "sequence_parallel": true}})",
              "step_time_s", 15},
        Asked{
            "mosaicml",
            "s,f,MPT-3b,C4 LM seq=4096,H100 80GB SXM,16,2,8,x,amp_bf16,12.0,192,throughput,300000,"
            "tokens/s,FSDP SHARD_GRAD_OP; mp=DEFAULT; act_ckpt=True; act_offload=False; "
            "micro_batch=6; grad_accum=2,n",
            R"({"model": "mpt-3b:seq=4096", "device": "h100-sxm5-80gb", "workers": 16,
                  "workers_per_node": 8, "global_batch": 192, "precision": "bf16",
                  "framework": "composer", "attention": "flash", "optimizer": "adamw",
                  "intra_node": "nvswitch", "network": "8x400gbe-roce",
                  "strategy": {"kind": "zero2", "micro_batch": 6, "recompute": "full",
                               "gradient_precision": "fp32"}})",
            "tokens_per_s", 300000},
        // Of 208 TFLOP/s a quarter is recomputation: 156 / 312.
        Asked{"bigscience",
              "s,f,GPT 181B,LM,A100 80GB SXM,384,48,8,x,BF16,,2048,tflops_per_gpu,208,TFLOP/s/GPU,"
              "dp=4 tp=8 pp=12 micro_batch=2 gas= zero=,"
              "sect=x; note=; raw=train/tr11-176B-ml/chronicles-prequel.md:605",
              R"({"model": "gpt:hidden=14336,layers=72,heads=64,seq=2048,vocab=250880",
                  "device": "a100-sxm4-80gb", "workers": 384, "workers_per_node": 8,
                  "global_batch": 2048, "precision": "fp16", "attention": "math",
                  "framework": "megatron-deepspeed-blocking",
                  "optimizer": "adam", "intra_node": "nvswitch", "network": "4xomni-path",
                  "strategy": {"kind": "zero1", "tensor": 8, "pipeline": 12, "micro_batch": 2,
                               "recompute": "full"}})",
              "mfu", 208 * 0.00240384615384615},
        // A single node's batch is 512, whatever the row says, and its gradients were summed in 16
        // bits.
        Asked{"bigscience",
              "s,f,GPT 18B,LM,A100 80GB SXM,8,1,8,x,BF16,,2048,gpu_mem,60,GB,"
              "tp=8 pp=1 micro_batch=1 gas= zero=,sect=x; raw=train/x/chronicles-prequel.md:656",
              R"({"model": "gpt:hidden=14336,layers=10,heads=64,seq=2048,vocab=250880",
                  "device": "a100-sxm4-80gb", "workers": 8, "workers_per_node": 8,
                  "global_batch": 512, "precision": "fp16", "attention": "math",
                  "framework": "megatron-deepspeed",
                  "optimizer": "adam", "intra_node": "nvswitch", "network": "4xomni-path",
                  "strategy": {"kind": "zero1", "tensor": 8, "pipeline": 1, "micro_batch": 1,
                               "recompute": "full"}})",
              "memory_peak_bytes", 60 * 1073741824.0},
        Asked{"bigscience",
              "s,f,GPT 52B,LM,V100 32GB,64,16,4,x,FP16,,1024,iteration_time,140,s,"
              "dp=1 pp=16 micro_batch=4 gas=256 zero=,sect=Megatron; raw=experiments/gpt2.md:97",
              R"({"model": "gpt:hidden=8192,layers=64,heads=32,seq=1024,vocab=50688",
                  "device": "v100-sxm2-32gb", "workers": 64, "workers_per_node": 4,
                  "global_batch": 1024, "precision": "fp16", "framework": "megatron",
                  "optimizer": "adam", "attention": "math",
                  "intra_node": {"bytes_per_s": 5.625e10, "efficiency": 1, "latency_s": 1.6e-6,
                                 "switched": true},
                  "network": {"bytes_per_s": 6.3e9, "efficiency": 1, "latency_s": 7e-6, "rdma": true},
                  "strategy": {"kind": "ddp", "tensor": 4, "pipeline": 16, "micro_batch": 4,
                               "recompute": "full"}})",
              "step_time_s", 140},
        // The heading says fp32, the precision column does not.
        Asked{"paddle",
              "s,NGC PyTorch,Bert,,V100-SXM2 32GB,8,1,8,x,AMP/FP16,96,768,throughput,1200,"
              "sequences/s,data-parallel,\"col=\"\"NGC PyTorch\"\"; ctx=\"\"V100-FP32测试\"\"\"",
              R"({"model": "bert-base:seq=128,places=20", "device": "v100-sxm2-32gb", "workers": 8,
                  "workers_per_node": 8, "batch": 96, "precision": "fp32", "framework": "nvidia",
                  "optimizer": "adam", "intra_node": "nvlink2", "network": "edr"})",
              "samples_per_s", 1200}));

INSTANTIATE_TEST_SUITE_P(
    NvidiaExamples, AskedOfARow,
    testing::Values(
        // The accumulated batch is the step's, the batch column the micro-batch (126 is 128).
        Asked{
            "nvidia_examples",
            "s,PyTorch,LanguageModeling/BERT,,A100 80GB,16,2,8,DGX A100: NVSwitch,TF32,126,,"
            "throughput,5000,sequences/s,ddp,\"col=\"\"TF32 Throughput\"\"; sect=\"\"Pre-training "
            "NVIDIA DGX A100\"\"; Accumulated Batch size / GPU (TF32 and FP16)=4096 and 4096; "
            "Accumulation steps (TF32 and FP16)=32 and 16; Sequence length=128\"",
            R"({"model": "bert-large:seq=128,places=20", "device": "a100-sxm4-80gb", "workers": 16,
                  "workers_per_node": 8, "batch": 4096, "precision": "tf32",
                  "framework": "nvidia", "optimizer": "lamb", "intra_node": "nvswitch",
                  "network": "8xhdr", "strategy": {"kind": "allreduce", "micro_batch": 128}})",
            "samples_per_s", 5000},
        // Four nodes of 16; mixed precision has the first global batch.
        Asked{
            "nvidia_examples",
            "s,TensorFlow2,LanguageModeling/BERT,,V100 32GB,16,1,16,DGX-2: NVSwitch,AMP/FP16,60,"
            "\"61440 , 65536\",throughput,9000,sequences/s,ddp,\"col=\"\"Throughput - mixed "
            "precision\"\"; sect=\"\"Pre-training training performance: Multi-node\"\"; Gradient "
            "Accumulation: mixed precision, FP32=16 , 32; Sequence Length=128; Num Nodes=4\"",
            R"({"model": "bert-large:seq=128,places=20", "device": "v100-sxm3-32gb", "workers": 64,
                  "workers_per_node": 16, "global_batch": 61440, "precision": "fp16",
                  "framework": "tensorflow-xla", "optimizer": "lamb", "intra_node": "nvswitch",
                  "network": "8xedr", "strategy": {"kind": "horovod", "micro_batch": 60}})",
            "samples_per_s", 9000},
        // The cell joins "6,3": mixed precision took 6.
        Asked{"nvidia_examples",
              "s,TensorFlow2,LanguageModeling/BERT,,V100 16GB,8,1,8,DGX-1: NVLink,AMP/FP16,63,504,"
              "throughput,250,sequences/s,ddp,\"col=\"\"Throughput - mixed precision\"\"; "
              "sect=\"\"Fine-tuning training performance for SQuAD v1.1\"\"\"",
              R"({"model": "bert-large:head=qa,seq=384", "device": "v100-sxm2-16gb",
                  "workers": 8, "workers_per_node": 8, "batch": 6, "precision": "fp16",
                  "framework": "tensorflow-xla", "optimizer": "adam", "intra_node": "nvlink2",
                  "network": "4xedr", "strategy": "horovod"})",
              "samples_per_s", 250},
        // 20 million samples/s, though the unit says samples/s.
        Asked{"nvidia_examples",
              "s,TensorFlow1,Recommendation/NCF,,A100 40GB,1,1,1,DGX A100: NVSwitch,TF32,1048576,"
              "1048576,throughput,20,samples/s,one,\"col=\"\"Throughput - TF32\"\"\"",
              R"({"model": "neumf-ml20m", "device": "a100-sxm4-40gb", "workers": 1,
                  "workers_per_node": 1, "batch": 1048576, "precision": "tf32",
                  "framework": "tensorflow", "optimizer": "adam", "intra_node": "nvswitch",
                  "network": "8xhdr", "strategy": "horovod"})",
              "samples_per_s", 20e6},
        Asked{"nvidia_examples",
              "s,PyTorch,SpeechRecognition/QuartzNet,,V100 32GB,4,1,4,DGX-1: NVLink,FP32,24,,"
              "throughput,300,images/s,ddp,\"col=\"\"Throughput - FP32\"\"; Grad accumulation=12\"",
              R"({"model": "quartznet", "device": "v100-sxm2-32gb", "workers": 4,
                  "workers_per_node": 4, "global_batch": 1152, "precision": "fp32",
                  "framework": "nvidia", "optimizer": "adam", "intra_node": "nvlink2",
                  "network": "4xedr", "strategy": {"kind": "allreduce", "micro_batch": 24}})",
              "samples_per_s", 300},
        // 5120 tokens of mixed precision, 2560 of fp32: 80 sentences of 32, 0.88 of them words.
        Asked{"nvidia_examples",
              "s,PyTorch,Translation/Transformer,,V100 16GB,1,1,1,DGX-1: NVLink,FP32,5120/2560,,"
              "throughput,9000,tokens/s,one,\"col=\"\"Throughput - FP32\"\"\"",
              R"({"model": "transformer-big:vocab=33712,seq=32", "device": "v100-sxm2-16gb",
                  "workers": 1, "workers_per_node": 1, "batch": 80, "precision": "fp32",
                  "framework": "nvidia", "optimizer": "adam", "intra_node": "nvlink2",
                  "network": "4xedr", "strategy": "allreduce"})",
              "tokens_per_s", 9000 * 1.14}));

TEST(UnaskedRow, DoesNotSayEnough) {
  const auto reason = [](const char* file, const char* line) {
    return map_line(file, line).reason;
  };
  EXPECT_EQ(reason("bigscience",
                   "s,f,GPT 181B,LM,A100 80GB SXM,384,48,8,x,BF16,,2048,iteration_time,120,s,"
                   "dp=8 tp=8 pp=6 micro_batch=4 gas= zero=,raw=x/chronicles-prequel.md:722"),
            "the number of heads, which the table varies, is not in the row");
  EXPECT_EQ(reason("bigscience",
                   "s,f,GPT 18B,LM,V100 32GB,16,4,4,x,FP16,,256,iteration_time,90,s,"
                   "dp=1 pp=8 micro_batch=4 gas=64 zero=,raw=experiments/gpt2.md:97"),
            "the parallel degrees do not multiply to the GPUs");
  EXPECT_EQ(reason("nvidia_examples",
                   "s,MXNet,Classification/RN50v1.5,,V100 16GB,8,1,8,DGX-1: NVLink,FP32,,,"
                   "throughput,3000,images/s,ddp,none"),
            "the batch is not stated");
}

}  // namespace
}  // namespace foretrain::measured
