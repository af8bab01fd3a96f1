// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/import.h"
#include "foretrain/predict/setting.h"
#include "foretrain/zoo/huggingface.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain {
namespace {

// Parameter servers apply the update themselves.
bool worker_updates(const Request& request) {
  return request.mode == Mode::Train && request.strategy.kind != Parallel::ParameterServer &&
         request.optimizer != graph::Optimizer::None;
}

// Everything that the prepared step depends on.
std::string step_key(const Request& request, const Setting& setting) {
  std::string key = request.model;
  key += '\n';
  key += to_string(request.precision);
  key += '\n';
  key += setting.framework->name;
  key += '\n';
  key += request.trainable;
  key += '\n';
  key += worker_updates(request) ? graph::row_of(request.optimizer).name : "none";
  key += setting.flash_attention ? "\nflash" : "\nmath";
  key += request.mode == Mode::Train ? "\ntrain" : "\ninference";
  if (setting.passes > 1) key += "\naccumulate";
  return key;
}

// Samples are sequences of tokens where an input holds whole numbers beyond the batch.
double tokens_per_sample(const graph::Graph& model) {
  for (const graph::Tensor& tensor : model.tensors) {
    if (tensor.role != graph::Role::Input || tensor.type != DType::I64) continue;
    if (tensor.shape.rank() < 2) continue;
    graph::Dim tokens;
    if (graph::divides(graph::symbol(0), graph::elements(tensor.shape), tokens) &&
        graph::is_number(tokens)) {
      return static_cast<double>(tokens.factor);
    }
  }
  return 0;
}

graph::Graph training_step(graph::Graph model, const Request& request, const Setting& setting) {
  const cost::Framework& framework = *setting.framework;
  if (request.mode == Mode::Inference) model = graph::for_inference(model);
  if (!setting.flash_attention) model = graph::expand_attention(model);
  if (request.mode == Mode::Train)
    model = graph::set_trainable(std::move(model), request.trainable);
  model = graph::set_precision(model, request.precision, framework.casting);
  const graph::GradientHandling gradients =
      setting.passes > 1 ? graph::GradientHandling::Accumulate : framework.gradients;
  if (request.mode == Mode::Train) model = graph::backward(std::move(model), gradients);
  if (worker_updates(request)) model = graph::update(std::move(model), request.optimizer);
  graph::Graph step = graph::fuse(model, framework.fusion);
#ifndef NDEBUG
  graph::verify(step);
#endif
  return step;
}

// A Hugging Face config.json describes a model of the catalog; other files hold a graph.
graph::Graph read_file(const std::string& model) {
  const auto [file, parameters] = importer::split_parameters(model);
  if (file.ends_with(".json")) {
    const std::string content = importer::read_content(file);
    if (zoo::looks_like_huggingface(content)) {
      return zoo::build_huggingface(content, parameters, named(file));
    }
    if (parameters.empty()) return importer::read_model(content, named(file));
  }
  return importer::import_model(file, parameters);
}

}  // namespace

graph::Graph find_model(const std::string& model, const Library& library) {
  if (!importer::looks_like_file(model)) return zoo::build(model);
  if (!library.read_files) {
    throw Error(ErrorKind::BadInput,
                "model '" + printable(model) + "': files are not read here; use a built-in model");
  }
  return read_file(model);
}

std::shared_ptr<const Step> make_step(graph::Graph model, const Request& request,
                                      const Setting& setting) {
  auto step = std::make_shared<Step>();
  step->tokens_per_sample = tokens_per_sample(model);
  step->graph = training_step(std::move(model), request, setting);
  step->parameters = graph::parameter_count(step->graph);
  step->gradients = graph::parameter_gradients(step->graph);
  return step;
}

std::shared_ptr<const Step> find_step(const Request& request, const Setting& setting,
                                      const Library& library) {
  // A file may change between two predictions, so only built-in models are kept.
  if (importer::looks_like_file(request.model)) {
    return make_step(find_model(request.model, library), request, setting);
  }
  const std::string key = step_key(request, setting);
  if (auto step = library.steps->find(key)) return step;
  auto step = make_step(find_model(request.model, library), request, setting);
  library.steps->insert(key, step);
  return step;
}

}  // namespace foretrain
