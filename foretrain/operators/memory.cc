// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "foretrain/graph/offload.h"
#include "foretrain/memory/lengths.h"
#include "foretrain/memory/lifetimes.h"
#include "foretrain/memory/memory.h"
#include "foretrain/operators/detail/pass_times.h"
#include "foretrain/parallel/groups.h"
#include "foretrain/parallel/schedule.h"

namespace foretrain::operators {
namespace {

double context_bytes(const hw::Device& device, const memory::ContextBytes& context) {
  if (device.context_bytes) return *device.context_bytes;
  if (hw::is_cpu(device)) return context.cpu;
  return memory::gpu_context_bytes(context, device.architecture);
}

// More channels serve NVLink of GPUs from Ampere on than other links.
bool has_many_channels(const hw::Cluster& cluster, const hw::Device& device) {
  const hw::Node& node = cluster.nodes.front();
  if (node.devices == 1) return false;
  const std::string& link = cluster.links[static_cast<std::size_t>(node.intra_node)].name;
  const bool nvlink = link.starts_with("nvlink") || link.starts_with("nvswitch");
  return nvlink && (device.architecture == "ampere" || device.architecture == "hopper" ||
                    device.architecture == "blackwell");
}

// Communicators of a rank: those inside a node and those that cross the network.
struct Communicators {
  int inside = 0;
  int across = 0;
};

// One for each group of ranks that a rank sends to: those that share data, layers and experts,
// neighbours in a pipeline, its two ends, where the embedding is tied, and all that hold parts of
// one model, which sum the norm of its gradients.
Communicators communicators(const Resolved& resolved) {
  const Strategy& strategy = resolved.strategy;
  const bool one_node = resolved.cluster.nodes.size() == 1;
  Communicators count;
  const auto add = [&](graph::Among among, int groups) {
    const bool inside = one_node || parallel::rank_groups(among, resolved).path.nodes == 1;
    (inside ? count.inside : count.across) += groups;
  };
  const bool several = strategy.shard_group && *strategy.shard_group < resolved.data_parallel;
  const int sets = resolved.framework->second_groups ? 2 : 1;
  if (resolved.data_parallel > 1) add(graph::Among::Data, several ? 2 : sets);
  if (strategy.tensor > 1) add(graph::Among::Tensor, sets);
  if (strategy.expert > 1) add(graph::Among::Expert, 1);
  if (strategy.pipeline > 1) add(graph::Among::Pipeline, strategy.pipeline > 2 ? 3 : 2);
  if (strategy.tensor * strategy.pipeline > 1) {
    add(strategy.pipeline > 1 ? graph::Among::Pipeline : graph::Among::Tensor, 1);
  }
  if (sets > 1 && strategy.pipeline > 1) count.across += 2;  // a stage's column, all ranks
  if (count.inside + count.across == 0) (one_node ? count.inside : count.across) = 1;
  return count;
}

// Channels and buffers of collectives.
double communication_bytes(const Resolved& resolved, const hw::Device& device) {
  const bool several = resolved.workers > 1 && resolved.mode == Mode::Train;
  if (resolved.context_bytes || !several || hw::is_cpu(device)) return 0;
  const memory::ContextBytes& context = *resolved.memory_context;
  const Communicators count = communicators(resolved);
  const bool many = has_many_channels(resolved.cluster, device);
  return count.across * context.collectives +
         count.inside * (many ? context.nvlink_collectives : context.collectives);
}

// Then what the optimizer keeps lies there.
bool updates_on_host(const graph::Graph& step) {
  return std::any_of(step.nodes.begin(), step.nodes.end(), graph::is_host_update);
}

}  // namespace

const hw::Device& smallest_device(const Resolved& resolved) {
  const std::vector<hw::Device>& devices = resolved.cluster.devices;
  return *std::min_element(devices.begin(), devices.end(),
                           [](const hw::Device& a, const hw::Device& b) {
                             return hw::usable_memory_bytes(a) < hw::usable_memory_bytes(b);
                           });
}

namespace {

// Tokens of a sample as the step reads it; nothing where it reads none.
std::optional<double> tokens_read(const graph::Bound& step) {
  const std::vector<graph::Tensor>& tensors = step.graph->tensors;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role != graph::Role::Input || tensors[t].type != DType::I64) continue;
    const graph::Extent& extent = step.extents[t];
    if (extent.rank >= 2) return static_cast<double>(extent[1]);
  }
  return std::nullopt;
}

