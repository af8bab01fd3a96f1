// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/resolve.h"

#include <algorithm>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/cost/cpu.h"
#include "foretrain/knowledge/embedding_model.h"
#include "foretrain/knowledge/scaling_model.h"
#include "foretrain/request/detail/datasets.h"
#include "foretrain/request/detail/find_cluster.h"
#include "foretrain/request/detail/find_effects.h"
#include "foretrain/request/detail/find_machine.h"
#include "foretrain/request/detail/find_offload.h"
#include "foretrain/request/detail/find_strategy.h"

namespace foretrain {
namespace {

constexpr std::int64_t kBatch = 32;

// A limit below the datasheet's; above it nothing changes.
void limit_power(const Request& request, hw::Cluster& cluster) {
  if (!request.power_limit_w) return;
  for (hw::Device& device : cluster.devices) {
    const bool unlimited = device.tdp_w <= 0;
    device.tdp_w =
        unlimited ? *request.power_limit_w : std::min(device.tdp_w, *request.power_limit_w);
  }
}

// CPUs are left out: how much they vary was not measured apart from the cores that they share.
double step_variation(const hw::Cluster& cluster, const cost::Straggling& straggling) {
  const bool cpus = std::any_of(cluster.devices.begin(), cluster.devices.end(), hw::is_cpu);
  return cpus ? 0 : straggling.step_variation;
}

std::int64_t find_batch(const Request& request, int ranks, std::vector<std::string>& notes) {
  if (request.largest_batch) return 1;
  if (request.batch) return *request.batch;
  if (!request.global_batch) {
    notes.push_back("batch of 32 samples per worker (batch was not given)");
    return kBatch;
  }
  if (*request.global_batch % ranks != 0) {
    throw Error(ErrorKind::BadInput, "global_batch " + std::to_string(*request.global_batch) +
                                         " is not a multiple of the " + std::to_string(ranks) +
                                         " data-parallel ranks");
  }
  const std::int64_t batch = *request.global_batch / ranks;
  if (batch > 1'000'000'000) throw Error(ErrorKind::BadInput, "global_batch is absurdly large");
  return batch;
}

// Gradients of several passes add up before one exchange and update.
void find_passes(const Request& request, Resolved& resolved) {
  if (request.largest_batch && request.strategy.micro_batch) {
    throw Error(ErrorKind::BadInput,
                "batch max and micro_batch: any number of passes of a micro_batch that fits does; "
                "give a batch, or leave out micro_batch");
  }
  resolved.micro_batch = request.strategy.micro_batch.value_or(resolved.batch);
  if (resolved.batch % resolved.micro_batch != 0) {
    throw Error(ErrorKind::BadInput, "batch " + std::to_string(resolved.batch) +
                                         " is not a multiple of micro_batch " +
                                         std::to_string(resolved.micro_batch));
  }
  resolved.passes = resolved.batch / resolved.micro_batch;
}

void refuse_what_is_missing(const Request& request) {
  const Strategy& strategy = request.strategy;
  const bool summed = strategy.kind == Parallel::Ddp || strategy.kind == Parallel::AllReduce ||
                      strategy.kind == Parallel::Horovod;
  if (strategy.expert > 1 && !summed) {
    throw Error(ErrorKind::Unsupported,
                "strategy: 'expert' works with ddp, allreduce and horovod in this version");
  }
  if (request.mode == Mode::Inference && (strategy.kind == Parallel::ParameterServer)) {
    throw Error(ErrorKind::Unsupported,
                "mode inference has no parameter servers; use strategy ddp");
  }
}

void check_precision(Precision precision, const hw::Cluster& cluster) {
  for (const hw::Device& device : cluster.devices) {
    if (!hw::matrix_peak(device, precision)) {
      throw Error(ErrorKind::Unsupported, "device " + device.name + " does not compute in " +
                                              to_string(precision) +
                                              "; use fp32 or fp16, or another device");
    }
  }
}

// Weights in 16 bits or less say what is computed in: bf16 where nothing else is asked for.
void find_weights(const Request& request, Resolved& resolved) {
  const Weights weights = request.weights;
  if (weights == Weights::Fp32) return;
  const bool trains = request.mode == Mode::Train;
  if (is_quantised(weights) && trains && resolved.trainable.part != graph::Trainable::Part::Lora) {
    throw Error(ErrorKind::BadInput,
                "weights " + std::string(to_string(weights)) +
                    " are a frozen base: gradients need adapters; use trainable lora:rank=16, or "
                    "weights bf16");
  }
  const Precision own = weights == Weights::Fp16 ? Precision::Fp16 : Precision::Bf16;
  if (request.precision == Precision::Fp32) {
    resolved.precision = own;
    resolved.assumptions.push_back("precision " + std::string(to_string(own)) + ", as weights " +
                                   to_string(weights) + " are computed with");
    return;
  }
  const bool allowed = is_quantised(weights)
                           ? is_half(request.precision)
                           : request.precision == own ||
                                 (own == Precision::Bf16 && request.precision == Precision::Fp8);
  if (allowed) return;
  throw Error(ErrorKind::BadInput, "weights " + std::string(to_string(weights)) +
                                       " are not computed in " + to_string(request.precision) +
                                       "; use precision " + to_string(own));
}

using Predictors = std::vector<std::shared_ptr<const Predictor>>;

// Each file once, so that a request is answered from one state of it.
Predictors read_predictors(const Request& request, const Library& library) {
  if (!request.predictors.empty() && !library.read_files) {
    throw Error(ErrorKind::BadInput, "'predictors': files are not read here");
  }
  Predictors predictors;
  for (const std::string& path : request.predictors) {
    predictors.push_back(library.predictors->read(path));
  }
  return predictors;
}

// As the request's predictors say, or as the library knows it; fp32 becomes what it computes in.
std::shared_ptr<const cost::Framework> find_framework(const Request& request,
                                                      const Predictors& predictors,
                                                      const Library& library, Resolved& resolved) {
  std::shared_ptr<cost::Framework> framework;
  for (const auto& predictor : predictors) {
    for (const cost::Framework& own : predictor->frameworks) {
      if (own.name == request.framework) framework = std::make_shared<cost::Framework>(own);
    }
  }
  if (!framework) {
    framework = std::make_shared<cost::Framework>(
        cost::framework_named(library.frameworks, request.framework));
  }
  framework->autotunes = request.autotune.value_or(framework->autotunes);
  if (request.memory_format) {
    framework->channels_last = *request.memory_format == "channels_last";
  }
  framework->fused_update = request.fused_optimizer.value_or(framework->fused_update);
  framework->statistics = cost::statistics_of(*framework, request.optimizer, resolved.workers);
  if (resolved.precision == Precision::Fp32) {
    const cost::Tf32 tf32 =
        find_tf32(request, *framework, resolved.cluster.devices, resolved.assumptions);
    if (tf32 == cost::Tf32::Always) resolved.precision = Precision::Tf32;
    framework->tf32_convolutions = tf32 == cost::Tf32::Convolutions;
  }
  return framework;
}

// Of a core that each worker has, 1 where it has whole ones or no CPU: start-up is timed on those.
double core_share(const Resolved& resolved, const Calibration& calibration) {
  const hw::Device& device = resolved.cluster.devices.front();
  if (!hw::is_cpu(device)) return 1;
  const double slower = cost::cpu_call_factor(device, resolved.operators->constants.cpu);
  return std::min(1.0, 1 / (slower * calibration.host));
}

// A model's name without its parameters.
std::string family_of(const std::string& model) { return model.substr(0, model.find(':')); }

void apply(const Calibration& calibration, Resolved& resolved) {
  if (!calibrate(calibration, resolved.cluster)) return;
  resolved.host_speed *= calibration.host;
  resolved.input_speed *= calibration.input;
  const std::string family = family_of(resolved.model.name());
  for (const std::string& model : calibration.models) {
    if (family_of(model) == family) resolved.seen_input_rate = calibration.input_rate;
  }
  resolved.startup_s =
      std::max(resolved.startup_s, calibration.startup_s / core_share(resolved, calibration));
  resolved.assumptions.push_back(calibration.device + " as calibrated by measured steps");
}

// How fast samples come, as stated, assumed or seen in the runs of a calibration.
void find_input(const Request& request, const hw::AssumedHost& host, Resolved& resolved) {
  resolved.input_rate =
      find_input_rate(request, host, resolved.model, resolved.host_speed, resolved.assumptions);
  resolved.copy_rate = find_copy_rate(request, host, resolved.assumptions);
  resolved.waits_for_input = request.loaders == 0;
  if (resolved.input_rate) *resolved.input_rate *= resolved.input_speed;
  if (resolved.copy_rate) *resolved.copy_rate *= resolved.input_speed;
  if (resolved.input_rate || resolved.copy_rate || resolved.seen_input_rate <= 0) return;
  resolved.input_rate = resolved.seen_input_rate;
  resolved.assumptions.push_back(
      format("input delivers %.0f samples/s, as measured runs show", resolved.seen_input_rate));
}

// What is in use, then what the request names in addition.
void apply_predictors(const Request& request, const Predictors& predictors, const Library& library,
                      Resolved& resolved) {
  resolved.operators = library.operators;
  resolved.collectives = library.collectives;
  resolved.exchange = library.exchange;
  resolved.straggling = library.straggling;
  resolved.memory_context = library.memory_context;
  resolved.intervals = library.intervals;
  resolved.memory_intervals = library.memory_intervals;
  resolved.host_speed =
      find_host_speed(request, library.catalog.assumed_host, resolved.cluster.devices.front(),
                      resolved.instance, resolved.assumptions);
  for (const auto& predictor : predictors) {
    if (predictor->operators) resolved.operators = predictor->operators;
    if (predictor->collectives) resolved.collectives = predictor->collectives;
    if (predictor->exchange) resolved.exchange = predictor->exchange;
    if (predictor->straggling) resolved.straggling = predictor->straggling;
    if (predictor->memory_context) resolved.memory_context = predictor->memory_context;
    if (predictor->memory_intervals) resolved.memory_intervals = predictor->memory_intervals;
    if (predictor->intervals) {
      resolved.intervals = predictor->intervals;
      resolved.own_intervals = true;
    }
  }
  if (request.strategy.cycle_s) {
    auto exchange = std::make_shared<comm::ExchangeCosts>(*resolved.exchange);
    exchange->horovod.cycle_s = *request.strategy.cycle_s;
    resolved.exchange = std::move(exchange);
  }
  for (const Calibration& calibration : library.calibrations) apply(calibration, resolved);
  for (const auto& predictor : predictors) {
    if (predictor->calibration) apply(*predictor->calibration, resolved);
  }
}

// Buckets of another size than the strategy's own; a first one that is smaller stays so.
void set_bucket_bytes(const Strategy& strategy, Resolved& resolved) {
  if (!strategy.bucket_bytes) return;
  const bool has_buckets = strategy.kind == Parallel::Ddp || strategy.kind == Parallel::Horovod ||
                           strategy.kind == Parallel::Zero1 || strategy.kind == Parallel::Zero2;
  if (!has_buckets) {
    throw Error(ErrorKind::BadInput,
                "'bucket_bytes' is for strategies ddp, horovod, zero1 and zero2");
  }
  auto exchange = std::make_shared<comm::ExchangeCosts>(*resolved.exchange);
  exchange->ddp.first_bucket_bytes =
      std::min(exchange->ddp.first_bucket_bytes, *strategy.bucket_bytes);
  exchange->ddp.bucket_bytes = *strategy.bucket_bytes;
  exchange->horovod.fusion_bytes = *strategy.bucket_bytes;
  exchange->sharded.bucket_bytes = *strategy.bucket_bytes;
  resolved.exchange = std::move(exchange);
}

std::string constants_in_use(const Predictors& predictors, const Library& library) {
  ConstantsInUse constants = library.constants;
  for (const auto& predictor : predictors) constants.put(*predictor);
  return constants.text();
}

// The inspector that was named last. One that learned to correct other constants is refused.
void find_inspector(const Request& request, const Predictors& predictors, const Library& library,
                    Resolved& resolved) {
  resolved.inspector = library.inspector;
  for (const auto& predictor : predictors) {
    if (predictor->inspector) resolved.inspector = predictor->inspector;
  }
  if (resolved.inspector &&
      resolved.inspector->constants != constants_in_use(predictors, library)) {
    throw Error(ErrorKind::BadInput,
                "the inspector in 'predictors' was fitted on other constants than those in use; "
                "fit it anew: foretrain fit inspector --data DATA -o FILE (`make predictors` does "
                "so for those that are shipped)");
  }
  if (request.engine == "inspector" && !resolved.inspector) {
    throw Error(ErrorKind::BadInput,
                "engine inspector needs a predictor that `foretrain fit inspector` wrote: name it "
                "in 'predictors'");
  }
}

// The same of the scaling model, which may rest on the operator engine's times.
void find_scaling(const Request& request, const Predictors& predictors, const Library& library,
                  Resolved& resolved) {
  resolved.scaling = library.scaling;
  for (const auto& predictor : predictors) {
    if (predictor->scaling) resolved.scaling = predictor->scaling;
  }
  if (resolved.scaling && resolved.scaling->with_operators &&
      resolved.scaling->constants != constants_in_use(predictors, library)) {
    throw Error(ErrorKind::BadInput,
                "the scaling model in 'predictors' was fitted on other constants than those in "
                "use; fit it anew: foretrain fit scaling --with operators --data DATA -o FILE");
  }
  if (request.engine == "scaling" && !resolved.scaling) {
    throw Error(ErrorKind::BadInput,
                "engine scaling needs a predictor that `foretrain fit scaling` wrote: name it in "
                "'predictors'");
  }
}

// The same of the embedding model.
void find_embedding(const Request& request, const Predictors& predictors, const Library& library,
                    Resolved& resolved) {
  resolved.embedding = library.embedding;
  for (const auto& predictor : predictors) {
    if (predictor->embedding) resolved.embedding = predictor->embedding;
  }
  if (resolved.embedding && resolved.embedding->residual &&
      resolved.embedding->constants != constants_in_use(predictors, library)) {
    throw Error(ErrorKind::BadInput,
                "the embedding model in 'predictors' was fitted on other constants than those in "
                "use; fit it anew: foretrain fit embedding --target residual --data DATA -o FILE");
  }
  if (request.engine == "embedding" && !resolved.embedding) {
    throw Error(ErrorKind::BadInput,
                "engine embedding needs a predictor that `foretrain fit embedding` wrote: name it "
                "in 'predictors'");
  }
}

void find_length(const Request& request, Resolved& resolved) {
  if (request.length_deviation && !request.mean_length) {
    throw Error(ErrorKind::BadInput, "'length_deviation' needs 'mean_length'");
  }
  Length& length = resolved.length;
  length = {{}, request.epochs, request.steps, request.tokens};
  if (request.dataset) length.samples = dataset_samples(*request.dataset);
  if (request.samples) length.samples = request.samples;
  if (request.epochs && !length.samples) {
    throw Error(ErrorKind::BadInput, "'epochs' needs 'dataset' or 'samples'");
  }
}

// As asked, or as the framework does it: one that has a fused kernel has it on a CPU in any
// precision. Blocks of scores that go around a ring are fused kernels.
bool uses_flash_attention(const Request& request, Resolved& resolved) {
  const cost::Framework& framework = *resolved.framework;
  const bool any = is_half(resolved.precision) || hw::is_cpu(resolved.cluster.devices.front());
  const bool own = any ? framework.flash_half : framework.flash_fp32;
  if (request.strategy.context == 1) return request.attention ? *request.attention == "flash" : own;
  if (request.attention && *request.attention != "flash") {
    throw Error(ErrorKind::BadInput,
                "strategy: context parallelism computes attention in fused blocks; use attention "
                "flash");
  }
  if (!own && !request.attention) {
    resolved.assumptions.push_back("attention flash, as context parallelism needs it");
  }
  return true;
}

// What the request says itself.
Resolved stated(const Request& request) {
  Resolved resolved;
  resolved.mode = request.mode;
  resolved.precision = request.precision;
  resolved.weights = request.weights;
  resolved.largest_batch = request.largest_batch;
  resolved.optimizer = request.optimizer;
  resolved.fused_optimizer = request.fused_optimizer.value_or(false);
  resolved.mean_length = request.mean_length;
  resolved.length_deviation =
      request.length_deviation.value_or(request.mean_length.value_or(resolved.length_deviation));
  resolved.trainable = graph::parse_trainable(request.trainable);
  resolved.strategy = request.strategy;
  resolved.recompute = graph::parse_recompute(request.strategy.recompute);
  resolved.context_bytes = request.context_bytes;
  resolved.price_per_device_hour = request.price_per_device_hour;
  resolved.engine = request.engine;
  resolved.own_predictors = !request.predictors.empty();
  return resolved;
}

Resolved resolve_for(Model model, const Request& request, const Library& library) {
  refuse_what_is_missing(request);
  Resolved resolved = stated(request);
  resolved.model = std::move(model);
  if (request.cloud) resolved.instance = hw::find_instance(library.catalog, *request.cloud);
  resolved.cluster = find_cluster(request, library, resolved.instance, resolved.assumptions);
  limit_power(request, resolved.cluster);
  resolved.offload = find_offload(request, resolved.cluster, library.catalog);
  find_weights(request, resolved);
  check_precision(resolved.precision, resolved.cluster);
  resolved.workers = hw::worker_count(resolved.cluster);
  resolved.data_parallel = find_data_parallel(request.strategy, resolved.workers);
  check_shard_group(request.strategy, resolved.data_parallel * request.strategy.context);
  const Predictors predictors = read_predictors(request, library);
  resolved.framework = find_framework(request, predictors, library, resolved);
  apply_predictors(request, predictors, library, resolved);
  find_input(request, library.catalog.assumed_host, resolved);
  find_inspector(request, predictors, library, resolved);
  set_bucket_bytes(request.strategy, resolved);
  find_scaling(request, predictors, library, resolved);
  find_embedding(request, predictors, library, resolved);
  resolved.variation = step_variation(resolved.cluster, *resolved.straggling);
  resolved.batch = find_batch(request, resolved.data_parallel, resolved.assumptions);
  find_passes(request, resolved);
  check_pipeline(request.strategy, resolved.passes, resolved.assumptions);
  note_without_effect(request, resolved.assumptions);
  const bool half_model =
      is_half(resolved.precision) && resolved.framework->casting == graph::Casting::WholeModel;
  note_gradient_precision(request, resolved.framework->flat_shards,
                          half_model || resolved.weights != Weights::Fp32, resolved.assumptions);
  resolved.flash_attention = uses_flash_attention(request, resolved);
  find_length(request, resolved);
  resolved.effects = find_effects(request, resolved.length.samples.has_value());
  if (request.strategy.kind == Parallel::ParameterServer) {
    resolved.server_device =
        find_device(request.strategy.server_device, library, "server_device", resolved.assumptions);
  }
  return resolved;
}

}  // namespace

Resolved resolve(const Request& request, const Library& library) {
  return resolve_for(Model(request.model, library.read_files), request, library);
}

Resolved resolve(const Request& request, std::shared_ptr<const graph::Graph> model,
                 const Library& library) {
  return resolve_for(Model(request.model, std::move(model)), request, library);
}

}  // namespace foretrain
