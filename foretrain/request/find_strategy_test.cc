// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/find_strategy.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

std::vector<std::string> notes_of(const std::string& strategy) {
  const Request request =
      parse_request(R"({"model":"mlp","device":"t4","strategy":)" + strategy + "}", "test");
  std::vector<std::string> notes;
  note_without_effect(request.strategy, notes);
  return notes;
}

using Notes = std::vector<std::string>;

// Who asks for asynchronous servers and leaves out "ps" gets synchronous DDP, and is told.
TEST(NoteWithoutEffect, NamesWhatOtherStrategiesAreToldBy) {
  EXPECT_EQ(notes_of(R"({"kind":"ddp","servers":4,"asynchronous":true})"),
            (Notes{"servers has no effect with this strategy",
                   "asynchronous has no effect with this strategy"}));
  EXPECT_EQ(notes_of(R"({"kind":"fsdp","cycle_s":1})"),
            (Notes{"cycle_s has no effect with this strategy"}));
  EXPECT_EQ(notes_of(R"({"schedule":"gpipe"})"),
            (Notes{"schedule has no effect with this strategy"}));
  EXPECT_EQ(notes_of(R"({"expert_imbalance":1.5})"),
            (Notes{"expert_imbalance has no effect with this strategy"}));
}

TEST(NoteWithoutEffect, IsSilentWhereTheyHaveOne) {
  EXPECT_EQ(notes_of("{}"), Notes{});
  EXPECT_EQ(notes_of(R"({"kind":"ps","servers":4,"asynchronous":true,"server_placement":[4]})"),
            Notes{});
  EXPECT_EQ(notes_of(R"({"kind":"horovod","cycle_s":1})"), Notes{});
  EXPECT_EQ(notes_of(R"({"pipeline":2,"schedule":"gpipe"})"), Notes{});
  EXPECT_EQ(notes_of(R"({"expert":2,"expert_imbalance":1.5})"), Notes{});
}

}  // namespace
}  // namespace foretrain