memory::Options options_of(const graph::Bound& step, const Resolved& resolved) {
  const hw::Device& device = smallest_device(resolved);
  memory::Options options;
  options.keeps_blobs = resolved.framework->keeps_blobs;
  if (resolved.framework->workspace_mib > 0) {
    options.most_workspace_bytes = resolved.framework->workspace_mib * 1048576;
  }
  options.flat_buffers = parallel::flat_buffers(step, resolved);
  // Caffe2's all-reduce leaves the sum beside each gradient and, on the first GPU, what came last.
  if (options.keeps_blobs) {
    const std::vector<double> once = options.flat_buffers;
    options.flat_buffers.insert(options.flat_buffers.end(), once.begin(), once.end());
  }
  options.half_with_master = !updates_on_host(*step.graph) &&
                             resolved.framework->casting == graph::Casting::WholeModel &&
                             is_half(resolved.precision) && resolved.weights == Weights::Fp32;
  options.flat_update = options.half_with_master && resolved.precision == Precision::Fp16 &&
                        resolved.framework->copies_gradient_shards &&
                        resolved.strategy.kind == Parallel::Zero1;
  options.composed_rms_norm = resolved.framework->fusion == graph::Fusion::None;
  options.relu_keeps_input = resolved.framework->relu_keeps_input;
  options.fused_update = resolved.fused_optimizer;
  options.fused_loss = resolved.framework->fused_loss;
  options.search_workspace = !hw::is_cpu(device);
  options.channels_last = resolved.framework->channels_last;
  options.tensor_core_fp32 = resolved.precision == Precision::Tf32;
  options.caching_allocator = !hw::is_cpu(device);
  if (const auto longest = tokens_read(step); longest && resolved.mean_length) {
    options.batch_shares = memory::batch_shares({*resolved.mean_length, resolved.length_deviation},
                                                *longest, resolved.micro_batch);
  }
  return options;
}

// Where lengths differ, the step before the one with the longest samples was a usual one.
double share_of_last_step(const graph::Bound& step, const Resolved& resolved) {
  const auto longest = tokens_read(step);
  if (!longest || !resolved.mean_length) return 1;
  return std::min(1.0, *resolved.mean_length / *longest);
}

// Bytes of what forward passes of linear layers with dequantised weights read. bitsandbytes keeps
// it as an attribute of its function, which backward does not free; it is there as long as a
// variable of the training loop refers to the loss. Source: bitsandbytes, autograd/_functions.py
// (MatMul4Bit: ctx.tensors).
double quantised_inputs(const graph::Bound& step) {
  const graph::Graph& graph = *step.graph;
  std::set<graph::TensorId> dequantised;
  std::set<graph::TensorId> read;
  for (const graph::Node& node : graph.nodes) {
    if (!graph::is_forward(node)) continue;
    const bool of_weight = !node.inputs.empty() && dequantised.contains(node.inputs[0]);
    if (node.kind == graph::Kind::Dequantize || (node.kind == graph::Kind::Cast && of_weight)) {
      dequantised.insert(node.outputs[0]);
    }
    if (node.kind == graph::Kind::Linear && dequantised.contains(node.inputs[1])) {
      read.insert(node.inputs[0]);
    }
  }
  double bytes = 0;
  for (const graph::TensorId id : read) bytes += step.bytes(id);
  return bytes;
}

}  // namespace

MemoryReport report_memory(const graph::Bound& step, const Resolved& resolved, double held_bytes,
                           std::vector<memory::MicroBatchPass> passes) {
  const hw::Device& device = smallest_device(resolved);
  memory::Options options = options_of(step, resolved);
  options.held_bytes = held_bytes;
  options.passes = std::move(passes);
  if (resolved.framework->keeps_quantised_inputs) {
    options.held_bytes += quantised_inputs(step) * share_of_last_step(step, resolved);
  }
  memory::Use use = memory::step_memory(step, options);

  MemoryReport report;
  report.communication = communication_bytes(resolved, device);
  report.framework =
      resolved.context_bytes.value_or(context_bytes(device, *resolved.memory_context)) +
      report.communication;
  report.capacity = hw::usable_memory_bytes(device);
  const double limit = report.capacity - report.framework;
  const double lost_share = hw::is_cpu(device) ? 0 : resolved.memory_context->lost_share;
  report.least = report.framework + use.needed * (1 + lost_share);
  report.fits = memory::squeeze(use, limit, lost_share);
  report.allocated = use.allocated;
  report.parameters = use.parameters;
  report.gradients = use.gradients;
  report.optimizer = use.optimizer;
  report.activations = use.activations;
  report.workspace = use.workspace;
  report.fragmentation = use.fragmentation;
  report.peak = report.allocated + report.fragmentation + report.framework;
  if (report.fits) report.peak = std::min(report.peak, report.capacity);  // not by a rounding more
  return report;
}

