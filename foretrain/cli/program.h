// SPDX-License-Identifier: Apache-2.0
// What the programs `foretrain` and `foretrain-fit` have in common.
#pragma once

namespace foretrain::cli {

class Command;
class Console;

// A program that its user knows as `name`: lets `add` add its commands, reads the arguments, runs
// one command and turns errors into one line on standard error. Returns the exit code: 0; 2 for
// what the caller must change; 1 else.
int run_commands(const char* name, void (*add)(Command&, Console&), int count,
                 const char* const* arguments);

}  // namespace foretrain::cli
