// SPDX-License-Identifier: Apache-2.0
// The commands of `foretrain fit`, in files <name>_command.cc, compiled into the
// program foretrain-fit alone.
#pragma once

namespace CLI {  // NOLINT: the name is CLI11's
class App;
}

namespace foretrain::cli {

class Console;

void add_fit_operators(CLI::App& app, Console& console);
void add_fit_collectives(CLI::App& app, Console& console);
void add_fit_calibration(CLI::App& app, Console& console);
void add_fit_intervals(CLI::App& app, Console& console);
void add_fit_framework(CLI::App& app, Console& console);
void add_fit_exchange(CLI::App& app, Console& console);
void add_fit_straggling(CLI::App& app, Console& console);
void add_fit_memory_context(CLI::App& app, Console& console);
void add_fit_memory_intervals(CLI::App& app, Console& console);
void add_fit_inspector(CLI::App& app, Console& console);
void add_fit_embedding(CLI::App& app, Console& console);
void add_fit_replay(CLI::App& app, Console& console);
void add_fit_scaling(CLI::App& app, Console& console);
void add_transfer(CLI::App& app, Console& console);  // `foretrain transfer`

}  // namespace foretrain::cli