namespace {

// After twice as many micro-batches as there are stages 1F1B has filled, gone round and emptied; of
// GPipe, which keeps all of them, so many at most are told apart.
constexpr std::int64_t kMostToldApart = 128;

std::vector<memory::MicroBatchPass> passes_in_order(parallel::Pipeline schedule, int stage,
                                                    const PassNodes& nodes) {
  if (schedule.order == parallel::PassOrder::OneFOneB) {
    schedule.micro_batches = std::min(schedule.micro_batches, std::int64_t{2} * schedule.stages);
  }
  if (schedule.micro_batches > kMostToldApart) return {};
  std::vector<memory::MicroBatchPass> passes;
  for (const parallel::PipelinePass& pass : parallel::passes_of(schedule, stage)) {
    const auto part =
        static_cast<std::size_t>(pass.backward ? schedule.parts - 1 - pass.part : pass.part);
    const std::vector<graph::NodeId>& begins = pass.backward ? nodes.backward : nodes.forward;
    passes.push_back({begins[part], begins[part + 1], pass.micro_batch});
  }
  return passes;
}

}  // namespace

RankMemory stage_memory(const std::vector<PipelineStage>& pipeline, int stage,
                        const Resolved& resolved) {
  const graph::Bound& bound = *pipeline[static_cast<std::size_t>(stage)].bound;
  const parallel::Pipeline schedule = parallel::pipeline_of(resolved);
  RankMemory rank;
  rank.stage = stage;
  std::vector<memory::MicroBatchPass> passes;
  if (resolved.mode == Mode::Train && schedule.micro_batches > 1) {
    const auto storages = memory::lifetimes(bound, options_of(bound, resolved));
    const PassNodes nodes = pass_nodes(*bound.graph, schedule.parts);
    std::vector<double> kept;
    double own = 0;  // of the micro-batch that the step's graph shows
    for (std::size_t part = 0; part + 1 < nodes.forward.size(); ++part) {
      kept.push_back(memory::kept_for_backward(storages, *bound.graph, nodes.forward[part],
                                               nodes.forward[part + 1]));
      own += kept.back();
    }
    rank.held_bytes = std::max(0.0, parallel::most_kept(schedule, stage, kept) - own);
    passes = passes_in_order(schedule, stage, nodes);
  }
  rank.report = report_memory(bound, resolved, rank.held_bytes, std::move(passes));
  return rank;
}

RankMemory most_memory(const std::vector<PipelineStage>& pipeline, const Resolved& resolved) {
  std::set<const graph::Bound*> seen;
  RankMemory most;
  for (std::size_t s = 0; s < pipeline.size(); ++s) {
    if (!seen.insert(pipeline[s].bound.get()).second) continue;
    RankMemory rank = stage_memory(pipeline, static_cast<int>(s), resolved);
    const bool worse = most.report.fits == rank.report.fits ? rank.report.peak > most.report.peak
                                                            : !rank.report.fits;
    if (s == 0 || worse) most = std::move(rank);
  }
  return most;
}

std::vector<PipelineStage> bind_stages(const Step& step, const Resolved& resolved) {
  std::map<const Step*, std::shared_ptr<const graph::Bound>> known;
  std::vector<PipelineStage> stages;
  for (const std::shared_ptr<const Step>& stage : step.pipeline->steps) {
    std::shared_ptr<const graph::Bound>& bound = known[stage.get()];
    if (!bound) {
      bound = std::make_shared<graph::Bound>(
          graph::bind(stage->graph, {{"batch", resolved.micro_batch}}));
    }
    stages.push_back({stage, bound});
  }
  return stages;
}

}  // namespace foretrain::operators
