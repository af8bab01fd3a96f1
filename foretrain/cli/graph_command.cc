// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <iterator>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/humanise.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/table.h"
#include "foretrain/graph/dot.h"
#include "foretrain/graph/graph_summary.h"
#include "foretrain/graph/op.h"
#include "foretrain/importer/ftg.h"
#include "foretrain/importer/import.h"
#include "foretrain/inspector/group.h"
#include "foretrain/request/find_model.h"

namespace foretrain::cli {
namespace {

struct Options {
  std::string model;
  std::string external;
  std::int64_t batch = 1;
  std::optional<int> depth;
  bool json = false;
  bool dot = false;
  std::string ftg;
  std::optional<std::size_t> groups;
  std::uint64_t seed = 1;
};

std::string inputs_text(const graph::Graph& graph, const Screen& screen) {
  Table table{{{"input", false, true}, {"shape", false, true}, {"type", false}}, {}};
  for (const graph::Tensor& tensor : graph.tensors) {
    if (tensor.role != graph::Role::Input) continue;
    table.rows.push_back({tensor.name.empty() ? "-" : tensor.name,
                          graph::to_string(tensor.shape, graph.symbols), to_string(tensor.type)});
  }
  return table.rows.empty() ? "" : "\n" + render(table, screen);
}

std::string groups_text(const char* title, const std::vector<graph::Group>& groups, bool outputs,
                        const Screen& screen) {
  Table table{{{title, false, true},
               {"nodes", true},
               {"parameters", true},
               {"FLOPs", true},
               {"writes", true}},
              {}};
  if (outputs) table.columns.push_back({"output", false, true});
  for (const graph::Group& group : groups) {
    table.rows.push_back({Cell(group.name, Colour::Bold), format_count(group.nodes),
                          group.parameters > 0 ? format_count(group.parameters) : "-",
                          group.flops > 0 ? format_large(group.flops) : "-",
                          group.written_bytes > 0 ? format_bytes(group.written_bytes) : "-"});
    if (outputs) table.rows.back().emplace_back(group.output);
  }
  return "\n" + render(table, screen);
}

std::string graph_text(const graph::GraphSummary& summary, std::int64_t batch,
                       const Screen& screen) {
  const graph::Graph& graph = summary.step;
  std::string text = paint(printable(graph.name, 300), Colour::Bold, screen) + "  at batch " +
                     format_count(static_cast<double>(batch)) + "\n\n";
  Table numbers{{{"", false}, {"", false}}, {}};
  const auto add = [&](const char* name, const std::string& value) {
    numbers.rows.push_back({name, Cell(value, Colour::Bold)});
  };
  add("parameters", format_count(static_cast<double>(graph::parameter_count(graph))));
  add("forward", format_large(summary.forward_flops) + "FLOP in GEMMs");
  add("backward", format_large(summary.backward_flops) + "FLOP");
  add("activations", format_bytes(summary.activation_bytes) + " written by the forward pass");
  text += render(numbers, screen) + inputs_text(graph, screen);
  text += groups_text("operator", summary.kinds, false, screen);
  text += groups_text("layer", summary.layers, true, screen);
  text += "\n" + wrap("Counts are of the forward pass; a multiply-add is two FLOPs.", "  ", screen);
  for (const std::string& note : graph.notes) text += wrap(note, "  - ", screen);
  return text;
}

std::string communities_text(const inspector::GroupedGraph& grouped, const graph::Graph& step,
                             const Screen& screen) {
  Table table{{{"group", true}, {"begins in", false, true}, {"nodes", true}, {"writes", true}}, {}};
  for (std::size_t i = 0; i < grouped.groups.size(); ++i) {
    const inspector::NodeGroup& group = grouped.groups[i];
    const graph::Node& first = step.nodes[static_cast<std::size_t>(group.nodes.front())];
    table.rows.push_back({format_count(static_cast<double>(i)),
                          first.scope.empty() ? graph::describe(first) : first.scope,
                          format_count(static_cast<double>(group.nodes.size())),
                          format_bytes(group.output_bytes)});
  }
  return render(table, screen) + wrap(format_count(static_cast<double>(grouped.edges.size())) +
                                          " pairs of groups are joined.",
                                      "  ", screen);
}

void show_groups(const Options& options, const graph::Graph& step, Console& console) {
  const graph::Bound bound = graph::bind(step, {{"batch", options.batch}});
  const inspector::GroupedGraph grouped =
      inspector::group_nodes(bound, *options.groups, options.seed);
  if (options.json) return console.line(inspector::to_json(grouped, step));
  console.write(communities_text(grouped, step, console.screen));
}

graph::Graph read_standard_input() {
  const std::string where = "standard input";
  return read_model(importer::read_content(std::cin, where), where);
}

void run_graph(const Options& options, Console& console) {
  if (options.model.empty()) {
    throw Error(ErrorKind::BadInput,
                "graph: MODEL is required: a built-in name (foretrain models) or a file");
  }
  if (options.json + options.dot + !options.ftg.empty() > 1) {
    throw Error(ErrorKind::BadInput, "graph: give only one of --json, --dot and --ftg");
  }
  graph::Graph model = options.model == "-" ? read_standard_input()
                                            : find_model(options.model, true, options.external);
  if (options.dot) return console.write(graph::to_dot(model));
  if (!options.ftg.empty()) return write_file(options.ftg, importer::write_ftg(model), console);
  const graph::GraphSummary summary =
      graph::summarise_graph(std::move(model), options.batch, options.depth);
  if (options.groups) return show_groups(options, summary.step, console);
  if (options.json) return console.line(graph::graph_json(summary, options.batch));
  console.write(graph_text(summary, options.batch, console.screen));
}

}  // namespace

void add_graph_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command = app.add_subcommand(
      "graph", "what was understood of a model: operators, shapes, FLOPs, parameters");
  command.footer(
      "Examples:\n"
      "  foretrain graph resnet50 --batch 128\n"
      "  foretrain graph bert-large --json\n"
      "  foretrain graph model.onnx:height=224,width=224\n"
      "  foretrain graph resnet50 --group 20\n"
      "  foretrain graph resnet18 --dot | dot -Tsvg -o resnet18.svg");
  command.add_option(
      "model,--model", options->model,
      "a built-in name (foretrain models) or a file: .onnx, .ftg.json, config.json (-: "
      "standard input); sizes go behind a colon, as in model.onnx:height=224");
  command
      .add_option("--external", options->external,
                  "a folder in which an ONNX file's external data may lie, besides the model's own")
      .type_name("DIR");
  command.add_option("--batch", options->batch, "samples (1)")
      .type_name("N")
      .check(number_range(1, 1'000'000'000));
  command.add_option("--depth", options->depth, "parts of a layer's path to show (0: all)")
      .type_name("N")
      .check(number_range(0, 100));
  command
      .add_option("--group", options->groups,
                  "divide the step's nodes into N communities, as the inspector sees them")
      .type_name("N")
      .check(number_range(1, 100'000));
  command.add_option("--seed", options->seed, "of the communities (1)").type_name("N");
  command.add_flag("--json", options->json, "print every node as JSON, the backward pass too");
  command.add_flag("--dot", options->dot, "print the graph in Graphviz's language");
  command.add_option("--ftg", options->ftg, "write the graph in our own format")
      .type_name("FILE|-");
  command.callback([options, &console] { run_graph(*options, console); });
}

}  // namespace foretrain::cli
