// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/request_options.h"
#include "foretrain/predict/predict.h"

namespace foretrain::cli {
namespace {

struct Options {
  RequestOptions request;
  bool json = false;
  std::string trace;
  std::string dump;
};

void predict_one(const Options& options, Console& console) {
  const Request request = parse_request(options.request.json(), "predict");
  const Library library = load_library();
  const Stages stages = run_stages(request, library);
  if (!options.trace.empty()) write_file(options.trace, to_chrome_trace(stages), console);
  if (!options.dump.empty()) return console.line(dump_stage(stages, options.dump));
  console.line(to_json(summarise(stages, request, library)));
}

}  // namespace

void add_predict_command(CLI::App& app, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("predict", "time, memory, resources and cost of one job");
  command.footer(
      "Example:\n  foretrain predict resnet50 --device v100-sxm2-16gb --workers 8 --batch 128");
  command.add_flag("--json", options->json, "print the report as JSON");
  command.add_option("--trace", options->trace, "write the timeline in the Chrome trace format");
  command.add_option("--dump", options->dump, "print a stage as JSON: graph, tasks or timeline");
  options->request.add_to(command);
  command.callback([options, &console] { predict_one(*options, console); });
}

}  // namespace foretrain::cli
