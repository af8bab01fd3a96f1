// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/step.h"

#include <utility>

#include "foretrain/graph/passes.h"
#include "foretrain/parallel/exchange.h"
#include "foretrain/parallel/tensor.h"

namespace foretrain::operators {
namespace {

bool has_update(const Resolved& resolved) {
  return resolved.mode == Mode::Train && parallel::workers_update(resolved) &&
         resolved.optimizer != graph::Optimizer::None;
}

// Everything that the step of one worker alone depends on.
std::string step_key(const Resolved& resolved) {
  std::string key = resolved.model.name();
  key += '\n';
  key += to_string(resolved.precision);
  key += '\n';
  const cost::Framework& framework = *resolved.framework;
  for (const int part :
       {static_cast<int>(framework.casting), static_cast<int>(framework.gradients),
        static_cast<int>(framework.fusion), static_cast<int>(framework.gradients_together),
        static_cast<int>(framework.loss_in_half), static_cast<int>(framework.fused_loss),
        static_cast<int>(framework.quantises_head), static_cast<int>(framework.dequantises_in_fp32),
        static_cast<int>(resolved.trainable.dropout)}) {
    key += static_cast<char>('0' + part);
  }
  key += '\n';
  key += std::to_string(static_cast<int>(resolved.trainable.part)) + ' ' +
         std::to_string(resolved.trainable.rank);
  for (const std::string& target : resolved.trainable.targets) key += ' ' + target;
  key += '\n';
  key += to_string(resolved.weights);
  key += ' ';
  key += to_string(resolved.trainable.type);
  key += '\n';
  key += has_update(resolved) ? graph::row_of(resolved.optimizer).name : "none";
  key += resolved.flash_attention ? "\nflash" : "\nmath";
  key += resolved.mode == Mode::Train ? "\ntrain" : "\ninference";
  if (resolved.passes > 1) key += "\naccumulate";
  if (parallel::computes_with_half_copies(resolved)) key += "\nhalf copies";
  if (resolved.strategy.tensor > 1) {
    key += "\ntensor " + std::to_string(resolved.strategy.tensor);
    if (resolved.strategy.sequence_parallel) key += " sequence";
  }
  if (resolved.recompute != graph::Recompute::None) {
    key += "\nrecompute " + resolved.strategy.recompute;
    if (framework.recomputes_to_the_end) key += " to the end";
  }
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

// A graph of its own: the model's is shared.
graph::Graph forward_pass(const graph::Graph& model, const Resolved& resolved) {
  const bool flash = resolved.flash_attention;
  if (resolved.mode == Mode::Train) return flash ? model : graph::expand_attention(model);
  graph::Graph inference = graph::for_inference(model);
  return flash ? std::move(inference) : graph::expand_attention(inference);
}

// The types of all tensors, and the casts.
graph::Graph stored(graph::Graph model, const Resolved& resolved) {
  const cost::Framework& framework = *resolved.framework;
  if (resolved.weights == Weights::Fp32) {
    if (parallel::computes_with_half_copies(resolved)) {
      model = graph::with_half_parameters(std::move(model), resolved.precision);
    }
    return graph::set_precision(model, resolved.precision, framework.casting, framework.fused_loss);
  }
  graph::WeightStorage storage;
  storage.weights = resolved.weights;
  storage.type = resolved.precision == Precision::Fp16 ? DType::F16 : DType::BF16;
  storage.adapters = resolved.trainable.part == graph::Trainable::Part::Lora;
  storage.adapter = resolved.trainable.type;
  storage.elementary_norms =
      framework.casting == graph::Casting::Automatic && framework.fusion == graph::Fusion::None;
  storage.half_loss = framework.loss_in_half || framework.fused_loss;
  storage.quantised_head = framework.quantises_head;
  storage.dequantises_in_fp32 = framework.dequantises_in_fp32;
  return graph::store_weights(model, storage);
}

// With the types of all tensors, as one rank of those that share layers has it.
graph::Graph prepared_model(const graph::Graph& forward, const Resolved& resolved) {
  graph::Graph model = forward_pass(forward, resolved);
  if (resolved.mode == Mode::Train) {
    model = graph::set_trainable(std::move(model), resolved.trainable);
  }
  return stored(std::move(model), resolved);
}

graph::Graph split_layers(graph::Graph model, const Resolved& resolved) {
  const Strategy& strategy = resolved.strategy;
  if (strategy.tensor == 1) return model;
  return parallel::split_tensors(model, {strategy.tensor, strategy.sequence_parallel});
}

graph::Graph training_step(graph::Graph model, const Resolved& resolved) {
  const cost::Framework& framework = *resolved.framework;
  const bool trains = resolved.mode == Mode::Train;
  const graph::GradientHandling gradients =
      resolved.passes > 1 ? graph::GradientHandling::Accumulate : framework.gradients;
  const graph::Recomputation recomputation{resolved.recompute, framework.recomputes_to_the_end};
  if (trains) model = graph::backward(std::move(model), gradients, recomputation);
  const graph::StateType states =
      resolved.weights == Weights::Fp32 ? graph::StateType::Fp32 : graph::StateType::OfParameter;
  if (has_update(resolved)) model = graph::update(std::move(model), resolved.optimizer, states);
  if (trains && resolved.strategy.tensor > 1) {
    model = parallel::gather_again(parallel::sum_partial_gradients(std::move(model)));
  }
  // Without a compiler the step is taken as it is, not copied.
  if (framework.fusion != graph::Fusion::None) model = graph::fuse(model, framework.fusion);
#ifndef NDEBUG
  graph::verify(model);
#endif
  return model;
}

// The step of one worker alone.
std::shared_ptr<const Step> make_step(const Resolved& resolved) {
  const graph::Graph& model = resolved.model.graph();
  auto step = std::make_shared<Step>();
  step->tokens_per_sample = tokens_per_sample(model);
  graph::Graph prepared = prepared_model(model, resolved);
  step->parameters = graph::parameter_count(prepared);
  step->graph = training_step(split_layers(std::move(prepared), resolved), resolved);
  step->gradients = graph::parameter_gradients(step->graph);
  return step;
}

// The same among others.
std::shared_ptr<const Step> with_exchange(const Step& alone, const Resolved& resolved) {
  auto step = std::make_shared<Step>(alone);
  step->graph = parallel::add_exchange(std::move(step->graph), resolved);
  step->gradients = graph::parameter_gradients(step->graph);
#ifndef NDEBUG
  graph::verify(step->graph);
#endif
  return step;
}

template <typename Make>
std::shared_ptr<const Step> cached(const std::string& key, const Library& library, Make make) {
  if (auto step = library.steps->find(key)) return step;
  std::shared_ptr<const Step> step = make();
  library.steps->insert(key, step);
  return step;
}

}  // namespace

// A model in memory has no name, and a file may change between two predictions, so only built-in
// models are kept. A step that is found there needs no graph of its model.
std::shared_ptr<const Step> find_step(const Resolved& resolved, const Library& library) {
  const std::string exchange = parallel::exchange_key(resolved);
  if (!resolved.model.is_built_in()) {
    const auto step = make_step(resolved);
    return exchange.empty() ? step : with_exchange(*step, resolved);
  }
  const std::string key = step_key(resolved);
  const auto alone = [&] { return cached(key, library, [&] { return make_step(resolved); }); };
  if (exchange.empty()) return alone();
  return cached(key + '\n' + exchange, library, [&] { return with_exchange(*alone(), resolved); });
}

}  // namespace foretrain::operators
