// SPDX-License-Identifier: Apache-2.0
// What a replay of a predicted step assumes of real ones, and what CPU operators do inside that no
// graph tells. data/predictors/replay.json has the numbers in use, each with its source.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/number_file.h"

namespace foretrain::inspector {

struct ReplayConstants {
  // No step is like the one before it.
  struct Steps {
    double gap_s = 0;   // mean of what lies between two steps, exponentially distributed
    double jitter = 0;  // of a step's duration: standard deviation over mean
  };
  // Memory activity, whose windows are shorter than most operators.
  struct Activity {
    double operators = 0;    // of an operator's duration: standard deviation of its logarithm
    double noise = 0;        // of the activity in a window: likewise
    double copy_call_s = 0;  // of each gradient that is copied back from its bucket
    // Of a recurrent layer's time, at most, for what is of whole sequences.
    double sequence_share = 0;
    // Of an operator's time, at most, for its passes as fast as memory can.
    double speed_share = 0;
  };
  // What recurrent layers on a CPU move beside inputs, outputs and weights.
  struct Recurrent {
    // Values that oneDNN keeps of an LSTM's step and sample, for each of the wider one of what a
    // layer reads and its state.
    double kept_by_width = 0;
    double kept_by_state = 0;     // the same, for each of its state
    double plain_gates = 0;       // passes of a plain layer over the gates of a time step
    double plain_gates_grad = 0;  // the same, backward
    double gru_gates = 0;         // passes of a GRU over the gates of a time step
    double gru_gates_grad = 0;    // the same, backward
  };
  Steps steps;
  Activity activity;
  Recurrent recurrent;
};

// Every number in the order of the file. Pointers into `constants`.
std::vector<NumberPlace> named_numbers(ReplayConstants& constants);

// Throws Error(BadInput) naming `where`.
ReplayConstants read_replay_constants(std::string_view text, const std::string& where);
std::string write_replay_constants(const ReplayConstants& constants,
                                   std::span<const std::string> notes);

// Those that the program was built with.
const ReplayConstants& replay_constants();

}  // namespace foretrain::inspector
