// SPDX-License-Identifier: Apache-2.0
// What holds of memory and of the verdict whether a job fits, over many requests.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/predict/advice.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

constexpr std::array kModels{
    "resnet18:image=64", "gpt:layers=2,hidden=128,heads=4,seq=64,vocab=1000",
    "llama:layers=2,hidden=256,heads=4,kv_heads=2,ffn=512,seq=64,vocab=1000",
    "bert-base:layers=2,hidden=128,heads=4,seq=64"};
constexpr const char* kDecoder =
    "llama:layers=3,hidden=256,heads=4,kv_heads=2,ffn=512,seq=64,vocab=1000";

const Library& library() {
  static const Library kLibrary = load_library();
  return kLibrary;
}

// `rest` are further fields, each after a comma.
Request request(const std::string& model, const std::string& rest, double memory_bytes = 80e9) {
  return parse_request(R"({"model":")" + model +
                           R"(","context_bytes":0,"device":{"name":"d","fp32_flops_per_s":2e13,)" +
                           R"("tensor_bf16_flops_per_s":3e14,"tensor_fp16_flops_per_s":3e14,)" +
                           R"("memory_bytes_per_s":2e12,"memory_bytes":)" +
                           std::to_string(memory_bytes) + "}" + rest + "}",
                       "test");
}

MemoryReport memory(const std::string& model, const std::string& rest) {
  return predict(request(model, rest), library()).memory;
}

TEST(FitLaws, FewerBitsNeverNeedMoreForParameters) {
  for (const char* model : {kModels[1], kModels[2], kModels[3]}) {
    double before = 0;
    for (const char* weights : {"nf4", "int8", "bf16", "fp32"}) {
      const double bytes =
          memory(model, R"(,"batch":2,"precision":"bf16","trainable":"lora:rank=4","weights":")" +
                            std::string(weights) + "\"")
              .parameters;
      EXPECT_GT(bytes, before) << model << ' ' << weights;
      before = bytes;
    }
  }
}

TEST(FitLaws, AdaptersNeverNeedMoreThanFullTraining) {
  for (const char* model : {kModels[1], kModels[2], kModels[3]}) {
    for (const char* how : {R"("precision":"fp32")", R"("precision":"bf16")",
                            R"("precision":"bf16","weights":"bf16")"}) {
      for (const char* optimizer : {"sgd", "adamw", "adamw-8bit", "lion", "adafactor"}) {
        const std::string rest =
            std::string(R"(,"batch":1,"optimizer":")") + optimizer + "\"," + how;
        const MemoryReport all = memory(model, rest);
        const MemoryReport lora =
            memory(model, rest + R"(,"trainable":"lora:rank=1,targets=attention,dtype=bf16")");
        EXPECT_LE(lora.allocated, all.allocated) << model << rest;
        EXPECT_LT(lora.gradients + lora.optimizer, all.gradients + all.optimizer + 1);
      }
    }
  }
}

TEST(FitLaws, SmallerStatesNeverNeedMore) {
  for (const char* model : kModels) {
    const std::string rest = R"(,"batch":2,"optimizer":)";
    const double full = memory(model, rest + "\"adamw\"").optimizer;
    const double eight = memory(model, rest + "\"adamw-8bit\"").optimizer;
    const double one = memory(model, rest + "\"lion\"").optimizer;
    EXPECT_LT(eight, one) << model;
    EXPECT_LT(one, full) << model;
  }
}

// What is said not to fit never fits with a larger batch.
TEST(FitLaws, ALargerBatchNeverFitsWhereASmallerOneDoesNot) {
  for (const char* model : kModels) {
    for (const char* how : {R"(,"precision":"fp32")", R"(,"precision":"bf16")",
                            R"(,"precision":"bf16","weights":"bf16","optimizer":"adamw")"}) {
      const double enough =
          predict(request(model, std::string(how) + R"(,"batch":9)"), library()).memory.peak;
      bool fitted = true;
      for (std::int64_t batch = 1; batch <= 256; batch += 1 + batch / 16) {
        const std::string rest = std::string(how) + ",\"batch\":" + std::to_string(batch);
        const MemoryReport now = predict(request(model, rest, enough), library()).memory;
        EXPECT_FALSE(now.fits && !fitted) << model << rest;
        if (now.fits) {
          EXPECT_LE(now.peak, now.capacity) << model << rest;
        }
        fitted = now.fits;
      }
      EXPECT_FALSE(fitted) << model << how;
    }
  }
}

