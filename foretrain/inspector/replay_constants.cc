// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/replay_constants.h"

#include <algorithm>
#include <cassert>

#include "foretrain/base/embedded.h"
#include "foretrain/knowledge/replay_format.h"

namespace foretrain {

extern const std::span<const EmbeddedFile> kPredictorFiles;

}  // namespace foretrain

namespace foretrain::inspector {
namespace {

ReplayConstants shipped() {
  const auto file =
      std::find_if(kPredictorFiles.begin(), kPredictorFiles.end(),
                   [](const auto& one) { return one.name == "predictors/replay.json"; });
  assert(file != kPredictorFiles.end());
  return read_replay_constants(file->text, std::string(file->name));
}

}  // namespace

std::vector<NumberPlace> named_numbers(ReplayConstants& c) {
  return {{"steps", "gap_s", &c.steps.gap_s},
          {"steps", "jitter", &c.steps.jitter},
          {"activity", "operators", &c.activity.operators},
          {"activity", "noise", &c.activity.noise},
          {"activity", "copy_call_s", &c.activity.copy_call_s},
          {"activity", "sequence_share", &c.activity.sequence_share},
          {"activity", "speed_share", &c.activity.speed_share},
          {"recurrent", "kept_by_width", &c.recurrent.kept_by_width},
          {"recurrent", "kept_by_state", &c.recurrent.kept_by_state},
          {"recurrent", "plain_gates", &c.recurrent.plain_gates},
          {"recurrent", "plain_gates_grad", &c.recurrent.plain_gates_grad},
          {"recurrent", "gru_gates", &c.recurrent.gru_gates},
          {"recurrent", "gru_gates_grad", &c.recurrent.gru_gates_grad}};
}

ReplayConstants read_replay_constants(std::string_view text, const std::string& where) {
  ReplayConstants constants;
  assign_numbers(read_number_file(text, where, kReplayFormat), named_numbers(constants), where);
  return constants;
}

std::string write_replay_constants(const ReplayConstants& constants,
                                   std::span<const std::string> notes) {
  ReplayConstants copy = constants;
  return write_number_file(kReplayFormat, named_numbers(copy), notes);
}

const ReplayConstants& replay_constants() {
  static const ReplayConstants kShipped = shipped();
  return kShipped;
}

}  // namespace foretrain::inspector
