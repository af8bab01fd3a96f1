// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/find_strategy.h"

#include <gtest/gtest.h>

namespace foretrain {
namespace {

std::vector<std::string> notes_of(const std::string& strategy, const std::string& more = "") {
  const Request request =
      parse_request(R"({"model":"mlp","device":"t4","strategy":)" + strategy + more + "}", "test");
  std::vector<std::string> notes;
  note_without_effect(request, notes);
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
  EXPECT_EQ(notes_of(R"({"sequence_parallel":true})"),
            (Notes{"sequence_parallel has no effect with this strategy"}));
  for (const char* kind : {"ddp", "zero1"}) {
    EXPECT_EQ(notes_of(R"({"reduce_every_pass":true,"kind":")" + std::string(kind) + "\"}"),
              (Notes{"reduce_every_pass has no effect with this strategy"}));
  }
}

TEST(NoteWithoutEffect, IsSilentWhereTheyHaveOne) {
  EXPECT_EQ(notes_of("{}"), Notes{});
  EXPECT_EQ(notes_of(R"({"kind":"ps","servers":4,"asynchronous":true,"server_placement":[4]})"),
            Notes{});
  EXPECT_EQ(notes_of(R"({"kind":"horovod","cycle_s":1})"), Notes{});
  EXPECT_EQ(notes_of(R"({"pipeline":2,"schedule":"gpipe"})"), Notes{});
  EXPECT_EQ(notes_of(R"({"expert":2,"expert_imbalance":1.5})"), Notes{});
  EXPECT_EQ(notes_of(R"({"tensor":2,"sequence_parallel":true})"), Notes{});
  EXPECT_EQ(notes_of(R"({"kind":"zero2","reduce_every_pass":true})"), Notes{});
  EXPECT_EQ(notes_of(R"({"kind":"ddp","reduce_every_pass":false})"), Notes{});  // as it does
  EXPECT_EQ(notes_of(R"({"kind":"fsdp","recompute":"full"})"), Notes{});
}

// Sharding and recomputation are of a backward pass and an update, which inference has not.
TEST(NoteWithoutEffect, SaysWhatInferenceDoesNotDo) {
  EXPECT_EQ(notes_of(R"({"kind":"fsdp","recompute":"full"})", R"(,"mode":"inference")"),
            (Notes{"inference: each rank keeps its parameters, nothing is sharded",
                   "inference: recompute has no effect, there is no backward pass"}));
  EXPECT_EQ(notes_of(R"({"kind":"ddp"})", R"(,"mode":"inference")"), Notes{});
}

}  // namespace
}  // namespace foretrain
