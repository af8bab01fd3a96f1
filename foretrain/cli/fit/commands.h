// SPDX-License-Identifier: Apache-2.0
// The commands of `foretrain fit`, in files <name>_command.cc, compiled into the
// program foretrain-fit alone.
#pragma once

namespace foretrain::cli {

class Command;
class Console;

void add_fit_operators(Command& app, Console& console);
void add_fit_collectives(Command& app, Console& console);
void add_fit_calibration(Command& app, Console& console);
void add_fit_intervals(Command& app, Console& console);
void add_fit_framework(Command& app, Console& console);
void add_fit_exchange(Command& app, Console& console);
void add_fit_straggling(Command& app, Console& console);
void add_fit_memory_context(Command& app, Console& console);
void add_fit_memory_intervals(Command& app, Console& console);
void add_fit_inspector(Command& app, Console& console);
void add_fit_embedding(Command& app, Console& console);
void add_fit_replay(Command& app, Console& console);
void add_fit_scaling(Command& app, Console& console);
void add_transfer(Command& app, Console& console);  // `foretrain transfer`

}  // namespace foretrain::cli
