// SPDX-License-Identifier: Apache-2.0
#include "foretrain/embedding/job_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "foretrain/embedding/embed.h"
#include "foretrain/hw/cluster.h"
#include "foretrain/scaling/values.h"

namespace foretrain::embedding {
namespace {

constexpr double kHostSeconds = 1e-6;  // an operator's term; its weight says how many of them
constexpr double kBytes = 4;           // of a parameter
constexpr double kLeastShare = 1e-3;   // of a term: shares enter as logarithms

constexpr std::array<std::string_view, 7> kWordFields{
    "device", "precision", "framework", "memory_format", "mode", "strategy", "optimizer"};
constexpr std::array kJobNames{
    "log_batch",         "log_workers",          "log_nodes",
    "log_samples",       "log_flops_per_s",      "log_memory_bytes_per_s",
    "log_cores",         "log_link_bytes_per_s", "log_flops",
    "log_written_bytes", "log_parameters"};
constexpr std::array kOperatorNames{"log_operators", "part.compute", "part.memory",
                                    "part.communication", "part.host"};

std::string_view strategy_word(const Strategy& strategy) {
  switch (strategy.kind) {
    case Parallel::Ddp:
      return "ddp";
    case Parallel::AllReduce:
      return "allreduce";
    case Parallel::DataParallel:
      return "dataparallel";
    case Parallel::ParameterServer:
      return strategy.asynchronous ? "ps-asynchronous" : "ps";
    case Parallel::Horovod:
      return "horovod";
    case Parallel::Fsdp:
      return "fsdp";
    case Parallel::Zero1:
      return "zero1";
    case Parallel::Zero2:
      return "zero2";
    case Parallel::Zero3:
      break;
  }
  return "zero3";
}

// Between the workers; the slowest where there are several nodes.
double link_bytes_per_s(const hw::Cluster& cluster) {
  const bool several = cluster.nodes.size() > 1;
  double rate = 0;
  for (const hw::Node& node : cluster.nodes) {
    const int link = several ? node.network : node.intra_node;
    const double one = node_bytes_per_s(cluster.links[static_cast<std::size_t>(link)]);
    rate = rate == 0 ? one : std::min(rate, one);
  }
  return rate;
}

// Bytes of gradients and parameters that pass the busiest link in a step.
double exchanged_bytes(const WorkCounts& counts, const Resolved& resolved) {
  if (resolved.workers < 2) return 0;
  const double workers = resolved.workers;
  const double bytes = kBytes * counts.parameters;
  if (resolved.strategy.kind == Parallel::ParameterServer) {
    return 2 * bytes * workers / std::max(1, resolved.strategy.servers);
  }
  return 2 * bytes * (workers - 1) / workers;
}

// Seconds that each kind of work would take at the datasheet's rates, over all the steps.
std::vector<double> terms_of(const WorkCounts& counts, const Resolved& resolved, double steps) {
  const hw::Device& device = resolved.cluster.devices.front();
  const double vector = device.fp32_flops_per_s;
  const double matrix = hw::matrix_peak(device, resolved.precision).value_or(vector);
  const double memory = device.memory_bytes_per_s;
  const double samples = steps * static_cast<double>(resolved.batch);
  const double passes = steps * static_cast<double>(resolved.passes);
  const double exchanged = exchanged_bytes(counts, resolved);
  return {samples * counts.matrix.flops / matrix,
          samples * counts.matrix.bytes / memory,
          samples * counts.pointwise_conv.flops / matrix,
          samples * counts.conv.flops / matrix,
          samples * (counts.pointwise_conv.bytes + counts.conv.bytes) / memory,
          samples * counts.grouped.flops / vector,
          samples * counts.grouped.bytes / memory,
          samples * counts.depthwise.bytes / memory,
          samples * counts.norm_bytes / memory,
          samples * counts.pointwise_bytes / memory,
          samples * counts.other_bytes / memory,
          passes * counts.operators * kHostSeconds / resolved.host_speed,
          (steps * kBytes * counts.parameters + passes * counts.fixed_bytes) / memory,
          exchanged > 0 ? steps * exchanged / link_bytes_per_s(resolved.cluster) : 0};
}

std::vector<double> job_values(const Resolved& resolved, const WorkCounts& counts, TimeOf time) {
  const hw::Device& device = resolved.cluster.devices.front();
  const double matrix =
      hw::matrix_peak(device, resolved.precision).value_or(device.fp32_flops_per_s);
  const auto variable = [&](std::string_view name) {
    return scaling::value_of(name, resolved, time).value_or(1);
  };
  return {std::log(static_cast<double>(resolved.batch)),
          std::log(resolved.workers),
          std::log(static_cast<double>(resolved.cluster.nodes.size())),
          time == TimeOf::Step ? 0 : std::log(variable("samples")),
          std::log(matrix),
          std::log(device.memory_bytes_per_s),
          std::log(variable("cores")),
          resolved.workers > 1 ? std::log(link_bytes_per_s(resolved.cluster)) : 0,
          std::log1p(forward_flops(counts)),
          std::log1p(counts.written_bytes),
          std::log1p(counts.parameters)};
}

void add_shares(std::span<const double> terms, std::vector<double>& values) {
  const double all = std::accumulate(terms.begin(), terms.end(), 1e-12);
  values.push_back(std::log(all));
  for (const double term : terms) values.push_back(std::log(term / all + kLeastShare));
}

void add_operators(const std::optional<OperatorsWord>& word, double steps,
                   std::vector<double>& values) {
  if (!word) {
    values.resize(values.size() + kOperatorNames.size());
    return;
  }
  const Breakdown& parts = word->breakdown;
  values.push_back(std::log(word->step_s * steps));
  for (const Seconds part :
       {parts.compute, parts.memory, parts.exposed_communication, parts.host}) {
    values.push_back(part.count() / word->step_s);
  }
}

std::vector<std::string> words_of(const Resolved& resolved) {
  const std::string& device = resolved.cluster.devices.front().name;
  return {device.substr(0, device.find(':')),
          to_string(resolved.precision),
          resolved.framework->name,
          resolved.framework->channels_last ? "channels_last" : "contiguous",
          resolved.mode == Mode::Train ? "train" : "inference",
          std::string(resolved.workers > 1 ? strategy_word(resolved.strategy) : "one worker"),
          std::string(graph::row_of(resolved.optimizer).name)};
}

std::string key_of(const Model& model, const Embedding& embedding) {
  return std::to_string(embedding.checksum) + " " + model.name();
}

}  // namespace

std::shared_ptr<const EmbeddedModel> embed_model(const Resolved& resolved,
                                                 const Embedding& embedding,
                                                 const Library& library) {
  const bool named = resolved.model.is_built_in();
  const std::string key = key_of(resolved.model, embedding);
  if (named) {
    if (auto known = library.models->find<EmbeddedModel>(key)) return known;
  }
  const graph::Graph& graph = resolved.model.graph();
  auto made = std::make_shared<const EmbeddedModel>(EmbeddedModel{
      Embedder(embedding).embed(graph), count_work(graph, static_cast<double>(resolved.batch))});
  if (named) library.models->insert(key, made);
  return made;
}

const std::vector<std::string>& term_names() {
  static const std::vector<std::string> kNames{
      "matrix",      "matrix_bytes",  "pointwise_conv",  "conv",       "conv_bytes",
      "grouped",     "grouped_bytes", "depthwise_bytes", "norm_bytes", "pointwise_bytes",
      "other_bytes", "operators",     "parameters",      "exchange"};
  return kNames;
}

std::vector<std::string> job_feature_names(std::size_t embedding_width) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < embedding_width; ++i) names.push_back("e" + std::to_string(i));
  names.insert(names.end(), kJobNames.begin(), kJobNames.end());
  names.emplace_back("log_terms");
  for (const std::string& term : term_names()) names.push_back("share." + term);
  names.insert(names.end(), kOperatorNames.begin(), kOperatorNames.end());
  return names;
}