// With quantiles from -0.14 to 0.14, whatever is fitted to measurements.
const Library& library_with_intervals() {
  static const Library kLibrary = [] {
    Library made = load_library();
    MemoryCell cell{-0.1, 0.1, {}, 30, 3};
    for (std::size_t i = 0; i < cell.quantiles.size(); ++i) {
      cell.quantiles[i] = 0.02 * (static_cast<double>(i) - 7);
    }
    made.memory_intervals =
        std::make_shared<const MemoryIntervals>(MemoryIntervals{0.9, {}, {{"", cell}}});
    return made;
  }();
  return kLibrary;
}

// On a device that just holds a batch of 9, a larger batch is never likelier to fit, and more
// memory never makes it less likely.
TEST(FitLaws, AJobThatNeedsMoreIsNeverLikelierToFit) {
  for (const char* model : kModels) {
    const double enough = predict(request(model, R"(,"batch":9)"), library()).memory.peak;
    double before = 1;
    for (std::int64_t batch = 1; batch <= 1024; batch += 1 + batch / 4) {
      const std::string rest = ",\"batch\":" + std::to_string(batch);
      const MemoryReport now =
          predict(request(model, rest, enough), library_with_intervals()).memory;
      ASSERT_TRUE(now.fit_probability) << model << rest;
      EXPECT_LE(*now.fit_probability, before) << model << rest;
      EXPECT_LE(*now.low, now.peak) << model << rest;
      EXPECT_GE(*now.high, now.peak) << model << rest;
      const MemoryReport larger =
          predict(request(model, rest, 2 * enough), library_with_intervals()).memory;
      EXPECT_GE(*larger.fit_probability, *now.fit_probability) << model << rest;
      before = *now.fit_probability;
    }
    EXPECT_LT(before, 0.05) << model;
  }
}

// Batches of different lengths leave more behind in the allocator, if not in every single case;
// what is live and whether it fits is that of the longest.
TEST(FitLaws, VariedLengthsChangeOnlyWhatIsCached) {
  double equal_bytes = 0;
  double varied_bytes = 0;
  for (const char* model : {kModels[1], kModels[2]}) {
    for (const int batch : {1, 16, 256}) {
      const std::string rest = ",\"batch\":" + std::to_string(batch);
      const MemoryReport equal = memory(model, rest);
      const MemoryReport varied =
          memory(model, rest + R"(,"mean_length":40,"length_deviation":30)");
      EXPECT_EQ(varied.allocated, equal.allocated) << model << rest;
      EXPECT_EQ(varied.fits, equal.fits) << model << rest;
      EXPECT_GE(varied.fragmentation, 0) << model << rest;
      equal_bytes += equal.fragmentation;
      varied_bytes += varied.fragmentation;
    }
  }
  EXPECT_GT(varied_bytes, equal_bytes);
  EXPECT_THROW(memory(kModels[1], R"(,"length_deviation":30)"), Error);
}

TEST(LargestBatch, FitsAndOneMoreSampleDoesNot) {
  for (const char* model : kModels) {
    const Report most = predict(request(model, R"(,"batch":"max")", 400e6), library());
    EXPECT_TRUE(most.memory.fits) << model;
    const std::string more = ",\"batch\":" + std::to_string(most.job.batch + 1);
    EXPECT_FALSE(predict(request(model, more, 400e6), library()).memory.fits) << model;
    const std::string same = ",\"batch\":" + std::to_string(most.job.batch);
    EXPECT_EQ(predict(request(model, same, 400e6), library()).step_time_s.value,
              most.step_time_s.value);
  }
}

TEST(LargestBatch, SaysWhereNotEvenOneSampleFits) {
  try {
    predict(request(kDecoder, R"(,"batch":"max")", 1e6), library());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_NE(std::string(error.what()).find("not even one sample"), std::string::npos);
  }
  EXPECT_THROW(
      predict(request(kDecoder, R"(,"batch":"max","strategy":{"micro_batch":2})"), library()),
      Error);
  EXPECT_THROW(request(kDecoder, R"(,"batch":"most")"), Error);
}

