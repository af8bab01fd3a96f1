// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/library.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/cost/framework_file.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

class LibraryTest : public testing::Test {
 protected:
  Report report(const std::string& fields, const Library& library) {
    return predict(parse_request("{" + fields + "}", "test"), library);
  }
  // A file that a request can name.
  std::string file(const std::string& text) {
    std::ofstream(path_) << text;
    return R"(,"predictors":[")" + path_.string() + "\"]";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / "foretrain_library_test.json";
  const Library library_ = load_library();
};

// Not from any global: a request's file and a library's own both change what is predicted, alike.
TEST_F(LibraryTest, PredictionsFollowTheNumbersThatItHolds) {
  const std::string asked = R"("model":"resnet18","device":"v100","batch":8,"workers":2)";
  const Report shipped = report(asked, library_);
  const auto changed = [&](const std::string& text) {
    const Report named = report(asked + file(text), load_library());
    Library own = load_library();
    use(own, parse_predictor(text, "test"));
    const Report used = report(asked, copy_of(own));
    EXPECT_EQ(named.step_time_s.value, used.step_time_s.value);
    EXPECT_EQ(named.memory.peak, used.memory.peak);
    return used;
  };
  cost::Straggling straggling = *library_.straggling;
  straggling.step_variation = 0.5;
  EXPECT_GT(changed(cost::write_straggling(straggling, {})).step_time_s.value,
            1.2 * shipped.step_time_s.value);
  comm::ExchangeCosts exchange = *library_.exchange;
  exchange.ddp.copies = 100;
  EXPECT_GT(changed(comm::write_exchange_costs(exchange, {})).step_time_s.value,
            1.2 * shipped.step_time_s.value);
  comm::Constants collectives = *library_.collectives;  // of the V100's NVLink
  collectives.nvlink.efficiency /= 100;
  EXPECT_GT(changed(comm::write_constants(collectives, {})).step_time_s.value,
            1.2 * shipped.step_time_s.value);
  cost::Framework slower = cost::framework_named(library_.frameworks, "pytorch");
  slower.host_scale = 20;
  EXPECT_GT(changed(cost::write_frameworks(std::span(&slower, 1), {})).step_time_s.value,
            1.2 * shipped.step_time_s.value);
  cost::Constants slow = library_.operators->constants;
  slow.launch.memory_bound = 1e-3;
  EXPECT_GT(changed(cost::write_constants(slow, {})).step_time_s.value,
            1.2 * shipped.step_time_s.value);
  memory::ContextBytes context = *library_.memory_context;
  context.gpu["volta"] += 7e9;
  const double more =
      changed(memory::write_context_bytes(context, {})).memory.peak - shipped.memory.peak;
  EXPECT_NEAR(more, 7e9, 1);
}

// A framework of a user's own, whose step is another graph than that of the same name.
TEST_F(LibraryTest, ARequestMayBringItsFramework) {
  const std::string asked =
      R"("model":"bert-base:seq=128","device":"a100","batch":8,"precision":"bf16")";
  const Report eager = report(asked, library_);
  cost::Framework own{.name = "pytorch", .fusion = graph::Fusion::Pointwise};
  const Report fused =
      report(asked + file(cost::write_frameworks(std::span(&own, 1), {})), library_);
  EXPECT_LT(fused.breakdown.memory, eager.breakdown.memory);
  own.name = "mine";
  std::filesystem::remove(path_);
  const std::string mine = asked + R"(,"framework":"mine")";
  EXPECT_THROW(report(mine, library_), Error);
  EXPECT_GT(report(mine + file(cost::write_frameworks(std::span(&own, 1), {})), load_library())
                .step_time_s.value,
            0);
}

TEST_F(LibraryTest, EveryChosenNumberHasASource) {
  for (const auto& [name, format] : {std::pair{"exchange", comm::kExchangeFormat},
                                     {"straggling", cost::kStragglingFormat},
                                     {"memory_context", memory::kContextFormat}}) {
    const std::string path = std::string("data/predictors/") + name + ".json";
    for (const SourcedNumber& number : read_number_file(read_file(path, 1 << 20), path, format)) {
      EXPECT_FALSE(number.source.empty()) << path << ": " << number.group << "." << number.name;
    }
  }
  for (const auto& [name, link] : library_.collectives->links) {
    EXPECT_FALSE(link.source.empty()) << name;
  }
}

}  // namespace
}  // namespace foretrain
