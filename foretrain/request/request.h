// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/precision.h"
#include "foretrain/graph/optimizer.h"

namespace foretrain {

// Something of a catalog by its name, or a new one by its JSON text (an object, or the content
// of a file that the name points to).
struct Described {
  std::string text;
  bool json = false;
  bool operator==(const Described&) const = default;
};

enum class Mode { Train, Inference };

enum class Parallel {
  Ddp,
  AllReduce,
  DataParallel,
  ParameterServer,
  Horovod,
  Fsdp,
  Zero1,
  Zero2,
  Zero3
};

// How the work is divided.
struct Strategy {
  Parallel kind = Parallel::Ddp;
  int tensor = 1;
  int pipeline = 1;
  int expert = 1;
  int context = 1;
  bool sequence_parallel =
      false;                    // tensor-parallel ranks share sequences between the blocks' GEMMs
  double expert_imbalance = 1;  // tokens of the busiest expert rank over the mean
  std::optional<std::int64_t> micro_batch;
  std::string schedule = "1f1b";  // of a pipeline: "gpipe", "1f1b"
  int interleave = 1;             // parts of the model that a pipeline stage holds
  std::string recompute = "none";
  std::string offload = "none";                   // to the host: "optimizer", "activations"
  std::optional<int> shard_group;                 // ranks that share one copy of the parameters
  std::optional<std::string> gradient_precision;  // "fp32", "bf16", "fp16"
  std::optional<bool> reduce_every_pass;          // of an accumulated step
  std::optional<double> bucket_bytes;             // of gradients that are exchanged together
  int servers = 1;                                // parameter servers
  bool asynchronous = false;
  std::optional<double> cycle_s;  // of Horovod
  Described server_device{"cpu", false};
  std::vector<int> server_placement;  // servers on each node; empty: round-robin
  bool operator==(const Strategy&) const = default;
};

// What is asked. request_fields.h has the names, ranges and meanings of the fields; defaults that
// matter are listed among the report's assumptions.
struct Request {
  std::string model;
  std::optional<Described> device;
  std::optional<Described> intra_node;
  std::optional<Described> network;
  std::optional<Described> cluster;
  int workers = 1;
  std::optional<int> workers_per_node;
  std::vector<int> placement;
  std::optional<std::int64_t> batch;
  bool largest_batch = false;  // batch "max": the largest that fits
  std::optional<std::int64_t> global_batch;
  Precision precision = Precision::Fp32;
  bool ieee = false;  // precision "fp32-ieee": fp32 without TF32, whatever the framework does
  Weights weights = Weights::Fp32;
  std::optional<std::string> memory_format;  // "contiguous", "channels_last"
  std::string framework = "pytorch";
  std::optional<std::string> host;  // family of its CPUs
  std::optional<double> host_speed;
  std::optional<double> input_rate;
  std::optional<int> loaders;             // processes
  std::optional<std::string> input_copy;  // "pageable", "pinned"
  std::optional<double> copy_rate;        // bytes/s
  std::optional<double> power_limit_w;
  std::optional<double> context_bytes;
  std::optional<std::string> attention;  // "math", "flash"
  std::optional<bool> autotune;          // of convolutions
  std::string trainable = "all";
  graph::Optimizer optimizer = graph::Optimizer::Sgd;
  std::optional<bool> fused_optimizer;  // one kernel moves each value of an update once
  std::optional<double> mean_length;    // of samples, in tokens; none: all are as the model reads
  std::optional<double> length_deviation;  // likewise, their standard deviation
  Strategy strategy;
  std::optional<double> samples;
  std::optional<double> epochs;
  std::optional<double> steps;
  std::optional<double> tokens;
  std::optional<std::string> dataset;
  std::optional<double> evaluate_s;        // one evaluation after each epoch
  std::optional<double> checkpoint_s;      // a checkpoint
  std::optional<double> checkpoint_every;  // seconds of work between two of them
  std::optional<double> mtbf_s;            // mean time between failures of the whole job
  std::optional<double> restart_s;         // from a failure until work goes on
  Mode mode = Mode::Train;
  std::vector<std::string> predictors;
  std::string engine = "auto";
  std::optional<double> price_per_device_hour;
  std::optional<std::string> cloud;
  bool operator==(const Request&) const = default;
};

// Reads a request from its JSON text. `where` begins every message ("request 3"). Throws
// Error(BadInput) for malformed JSON, unknown fields (near matches listed), wrong types and
// values out of range. Nothing is looked up yet.
Request parse_request(std::string_view json, const std::string& where);

// The fields that differ from their defaults, in the order of the table: parse_request gives the
// same request again.
std::string to_json(const Request& request);

// The fields in which `after` differs from `before`, as JSON with the values of `after`: null where
// it has none.
std::string changes_json(const Request& before, const Request& after);

}  // namespace foretrain
