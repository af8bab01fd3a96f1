// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/humanise.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/table.h"
#include "foretrain/embedding/embed.h"
#include "foretrain/request/find_model.h"

namespace foretrain::cli {
namespace {

constexpr std::uintmax_t kMostFileBytes = 16 << 20;
constexpr std::size_t kNumbersPerLine = 8;

struct Options {
  std::vector<std::string> models;
  std::string file;
  std::string external;
  std::size_t like = 0;
  bool json = false;
};

struct Embedded {
  std::string model;
  std::vector<float> numbers;
  std::vector<embedding::Neighbour> nearest;
};

embedding::Embedding find_embedding(const std::string& file) {
  if (file.empty()) return embedding::shipped_embedding();
  return embedding::read_embedding(read_file(file, kMostFileBytes), named(file));
}

std::string embedded_json(const Embedded& one, const embedding::Embedding& by) {
  OrderedJson json{{"model", one.model},
                   {"dataset", by.dataset},
                   {"checksum", by.checksum},
                   {"embedding", one.numbers}};
  if (!one.nearest.empty()) json["nearest"] = OrderedJson::array();
  for (const embedding::Neighbour& near : one.nearest) {
    json["nearest"].push_back(
        {{"model", near.name}, {"family", near.family}, {"distance", near.distance}});
  }
  return json_text(json);
}

std::string nearest_text(const std::vector<embedding::Neighbour>& nearest, const Screen& screen) {
  if (nearest.empty()) return "";
  Table table{{{"nearest", false, true}, {"family", false}, {"distance", true}}, {}};
  for (const embedding::Neighbour& near : nearest) {
    table.rows.push_back(
        {Cell(near.name, Colour::Bold), near.family, significant(near.distance, 3)});
  }
  return "\n" + render(table, screen) +
         wrap("Distances are in spreads of the graphs that the embedding was trained on.", "  ",
              screen);
}

std::string embedded_text(const Embedded& one, const embedding::Embedding& by,
                          const Screen& screen) {
  Table table{std::vector<Column>(kNumbersPerLine, Column{"", true}), {}};
  for (std::size_t i = 0; i < one.numbers.size(); ++i) {
    if (i % kNumbersPerLine == 0) table.rows.emplace_back();
    table.rows.back().emplace_back(significant(double{one.numbers[i]}, 3));
  }
  return paint(printable(one.model, 300), Colour::Bold, screen) + "  embedded for '" +
         printable(by.dataset, 100) + "', " + std::to_string(one.numbers.size()) + " numbers\n\n" +
         render(table, screen) + nearest_text(one.nearest, screen);
}

void run_embed(const Options& options, Console& console) {
  if (options.models.empty()) {
    throw Error(ErrorKind::BadInput,
                "embed: MODEL is required: a built-in name (foretrain models) or a file");
  }
  embedding::Embedder embedder(find_embedding(options.file));
  for (const std::string& model : options.models) {
    Embedded one{model, embedder.embed(find_model(model, true, options.external)), {}};
    if (options.like > 0) {
      one.nearest =
          embedding::nearest_models(embedder.embedding(), one.numbers, model, options.like, 0);
    }
    if (options.json) {
      console.line(embedded_json(one, embedder.embedding()));
    } else {
      console.write(embedded_text(one, embedder.embedding(), console.screen));
    }
  }
}

}  // namespace

void add_embed_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command =
      app.add_subcommand("embed", "a model's graph as a vector; which built-in models are alike");
  command.footer(
      "Examples:\n"
      "  foretrain embed resnet50 --like 5\n"
      "  foretrain embed model.onnx vgg16 --json");
  command.add_option("model,--model", options->models,
                     "built-in names (foretrain models) or files: .onnx, .ftg.json, config.json");
  command
      .add_option("--external", options->external,
                  "a folder in which an ONNX file's external data may lie, besides the model's own")
      .type_name("DIR");
  command.add_option("--like", options->like, "list so many of the nearest built-in models (0)")
      .type_name("N")
      .check(number_range(0, 1000));
  command
      .add_option("--embedding", options->file,
                  "another embedding than the one built in (data/embeddings/digits.json)")
      .type_name("FILE");
  command.add_flag("--json", options->json, "print a JSON object per model and line");
  command.callback([options, &console] { run_embed(*options, console); });
}

}  // namespace foretrain::cli
