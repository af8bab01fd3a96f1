// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/request/detail/member_field.h"
#include "foretrain/request/request_fields.h"

namespace foretrain {
namespace {

using detail::field;

constexpr FieldRange up_to(double most) { return {1, most, false}; }
constexpr FieldRange kPositive{1e-9, 1e18, false};  // below, times are beyond all bounds
constexpr FieldRange kNotNegative{0, 1e18, false};
constexpr double kMostWorkers = 1e6;
constexpr double kMostOnNode = 1024;

constexpr std::array<std::string_view, 2> kAttentions{"math", "flash"};
constexpr std::array<std::string_view, 5> kEngines{"auto", "operators", "inspector", "embedding",
                                                   "scaling"};
constexpr std::array<std::string_view, 3> kGradientPrecisions{"fp32", "bf16", "fp16"};
constexpr std::array<std::string_view, 2> kSchedules{"1f1b", "gpipe"};
constexpr std::array<std::string_view, 3> kRecomputes{"none", "selective", "full"};
constexpr std::array<std::string_view, 3> kOffloads{"none", "optimizer", "activations"};

constexpr std::array<std::string_view, 2> kMemoryFormats{"contiguous", "channels_last"};
constexpr std::array<std::string_view, 1> kBatchWords{"max"};

// A number, or the word that stands for the largest that fits.
constexpr RequestField batch_field(RequestField row) {
  row = field<&Request::batch>(row);
  row.words = kBatchWords;
  row.value = [](const Request& request) -> FieldValue {
    if (request.largest_batch) return std::string(kBatchWords.front());
    return detail::to_value(request.batch);
  };
  row.store = [](Request& request, FieldValue value) {
    request.largest_batch = std::holds_alternative<std::string>(value);
    request.batch.reset();
    if (!request.largest_batch) request.batch = std::get<std::int64_t>(value);
  };
  return row;
}

constexpr std::array<std::string_view, 2> kInputCopies{"pageable", "pinned"};
constexpr std::string_view kIeee = "fp32-ieee";

constexpr auto kPrecisionWords = [] {
  std::array<std::string_view, kPrecisionNames.size() + 1> words;
  std::copy(kPrecisionNames.begin(), kPrecisionNames.end(), words.begin());
  words.back() = kIeee;
  return words;
}();

// A precision, or fp32 as the standard defines it.
constexpr RequestField precision_field(RequestField row) {
  row = field<&Request::precision>(row);
  row.words = kPrecisionWords;
  row.value = [](const Request& request) -> FieldValue {
    return request.ieee ? std::string(kIeee) : std::string(to_string(request.precision));
  };
  row.store = [](Request& request, FieldValue value) {
    request.ieee = std::get<std::string>(value) == kIeee;
    if (request.ieee) {
      request.precision = Precision::Fp32;
    } else {
      detail::from_value(std::move(value), request.precision);
    }
  };
  return row;
}

constexpr std::array kFields{
    field<&Request::model>(
        {.name = "model",
         .group = "Model",
         .help = "a built-in name (foretrain models) or a file: .onnx, .ftg.json, config.json; "
                 "sizes go behind a colon, as in model.onnx:height=224; required"}),
    field<&Request::device>({.name = "device",
                             .group = "Cluster",
                             .help = "a name (foretrain devices), or a datasheet as JSON or file"}),
    field<&Request::workers>({.name = "workers",
                              .group = "Cluster",
                              .help = "devices that compute, in all",
                              .range = up_to(kMostWorkers)}),
    field<&Request::workers_per_node>({.name = "workers_per_node",
                                       .group = "Cluster",
                                       .help = "devices on each node",
                                       .absent = "all on one node up to 8",
                                       .range = up_to(kMostOnNode)}),
    field<&Request::placement>({.name = "placement",
                                .group = "Cluster",
                                .help = "devices on each node, e.g. [3,3,4,4]",
                                .range = up_to(kMostOnNode)}),
    field<&Request::intra_node>(
        {.name = "intra_node",
         .group = "Cluster",
         .help = "link inside a node: pcie3-x16, nvlink2, nvswitch, ... or JSON"}),
    field<&Request::network>({.name = "network",
                              .group = "Cluster",
                              .help = "link between nodes: 10gbe, 4xhdr, 50gbps, ... or JSON"}),
    field<&Request::cluster>({.name = "cluster",
                              .group = "Cluster",
                              .help = "file or JSON of a cluster with mixed devices or links"}),
    batch_field({.name = "batch",
                 .group = "Training",
                 .help = "samples per data-parallel rank and step; max: the most that fit",
                 .absent = "32",
                 .range = up_to(1e9)}),
    field<&Request::global_batch>({.name = "global_batch",
                                   .group = "Training",
                                   .help = "samples per step over all ranks, instead of batch",
                                   .range = up_to(1e12)}),
    precision_field({.name = "precision",
                     .group = "Training",
                     .help = "what GEMMs and convolutions compute in; fp32 as the framework does "
                             "it, which may be TF32, fp32-ieee strictly"}),
    field<&Request::weights>({.name = "weights",
                              .group = "Training",
                              .help = "how parameters are kept; int8 and nf4 under adapters"}),
    field<&Request::memory_format>({.name = "memory_format",
                                    .group = "Training",
                                    .help = "order of an image's axes in memory",
                                    .absent = "by framework",
                                    .words = kMemoryFormats}),
    field<&Request::framework>({.name = "framework",
                                .group = "Training",
                                .help = "pytorch, pytorch-compile, tensorflow, ..."}),
    field<&Request::optimizer>(
        {.name = "optimizer", .group = "Training", .help = "what updates the parameters"}),
    field<&Request::fused_optimizer>(
        {.name = "fused_optimizer",
         .group = "Training",
         .help = "one kernel reads and writes each value of an update once: true or false",
         .absent = "by framework"}),
    field<&Request::mean_length>(
        {.name = "mean_length",
         .group = "Training",
         .help = "tokens of a sample on average, where a batch is padded to its own longest: "
                 "memory is that of the longest and what the allocator keeps of others",
         .absent = "all are as long as the model reads",
         .range = up_to(1e9)}),
    field<&Request::length_deviation>({.name = "length_deviation",
                                       .group = "Training",
                                       .help = "standard deviation of mean_length",
                                       .absent = "mean_length",
                                       .range = up_to(1e9)}),
    field<&Request::strategy>({.name = "strategy",
                               .group = "Strategy",
                               .help = "how the work is divided, an object or its kind",
                               .absent = "ddp"}),
    field<&Request::mode>({.name = "mode", .group = "Training", .help = "what a step does"}),
    field<&Request::trainable>({.name = "trainable",
                                .group = "Training",
                                .help = "what has gradients: all, head, lora:rank=16 or "
                                        "lora:rank=16,targets=q_proj+v_proj,dtype=bf16"}),
    field<&Request::attention>({.name = "attention",
                                .group = "Training",
                                .help = "how attention is computed",
                                .absent = "by framework and precision",
                                .words = kAttentions}),
    field<&Request::autotune>(
        {.name = "autotune",
         .group = "Training",
         .help = "convolutions try algorithms first, as cudnn.benchmark does: true or false",
         .absent = "by framework"}),
    field<&Request::dataset>(
        {.name = "dataset", .group = "Length", .help = "imagenet, cifar10, ...: sets samples"}),
    field<&Request::samples>({.name = "samples",
                              .group = "Length",
                              .help = "samples in the data set",
                              .range = kPositive}),
    field<&Request::epochs>({.name = "epochs",
                             .group = "Length",
                             .help = "passes over the data set",
                             .range = kPositive}),
    field<&Request::steps>({.name = "steps",
                            .group = "Length",
                            .help = "length of the job in steps",
                            .range = kPositive}),
    field<&Request::tokens>({.name = "tokens",
                             .group = "Length",
                             .help = "length of the job in tokens",
                             .range = kPositive}),
    field<&Request::evaluate_s>({.name = "evaluate_s",
                                 .group = "Job",
                                 .help = "seconds of one evaluation, which follows each epoch",
                                 .absent = "none",
                                 .range = kNotNegative}),
    field<&Request::checkpoint_s>({.name = "checkpoint_s",
                                   .group = "Job",
                                   .help = "seconds that a checkpoint stops the job",
                                   .absent = "0",
                                   .range = kNotNegative}),
    field<&Request::checkpoint_every>(
        {.name = "checkpoint_every",
         .group = "Job",
         .help = "seconds of steps and evaluations between two checkpoints",
         .absent = "none are written",
         .range = kPositive}),
    field<&Request::mtbf_s>({.name = "mtbf_s",
                             .group = "Job",
                             .help = "mean time between failures of the whole job, in seconds",
                             .absent = "nothing fails",
                             .range = kPositive}),
    field<&Request::restart_s>({.name = "restart_s",
                                .group = "Job",
                                .help = "seconds from a failure until lost work is done again",
                                .absent = "0",
                                .range = kNotNegative}),
    field<&Request::host>({.name = "host",
                           .group = "Machine",
                           .help = "family of the host's CPUs: xeon-e5, epyc-7002, ..., instead of "
                                   "host_speed",
                           .absent = "by cloud or device"}),
    field<&Request::host_speed>({.name = "host_speed",
                                 .group = "Machine",
                                 .help = "speed of the host against the reference machine",
                                 .absent = "by cloud or device",
                                 .range = kPositive}),
    field<&Request::input_rate>({.name = "input_rate",
                                 .group = "Machine",
                                 .help = "samples per second that one worker's input delivers",
                                 .absent = "no limit",
                                 .range = kPositive}),
    field<&Request::copy_rate>({.name = "copy_rate",
                                .group = "Machine",
                                .help = "bytes/s of an input copy that each step waits for",
                                .absent = "none",
                                .range = kPositive}),
    field<&Request::loaders>({.name = "loaders",
                              .group = "Machine",
                              .help = "processes that load a worker's samples (0: none), instead "
                                      "of input_rate",
                              .absent = "enough",
                              .range = {0, kMostOnNode, false}}),
    field<&Request::input_copy>({.name = "input_copy",
                                 .group = "Machine",
                                 .help = "memory that each step's input is copied from while the "
                                         "device waits, instead of copy_rate",
                                 .absent = "none",
                                 .words = kInputCopies}),
    field<&Request::power_limit_w>({.name = "power_limit_w",
                                    .group = "Machine",
                                    .help = "watts that a device may draw",
                                    .absent = "its datasheet's",
                                    .range = kPositive}),
    field<&Request::context_bytes>({.name = "context_bytes",
                                    .group = "Machine",
                                    .help = "device memory taken by driver and libraries",
                                    .absent = "by device",
                                    .range = kNotNegative}),
    field<&Request::price_per_device_hour>({.name = "price_per_device_hour",
                                            .group = "Cost",
                                            .help = "in USD, for the cost",
                                            .range = kNotNegative}),
    field<&Request::cloud>({.name = "cloud",
                            .group = "Cost",
                            .help = "cloud instance (foretrain clouds), for network and cost"}),
    field<&Request::predictors>(
        {.name = "predictors",
         .group = "Engine",
         .help = "files as in data/predictors/ or written by fit: operators, collectives, "
                 "calibration, framework, intervals, memory_intervals, exchange, straggling, "
                 "memory_context, inspector, scaling, embedding"}),
    field<&Request::engine>(
        {.name = "engine", .group = "Engine", .help = "what predicts", .words = kEngines}),
};

constexpr std::array kStrategyFields{
    field<&Strategy::kind>(
        {.name = "kind", .group = "Strategy", .help = "how gradients are exchanged"}),
    field<&Strategy::micro_batch>({.name = "micro_batch",
                                   .group = "Strategy",
                                   .help = "samples per forward pass",
                                   .absent = "the batch",
                                   .range = up_to(1e9)}),
    field<&Strategy::shard_group>({.name = "shard_group",
                                   .group = "Strategy",
                                   .help = "ranks that share one copy of the parameters",
                                   .absent = "all",
                                   .range = up_to(kMostWorkers)}),
    field<&Strategy::gradient_precision>({.name = "gradient_precision",
                                          .group = "Strategy",
                                          .help = "what gradients are summed in; ddp, horovod and "
                                                  "allreduce: compressed on the way",
                                          .absent =
                                              "fp32 with fsdp, zero3 and PyTorch's zero2, else "
                                              "their own type",
                                          .words = kGradientPrecisions}),
    field<&Strategy::reduce_every_pass>(
        {.name = "reduce_every_pass",
         .group = "Strategy",
         .help = "sharded gradients are summed after each pass of a step: true or false",
         .absent = "true where gradients are sharded"}),
    field<&Strategy::bucket_bytes>(
        {.name = "bucket_bytes",
         .group = "Strategy",
         .help = "gradients that are exchanged together: ddp, horovod, zero1, zero2",
         .absent = "by strategy",
         .range = kPositive}),
    field<&Strategy::servers>(
        {.name = "servers", .group = "Strategy", .help = "parameter servers", .range = up_to(1e5)}),
    field<&Strategy::asynchronous>({.name = "asynchronous",
                                    .group = "Strategy",
                                    .help = "workers do not wait for each other: true or false"}),
    field<&Strategy::cycle_s>({.name = "cycle_s",
                               .group = "Strategy",
                               .help = "seconds after which Horovod's ranks say what is ready",
                               .absent = "0.005",
                               .range = {1e-6, 10, false}}),
    field<&Strategy::server_device>(
        {.name = "server_device", .group = "Strategy", .help = "what a server runs on"}),
    field<&Strategy::server_placement>({.name = "server_placement",
                                        .group = "Strategy",
                                        .help = "servers on each node",
                                        .absent = "round-robin",
                                        .range = {0, kMostOnNode, false}}),
    field<&Strategy::tensor>({.name = "tensor",
                              .group = "Strategy",
                              .help = "ranks that share each layer (tensor parallelism)",
                              .range = up_to(kMostWorkers)}),
    field<&Strategy::pipeline>({.name = "pipeline",
                                .group = "Strategy",
                                .help = "pipeline stages",
                                .range = up_to(kMostWorkers)}),
    field<&Strategy::expert>({.name = "expert",
                              .group = "Strategy",
                              .help = "ranks that share the experts of each layer",
                              .range = up_to(kMostWorkers)}),
    field<&Strategy::context>({.name = "context",
                               .group = "Strategy",
                               .help = "ranks that share each sequence (context parallelism)",
                               .range = up_to(kMostWorkers)}),
    field<&Strategy::sequence_parallel>(
        {.name = "sequence_parallel",
         .group = "Strategy",
         .help =
             "tensor-parallel ranks share sequences outside of attention and MLP: true or false"}),
    field<&Strategy::expert_imbalance>({.name = "expert_imbalance",
                                        .group = "Strategy",
                                        .help = "tokens of the busiest expert rank over the mean",
                                        .range = {1, 1e6, false}}),
    field<&Strategy::schedule>({.name = "schedule",
                                .group = "Strategy",
                                .help = "order of a pipeline's passes",
                                .words = kSchedules}),
    field<&Strategy::interleave>({.name = "interleave",
                                  .group = "Strategy",
                                  .help = "model chunks per pipeline stage",
                                  .range = up_to(kMostOnNode)}),
    field<&Strategy::recompute>({.name = "recompute",
                                 .group = "Strategy",
                                 .help = "what is computed again in the backward pass",
                                 .words = kRecomputes}),
    field<&Strategy::offload>({.name = "offload",
                               .group = "Strategy",
                               .help = "what lies in the host's memory",
                               .words = kOffloads}),
};

}  // namespace

std::span<const RequestField> request_fields() { return kFields; }
std::span<const RequestField> strategy_fields() { return kStrategyFields; }

}  // namespace foretrain
