// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace foretrain::lab {

struct Outcome {
  int code = -1;     // exit code; -1 where a signal ended it, 127 where it could not be started
  std::string text;  // standard output and standard error
};

// Runs a command to its end. It dies with this process.
Outcome run_command(const std::vector<std::string>& words);

// The same for a command that must succeed. Throws Error(Io) with what it said.
void must_run(const std::vector<std::string>& words);

}  // namespace foretrain::lab