std::span<const std::string_view> word_fields() { return kWordFields; }

std::optional<JobFeatures> job_features(const Resolved& resolved, const EmbeddedModel& model,
                                        TimeOf time, const std::optional<OperatorsWord>& word) {
  const std::optional<double> steps = scaling::steps_in(time, resolved);
  if (!steps) return std::nullopt;
  JobFeatures job;
  job.steps = *steps;
  job.terms = terms_of(model.counts, resolved, *steps);
  job.values.assign(model.numbers.begin(), model.numbers.end());
  for (const double value : job_values(resolved, model.counts, time)) job.values.push_back(value);
  add_shares(job.terms, job.values);
  add_operators(word, *steps, job.values);
  job.words = words_of(resolved);
  return job;
}

std::optional<std::vector<double>> pick(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& names,
                                        const JobFeatures& job) {
  std::vector<double> values;
  auto place = names.begin();  // features are wanted in the order of their names
  for (const std::string& name : wanted) {
    const std::size_t equals = name.find('=');
    if (equals != std::string::npos) {
      const auto field = std::find(kWordFields.begin(), kWordFields.end(), name.substr(0, equals));
      if (field == kWordFields.end()) return std::nullopt;
      const auto which = static_cast<std::size_t>(field - kWordFields.begin());
      values.push_back(job.words[which] == name.substr(equals + 1) ? 1 : 0);
      continue;
    }
    place = std::find(place, names.end(), name);
    if (place == names.end()) return std::nullopt;
    values.push_back(job.values[static_cast<std::size_t>(place - names.begin())]);
  }
  return values;
}

}  // namespace foretrain::embedding
