// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/run.h"

#include <string>
#include <vector>

#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/program.h"
#include "foretrain/cli/request_options.h"

namespace foretrain::cli {
namespace {

void add_commands(Command& app, Console& console) {
  app.description("Predicts time, memory, resource use and cost of training a deep network.");
  app.footer(
      "Example:\n  foretrain predict resnet50 --device v100-sxm2-16gb --workers 8 --batch 128\n\n"
      "Each command has --help. Exit code 2: what you asked must change; 1: other failures.");
  app.help_flag("-h,--help", "print this help");
  app.version_flag("--version", std::string("foretrain ") + kVersion, "print the version");
  app.require_subcommand(0, 1);
  for (const auto add :
       {add_predict_command, add_graph_command, add_embed_command, add_models_command,
        add_devices_command, add_networks_command, add_clouds_command, add_frameworks_command,
        add_fields_command, add_profile_command, add_store_command, add_evaluate_command,
        add_collect_command, add_fit_command, add_transfer_command, add_design_command,
        add_search_command, add_simulate_command}) {
    add(app, console);
  }
}

}  // namespace

int run(int count, const char* const* arguments) {
  const std::vector<std::string> words = join_booleans({arguments, arguments + count});
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return run_commands("foretrain", add_commands, static_cast<int>(pointers.size()),
                      pointers.data());
}

}  // namespace foretrain::cli
