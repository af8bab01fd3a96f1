// SPDX-License-Identifier: Apache-2.0
// The commands, each in its own file <name>_command.cc. To add one: write the function, declare
// it here and call it in run.cc. Its callback may throw foretrain::Error; run.cc reports it.
#pragma once

namespace foretrain::cli {

class Command;
class Console;

void add_predict_command(Command& app, Console& console);
void add_graph_command(Command& app, Console& console);
void add_embed_command(Command& app, Console& console);
void add_evaluate_command(Command& app, Console& console);
void add_collect_command(Command& app, Console& console);
void add_profile_command(Command& app, Console& console);
void add_store_command(Command& app, Console& console);
void add_fit_command(Command& app, Console& console);
void add_transfer_command(Command& app, Console& console);
void add_design_command(Command& app, Console& console);
void add_search_command(Command& app, Console& console);
void add_simulate_command(Command& app, Console& console);
void add_models_command(Command& app, Console& console);
void add_devices_command(Command& app, Console& console);
void add_networks_command(Command& app, Console& console);
void add_clouds_command(Command& app, Console& console);
void add_fields_command(Command& app, Console& console);
void add_frameworks_command(Command& app, Console& console);

}  // namespace foretrain::cli
