// SPDX-License-Identifier: Apache-2.0
// Laws of recomputation over built-in models: it never needs more memory nor less time, and the
// step stays the one of the model.
#include "foretrain/graph/recompute.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/passes.h"
#include "foretrain/predict/predict.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain {
namespace {

// The first model of every family, and drawn architectures of all kinds.
std::vector<std::string> some_models() {
  std::vector<std::string> some;
  std::set<std::string> families;
  for (const zoo::Model& model : zoo::models()) {
    if (families.insert(model.family).second) some.push_back(model.name);
  }
  for (int seed = 0; seed < 12; ++seed) {
    some.push_back("random:family=any,seed=" + std::to_string(seed));
  }
  return some;
}

class Recomputation : public testing::Test {
 protected:
  Report report(const std::string& model, const std::string& rest, const std::string& recompute) {
    const std::string strategy = R"("strategy":{"recompute":")" + recompute + R"("})";
    return predict(parse_request(R"({"model":")" + model + R"(",)" + rest + strategy + "}", "test"),
                   library_);
  }

  void expect_laws(const std::string& model, const std::string& rest) {
    SCOPED_TRACE(model + " " + rest);
    const Report none = report(model, rest, "none");
    const Report selective = report(model, rest, "selective");
    const Report full = report(model, rest, "full");
    EXPECT_LE(selective.memory.allocated, none.memory.allocated);
    EXPECT_LE(full.memory.allocated, selective.memory.allocated);
    EXPECT_GE(selective.step_time_s.value, none.step_time_s.value);
    EXPECT_GE(full.step_time_s.value, selective.step_time_s.value);
  }

  Library library_ = load_library();
};

TEST_F(Recomputation, NeverNeedsMoreMemoryNorLessTime) {
  const std::vector<std::string> models = some_models();
  for (std::size_t i = 0; i < models.size(); ++i) {  // both precisions in turn
    const std::string half = R"("precision":"bf16","attention":"math",)";
    expect_laws(models[i], R"("device":"a100","batch":16,)" + (i % 2 == 0 ? half : ""));
  }
}

TEST_F(Recomputation, KeepsItsLawsAmongWorkersAndOverPasses) {
  const std::string half = R"("device":"a100","precision":"fp16","attention":"math",)";
  for (const char* model : {"resnet50", "gpt2", "bert-base", "efficientnet_b0", "swin_t"}) {
    expect_laws(model, half + R"("batch":8,"workers":4,)");
    expect_laws(model, half + R"("batch":8,"framework":"megatron",)");
    expect_laws(model, half + R"("batch":8,"framework":"pytorch-compile",)");
  }
}

// A step of four passes keeps the activations of one.
TEST_F(Recomputation, WorksWithAccumulation) {
  const auto ask = [&](const char* recompute) {
    return predict(parse_request(R"({"model":"gpt2","device":"a100","batch":8,"strategy":)"
                                 R"({"micro_batch":2,"recompute":")" +
                                     std::string(recompute) + R"("}})",
                                 "test"),
                   library_);
  };
  EXPECT_LT(ask("full").memory.allocated, ask("none").memory.allocated);
  EXPECT_GT(ask("full").step_time_s.value, ask("none").step_time_s.value);
}

// MFU counts the model's own FLOPs: it falls as the step gets longer.
TEST_F(Recomputation, IsNoneOfTheModelsFlops) {
  const std::string rest = R"("device":"a100","batch":8,"precision":"bf16",)";
  const Report none = report("gpt2", rest, "none");
  const Report full = report("gpt2", rest, "full");
  ASSERT_TRUE(none.mfu && full.mfu);
  EXPECT_NEAR(*full.mfu * full.step_time_s.value, *none.mfu * none.step_time_s.value,
              1e-9 * none.step_time_s.value);
}

TEST_F(Recomputation, IsToldApartInTheReport) {
  // Attention over 8192 tokens is what takes longest.
  const Report full = report("gpt:layers=2,hidden=256,heads=4,seq=8192,vocab=1000",
                             R"("device":"a100","batch":1,"precision":"bf16",)", "full");
  std::string assumptions;
  for (const std::string& line : full.assumptions) assumptions += line + '\n';
  EXPECT_NE(assumptions.find("recomputation full: 2 blocks"), std::string::npos) << assumptions;
  EXPECT_NE(assumptions.find("of the kernels' time"), std::string::npos) << assumptions;
  bool named = false;
  for (const OperatorReport& one : full.top_operators) {
    named = named || one.kind.find("(recomputed)") != std::string::npos;
  }
  EXPECT_TRUE(named);
}

// Attention that is one kernel keeps no scores.
TEST_F(Recomputation, SelectiveHasNothingToDoWithFlashAttention) {
  const std::string rest = R"("device":"a100","batch":8,"precision":"bf16","attention":"flash",)";
  const Report none = report("gpt2", rest, "none");
  const Report selective = report("gpt2", rest, "selective");
  EXPECT_EQ(none.memory.allocated, selective.memory.allocated);
  EXPECT_EQ(none.step_time_s.value, selective.step_time_s.value);
}

TEST(RecomputedSteps, AreWellFormedAndGiveTheSameParametersGradients) {
  using graph::Recompute;
  for (const std::string& name : some_models()) {
    SCOPED_TRACE(name);
    const graph::Graph model = graph::set_precision(graph::expand_attention(zoo::build(name)),
                                                    Precision::Bf16, graph::Casting::Automatic);
    const graph::Graph plain = graph::backward(model);
    for (const Recompute what : {Recompute::Selective, Recompute::Full}) {
      for (const bool to_the_end : {false, true}) {
        const graph::Graph step =
            graph::backward(model, graph::GradientHandling::Fresh, {what, to_the_end});
        EXPECT_NO_THROW(graph::verify(step));
        EXPECT_EQ(step.loss, plain.loss);
        EXPECT_EQ(step.gradients, plain.gradients);
      }
    }
  }
}

}  // namespace
}  // namespace foretrain
