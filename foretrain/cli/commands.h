// SPDX-License-Identifier: Apache-2.0
// The commands, each in its own file <name>_command.cc. To add one: write the function, declare
// it here and call it in run.cc. Its callback may throw foretrain::Error; run.cc reports it.
#pragma once

namespace CLI {  // NOLINT: the name is CLI11's
class App;
}

namespace foretrain::cli {

class Console;

void add_predict_command(CLI::App& app, Console& console);
void add_graph_command(CLI::App& app, Console& console);
void add_embed_command(CLI::App& app, Console& console);
void add_evaluate_command(CLI::App& app, Console& console);
void add_collect_command(CLI::App& app, Console& console);
void add_profile_command(CLI::App& app, Console& console);
void add_store_command(CLI::App& app, Console& console);
void add_fit_command(CLI::App& app, Console& console);
void add_transfer_command(CLI::App& app, Console& console);
void add_design_command(CLI::App& app, Console& console);
void add_search_command(CLI::App& app, Console& console);
void add_simulate_command(CLI::App& app, Console& console);
void add_models_command(CLI::App& app, Console& console);
void add_devices_command(CLI::App& app, Console& console);
void add_networks_command(CLI::App& app, Console& console);
void add_clouds_command(CLI::App& app, Console& console);
void add_fields_command(CLI::App& app, Console& console);
void add_frameworks_command(CLI::App& app, Console& console);

}  // namespace foretrain::cli
