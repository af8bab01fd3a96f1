// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/step.h"

#include <algorithm>
#include <set>
#include <utility>

#include "foretrain/graph/cpu_attention.h"
#include "foretrain/graph/cut.h"
#include "foretrain/graph/passes.h"
#include "foretrain/parallel/context.h"
#include "foretrain/parallel/exchange.h"
#include "foretrain/parallel/experts.h"
#include "foretrain/parallel/tensor.h"

namespace foretrain::operators {
namespace {

bool on_cpu(const Resolved& resolved) { return hw::is_cpu(resolved.cluster.devices.front()); }

bool has_update(const Resolved& resolved) {
  return resolved.mode == Mode::Train && parallel::workers_update(resolved) &&
         resolved.optimizer != graph::Optimizer::None;
}

// A joint layer is not split over ranks: its parts are apart there.
bool joins_projections(const Resolved& resolved) {
  return resolved.framework->joint_attention && resolved.strategy.tensor == 1;
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
        static_cast<int>(framework.quantises_head), static_cast<int>(framework.dequantises_in_fp16),
        static_cast<int>(framework.single_scales),
        static_cast<int>(framework.elementary_dequantise),
        static_cast<int>(framework.autocasts_adapters),
        static_cast<int>(joins_projections(resolved)),
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
  if (on_cpu(resolved)) key += " cpu";
  key += resolved.mode == Mode::Train ? "\ntrain" : "\ninference";
  if (resolved.passes > 1) key += "\naccumulate";
  if (parallel::computes_with_half_copies(resolved)) key += "\nhalf copies";
  if (resolved.strategy.tensor > 1) {
    key += "\ntensor " + std::to_string(resolved.strategy.tensor);
    if (resolved.strategy.sequence_parallel) key += " sequence";
  }
  if (resolved.strategy.context > 1) {
    key += "\ncontext " + std::to_string(resolved.strategy.context);
  }
  if (resolved.strategy.expert > 1) {
    key += "\nexpert " + std::to_string(resolved.strategy.expert) + ' ' +
           std::to_string(resolved.strategy.expert_imbalance);
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
  const auto expanded = [&](const graph::Graph& whole) {
    if (!resolved.flash_attention) return graph::expand_attention(whole);
    return on_cpu(resolved) ? graph::expand_attention_for_cpu(whole) : whole;
  };
  if (resolved.mode == Mode::Train) return expanded(model);
  return expanded(graph::for_inference(model));
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
  storage.dequantises_in_fp16 = framework.dequantises_in_fp16;
  storage.single_scales = framework.single_scales;
  storage.elementary_dequantise = framework.elementary_dequantise;
  storage.autocast_adapters = framework.autocasts_adapters;
  return graph::store_weights(model, storage);
}

// With the types of all tensors, as one rank of those that share layers has it.
graph::Graph prepared_model(const graph::Graph& forward, const Resolved& resolved) {
  graph::Graph model = forward_pass(forward, resolved);
  const bool joint = joins_projections(resolved);
  if (joint) model = graph::join_projections(model);
  if (resolved.mode == Mode::Train) {
    model = graph::set_trainable(std::move(model), resolved.trainable, joint);
  }
  return stored(std::move(model), resolved);
}

graph::Graph split_layers(graph::Graph model, const Resolved& resolved) {
  const Strategy& strategy = resolved.strategy;
  if (strategy.context > 1) model = parallel::split_context(model, strategy.context);
  if (strategy.expert > 1) {
    model = parallel::split_experts(model, {strategy.expert, strategy.expert_imbalance});
  }
  if (strategy.tensor == 1) return model;
  return parallel::split_tensors(model, {strategy.tensor, strategy.sequence_parallel});
}

// The whole step of a prepared forward pass. `blocks`: their scopes, where they are known.
graph::Graph training_step(graph::Graph model, const Resolved& resolved,
                           const std::vector<std::string>& blocks = {}) {
  const cost::Framework& framework = *resolved.framework;
  const bool trains = resolved.mode == Mode::Train;
  const graph::GradientHandling gradients =
      resolved.passes > 1 ? graph::GradientHandling::Accumulate : framework.gradients;
  const graph::Recomputation recomputation{resolved.recompute, framework.recomputes_to_the_end,
                                           blocks};
  if (trains) model = graph::backward(std::move(model), gradients, recomputation);
  const graph::StateType states =
      resolved.weights == Weights::Fp32 ? graph::StateType::Fp32 : graph::StateType::OfParameter;
  if (has_update(resolved)) model = graph::update(std::move(model), resolved.optimizer, states);
  if (trains && resolved.strategy.tensor > 1) {
    model = parallel::gather_again(parallel::sum_partial_gradients(std::move(model)));
  }
  if (resolved.strategy.context > 1) {
    model = parallel::expand_rings(std::move(model), resolved.strategy.context);
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

// The parts of the model that a stage holds.
std::vector<int> parts_of(int stage, const Strategy& strategy) {
  std::vector<int> parts;
  for (int k = 0; k < strategy.interleave; ++k) parts.push_back(k * strategy.pipeline + stage);
  return parts;
}

// What several stages have of one model.
std::vector<StageSteps::Shared> shared_by_stages(const graph::Graph& forward, const graph::Cut& cut,
                                                 int stages) {
  std::vector<StageSteps::Shared> result;
  for (const graph::SharedParameter& one : graph::shared_parameters(forward, cut)) {
    std::set<int> holders;
    for (const int part : one.parts) holders.insert(part % stages);
    if (holders.size() == 1) continue;
    const graph::Tensor& tensor = forward.tensor(one.parameter);
    const auto values = static_cast<double>(graph::elements(tensor.shape).factor);
    result.push_back({values * bytes_of(tensor.type), {holders.begin(), holders.end()}});
  }
  return result;
}

// Stages that are alike have one step: the work grows with what differs.
std::shared_ptr<const Step> make_stages(const Resolved& resolved) {
  const graph::Graph& model = resolved.model.graph();
  const Strategy& strategy = resolved.strategy;
  graph::Graph whole_model = prepared_model(model, resolved);
  const std::int64_t parameters = graph::parameter_count(whole_model);
  const graph::Graph forward = split_layers(std::move(whole_model), resolved);
  const graph::Cut cut = graph::cut_at_blocks(forward, strategy.pipeline * strategy.interleave);
  auto whole = std::make_shared<Step>();
  whole->tokens_per_sample = tokens_per_sample(model);
  whole->parameters = parameters;
  auto stages = std::make_shared<StageSteps>();
  stages->shared = shared_by_stages(forward, cut, strategy.pipeline);
  std::vector<std::pair<graph::Graph, std::shared_ptr<const Step>>> known;
  for (int s = 0; s < strategy.pipeline; ++s) {
    graph::Graph stage = graph::take_parts(forward, cut, parts_of(s, strategy));
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) {
      return graph::is_alike(one.first, stage);
    });
    if (found != known.end()) {
      stages->steps.push_back(found->second);
      continue;
    }
    Step step = *whole;
    step.graph = training_step(stage, resolved, cut.scopes);
    stages->steps.push_back(with_exchange(step, resolved));
    known.emplace_back(std::move(stage), stages->steps.back());
  }
  whole->pipeline = std::move(stages);
  return whole;
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
  const Strategy& strategy = resolved.strategy;
  if (strategy.pipeline > 1) {
    if (!resolved.model.is_built_in()) return make_stages(resolved);
    const std::string key = step_key(resolved) + '\n' + exchange + "\npipeline " +
                            std::to_string(strategy.pipeline) + ' ' +
                            std::to_string(strategy.interleave);
    return cached(key, library, [&] { return make_stages(resolved); });
  }
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