TEST(Advice, ListsOnlyWhatFitsTheFastestPerSampleFirst) {
  const Request asked = request(kDecoder, R"(,"batch":64,"optimizer":"adamw")", 60e6);
  const Report report = predict_and_advise(asked, library());
  ASSERT_FALSE(report.memory.fits);
  ASSERT_GT(report.would_fit.size(), 1U);
  double before = report.would_fit.front().samples_per_s;
  for (const Remedy& remedy : report.would_fit) {
    EXPECT_LE(remedy.peak_bytes, remedy.capacity_bytes) << remedy.change;
    EXPECT_LE(remedy.samples_per_s, before) << remedy.change;
    before = remedy.samples_per_s;
  }
}

// The states alone are larger than the device; a catalog device, so that larger ones are tried,
// too.
TEST(Advice, JoinsChangesWhereNoneAloneIsEnough) {
  const Request asked = parse_request(
      R"({"model":"llama3.2-1b:seq=2048","device":"rtx-3090","batch":8,"precision":"bf16",)"
      R"("optimizer":"adamw"})",
      "test");
  const Report report = predict_and_advise(asked, library());
  ASSERT_FALSE(report.memory.fits);
  int here = 0;
  for (const Remedy& remedy : report.would_fit) {
    here += remedy.request.find("device") == std::string::npos ? 1 : 0;
  }
  EXPECT_GT(here, 0);
}

// SGD keeps no states, so offloading them saves nothing and takes longer: it is not offered beside
// the same change without it.
TEST(Advice, LeavesOutWhatFewerChangesDoAsWell) {
  const Request asked = parse_request(
      R"({"model":"llama3-8b","device":"a100-sxm4-40gb","workers":8,"batch":8,"precision":"bf16"})",
      "test");
  const Report report = predict_and_advise(asked, library());
  ASSERT_FALSE(report.memory.fits);
  ASSERT_FALSE(report.would_fit.empty());
  for (const Remedy& remedy : report.would_fit) {
    EXPECT_EQ(remedy.change.find("--offload optimizer"), std::string::npos) << remedy.change;
  }
}

// Thousands of layers: dozens of changes would take half a minute, so few are tried, which is said.
TEST(Advice, TriesFewChangesOfAModelThatIsLong) {
  const Request asked = request(kDecoder, R"(,"batch":64,"optimizer":"adamw")", 60e6);
  int tried = 0;
  const auto refuse = [&tried](const Request&) -> Report {
    ++tried;
    throw Error(ErrorKind::Unsupported, "not an option");
  };
  const Report report =
      advise(predict(asked, library()), asked, library(), refuse, std::size_t{100'000});
  ASSERT_FALSE(report.memory.fits);
  EXPECT_EQ(tried, 5);  // 500,000 in all
  EXPECT_NE(report.warnings.back().find("only " + std::to_string(tried) + " changes"),
            std::string::npos);
}

TEST(Advice, HasNothingToSayWhereItFits) {
  EXPECT_TRUE(predict_and_advise(request(kDecoder, R"(,"batch":1)"), library()).would_fit.empty());
}

TEST(Weights, AreRefusedWhereTheyCannotBe) {
  const auto refused = [](const std::string& rest) {
    try {
      predict(request(kDecoder, rest), library());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused(R"(,"weights":"nf4")").find("lora:rank=16"), std::string::npos);
  EXPECT_NE(refused(R"(,"weights":"int8","trainable":"head")"), "");
  EXPECT_NE(refused(R"(,"weights":"fp16","precision":"bf16")").find("precision fp16"),
            std::string::npos);
  EXPECT_NE(refused(R"(,"weights":"nf4","precision":"tf32","trainable":"lora:rank=4")"), "");
  EXPECT_EQ(refused(R"(,"weights":"bf16")"), "");  // computes in bf16
  EXPECT_EQ(refused(R"(,"weights":"nf4","mode":"inference")"), "");
}

// Copies to NHWC are workspace; those who store so need none.
TEST(MemoryFormat, ChannelsLastNeedsNoCopies) {
  const std::string rest = R"(,"batch":32,"precision":"fp16","memory_format":)";
  EXPECT_LT(memory("resnet18", rest + "\"channels_last\"").allocated,
            memory("resnet18", rest + "\"contiguous\"").allocated);
  EXPECT_EQ(memory("resnet18", rest + "\"contiguous\"").allocated,
            memory("resnet18", R"(,"batch":32,"precision":"fp16")").allocated);
}

}  // namespace
}  // namespace foretrain
