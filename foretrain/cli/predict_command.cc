// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "foretrain/base/duration.h"
#include "foretrain/base/error.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/answer_file.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/report_text.h"
#include "foretrain/cli/request_options.h"
#include "foretrain/cli/spread.h"
#include "foretrain/cli/vary.h"
#include "foretrain/cli/what_if_text.h"
#include "foretrain/operators/largest_batch.h"
#include "foretrain/operators/stages.h"
#include "foretrain/operators/trace.h"
#include "foretrain/parallel/groups.h"
#include "foretrain/predict/advice.h"
#include "foretrain/predict/predict.h"
#include "foretrain/predict/what_if.h"
#include "foretrain/request/find_model.h"

namespace foretrain::cli {
namespace {

struct Options {
  RequestOptions request;
  bool json = false;
  std::string trace;
  std::string dump;
  std::optional<std::size_t> top;
  std::string external;
  std::string vary;
  std::string deadline;
  bool what_if = false;
  std::string requests;
  bool advice = false;  // of --requests
  int threads = 1;
  std::size_t first_line = 1;
  Spread spread;
};

void predict_one(const Options& options, Console& console) {
  const Request request = parse_request(options.request.json(), "predict");
  const Library library = load_library();
  std::shared_ptr<const graph::Graph> model;  // of the file, where it may read others
  if (!options.external.empty()) {
    model = std::make_shared<const graph::Graph>(
        find_model(request.model, library.read_files, options.external));
  }
  const Resolved resolved =
      model ? operators::with_largest_batch(resolve(request, model, library), library)
            : resolve_job(request, library);
  const Question question =
      options.top ? Question(resolved, library, *options.top) : Question(resolved, library);
  if (!options.trace.empty()) {
    write_file(options.trace,
               operators::to_chrome_trace(operators::stages_of(question), resolved.cluster),
               console);
  }
  if (options.trace == "-") return;
  if (options.dump == "groups") return console.line(parallel::dump_groups(resolved));
  if (!options.dump.empty()) {
    return console.line(
        operators::dump_stage(operators::stages_of(question), resolved, options.dump));
  }
  const auto ask = [&](const Request& one) {
    return model ? predict(one, model, library) : predict(one, library);
  };
  const Report report = advise(predict(question), request, library, ask,
                               operators::stages_of(question).step->graph.nodes.size());
  if (options.json) return console.line(to_json(report));
  console.write(report_text(report, console.screen));
}

void predict_variation(const Options& options, Console& console) {
  std::optional<Seconds> deadline;
  if (!options.deadline.empty()) deadline = parse_duration(options.deadline, "--deadline");
  const Varied varied = vary(options.request, options.vary, load_library());
  const std::vector<Variant>& variants = varied.variation.variants;
  if (options.json) console.line(to_json(varied.variation, deadline));
  if (std::none_of(variants.begin(), variants.end(), [](const Variant& v) { return !v.error; })) {
    console.flush();
    throw Error(ErrorKind::BadInput, "--vary: no value works; " + varied.variation.field + " " +
                                         varied.texts.front() + ": " +
                                         variants.front().error->what());
  }
  if (options.json) return;
  console.write(varied_text(varied, console.screen));
  if (deadline) console.write("\n" + cheapest_text(varied, *deadline, console.screen));
}

void predict_changes(const Options& options, Console& console) {
  const Request request = parse_request(options.request.json(), "predict");
  const WhatIfs what_ifs = what_if(request, load_library());
  if (options.json) return console.line(to_json(what_ifs));
  console.write(what_if_text(what_ifs, console.screen));
}

void run_predict(const Options& options, Console& console) {
  const bool single =
      !options.trace.empty() || !options.dump.empty() || options.top || !options.external.empty();
  if (!options.requests.empty()) {
    if (options.request.any() || !options.vary.empty() || options.what_if || single) {
      throw Error(ErrorKind::BadInput,
                  "--requests takes everything from its lines; leave out the model and the other "
                  "options, except --threads and --advice");
    }
    spread_where_asked(options.spread.on, console);
    return answer_file(options.requests, options.first_line, options.threads, options.advice,
                       load_library(), console);
  }
  if (options.advice) {
    throw Error(ErrorKind::BadInput, "--advice is for --requests; a single job has it anyway");
  }
  if (!options.spread.on.empty()) {
    throw Error(ErrorKind::BadInput, "--on spreads the lines of --requests; give these");
  }
  if (options.vary.empty() && !options.what_if) return predict_one(options, console);
  if (single) {
    throw Error(
        ErrorKind::BadInput,
        "--trace, --dump, --top and --external are for one job; leave out --vary and --what-if");
  }
  if (options.what_if) {
    if (options.vary.empty()) return predict_changes(options, console);
    throw Error(ErrorKind::BadInput, "give --vary or --what-if, not both");
  }
  predict_variation(options, console);
}

}  // namespace

void add_predict_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command = app.add_subcommand("predict", "time, memory, resources and cost of one job");
  command.footer(
      "--vary takes any of these fields; semicolons separate values with commas.\n\n"
      "Examples:\n"
      "  foretrain predict resnet50 --device v100-sxm2-16gb --workers 8 --batch 128\n"
      "  foretrain predict bert-large --device a100 --precision bf16 --vary batch=8,16,32\n"
      "  foretrain predict resnet50 --device t4 --workers 4 --workers-per-node 1 \\\n"
      "      --network 10gbe --strategy ps:servers=2,asynchronous=true\n"
      "  foretrain predict resnet50 --device t4 --batch 64 --dataset imagenet --epochs 90 \\\n"
      "      --vary workers=8,16,32,64 --deadline 2d\n"
      "  foretrain predict bert-large --device a100 --workers 8 --what-if\n"
      "  foretrain predict --requests jobs.jsonl\n"
      "  foretrain predict --requests jobs.jsonl --on ray://head:10001");
  options->request.add_to(command);
  command
      .add_option("--external", options->external,
                  "a folder in which an ONNX file's external data may lie, besides the model's own")
      .type_name("DIR");
  command.add_option("--vary", options->vary, "side by side for each value of a field")
      .type_name("KEY=A,B,C");
  command
      .add_option("--deadline", options->deadline,
                  "with --vary: which value ends in time at the least cost; 90s, 15m, 12h, 2d")
      .type_name("TIME")
      .needs("--vary");
  command.add_flag("--what-if", options->what_if, "what would help most, ranked");
  command.add_option("--requests", options->requests, "answer each line, a request in JSON")
      .type_name("FILE|-");
  command.add_option("--threads", options->threads, "threads that answer --requests (1)")
      .type_name("N")
      .check(number_range(1, 256));
  command.add_flag("--advice", options->advice,
                   "with --requests: what would make jobs fit that do not");
  command
      .add_option("--first-line", options->first_line,
                  "what answers to --requests call its first line (1)")
      .type_name("N")
      .check(number_range(1, 1e15));
  add_spread_options(command, options->spread, false);
  command.add_flag("--json", options->json, "print the report as JSON");
  command.add_option("--top", options->top, "slowest operators to list (10)")
      .type_name("N")
      .check(number_range(0, 1'000'000));
  command.add_option("--trace", options->trace, "write a step's timeline for Perfetto")
      .type_name("FILE|-");
  command
      .add_option("--dump", options->dump,
                  "print a stage as JSON: graph, tasks, timeline, memory or groups")
      .type_name("STAGE");
  command.callback([options, &console] { run_predict(*options, console); });
}

}  // namespace foretrain::cli
