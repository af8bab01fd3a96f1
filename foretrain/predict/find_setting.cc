// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/cost/cpu.h"
#include "foretrain/predict/datasets.h"
#include "foretrain/predict/setting.h"

namespace foretrain {
namespace {

constexpr int kDevicesPerNode = 8;          // of a node whose size nobody stated
constexpr const char* kNetwork = "100gbe";  // between nodes, likewise
constexpr std::int64_t kBatch = 32;
// What one worker's steps vary by. Source: docs/models.md, "Data parallel steps".
constexpr double kStepVariation = 0.03;
constexpr std::uintmax_t kLargestFile = 16 << 20;

bool names_file(const std::string& text) { return text.ends_with(".json"); }

std::string read_description(const std::string& path, const Library& library) {
  if (!library.read_files) {
    throw Error(ErrorKind::BadInput, "'" + printable(path) +
                                         "': files are not read here; give the description itself "
                                         "as a JSON object");
  }
  return read_file(path, kLargestFile);
}

// The JSON text of a description, or "" where it is a name of the catalog.
std::string description(const Described& described, const Library& library) {
  if (described.json) return described.text;
  if (names_file(described.text)) return read_description(described.text, library);
  return "";
}

hw::Device find_device(const Described& described, const Library& library, const char* field,
                       std::vector<std::string>& notes) {
  const std::string text = description(described, library);
  if (text.empty()) return hw::find_device(library.catalog, described.text, &notes);
  return hw::parse_device(text, described.json ? field : "file " + printable(described.text),
                          &notes);
}

hw::Link find_link(const Described& described, const Library& library, const char* field,
                   std::vector<std::string>& notes) {
  const std::string text = description(described, library);
  if (text.empty()) return hw::find_link(library.catalog, described.text);
  return hw::parse_link(text, described.json ? field : "file " + printable(described.text), &notes);
}

std::vector<int> find_placement(const Request& request, int per_node_of_instance,
                                std::vector<std::string>& notes) {
  if (!request.placement.empty()) return request.placement;
  int per_node = request.workers_per_node.value_or(per_node_of_instance);
  if (per_node == 0) {
    per_node = std::min(request.workers, kDevicesPerNode);
    if (request.workers > kDevicesPerNode) {
      notes.push_back("8 devices on each node (workers_per_node was not given)");
    }
  }
  std::vector<int> placement;
  for (int left = request.workers; left > 0; left -= per_node) {
    placement.push_back(std::min(left, per_node));
  }
  return placement;
}

hw::Cluster homogeneous_cluster(const Request& request, const Library& library, Setting& setting) {
  std::vector<std::string>& notes = setting.assumptions;
  hw::Cluster cluster;
  std::optional<Described> device = request.device;
  if (!device && setting.instance) device = Described{setting.instance->device, false};
  if (!device) {
    throw Error(ErrorKind::BadInput,
                "'device' is required: a name (foretrain devices), a datasheet as JSON, or a file; "
                "or give 'cluster' or 'cloud'");
  }
  cluster.devices.push_back(find_device(*device, library, "device", notes));
  const int per_node = setting.instance ? setting.instance->devices : 0;
  const std::vector<int> placement = find_placement(request, per_node, notes);

  if (request.intra_node) {
    const std::string text = description(*request.intra_node, library);
    cluster.links.push_back(text.empty()
                                ? hw::find_intra_node(library.catalog, request.intra_node->text,
                                                      cluster.devices[0], &notes)
                                : find_link(*request.intra_node, library, "intra_node", notes));
  } else if (setting.instance) {
    cluster.links.push_back(setting.instance->intra_node);
  } else {
    const std::string& name = cluster.devices[0].intra_node;
    cluster.links.push_back(
        hw::find_intra_node(library.catalog, name, cluster.devices[0], nullptr));
    const bool shared_node =
        std::any_of(placement.begin(), placement.end(), [](int devices) { return devices > 1; });
    if (shared_node) notes.push_back("devices of a node are joined by " + cluster.links[0].name);
  }
  if (request.network) {
    cluster.links.push_back(find_link(*request.network, library, "network", notes));
  } else if (setting.instance) {
    cluster.links.push_back(setting.instance->network);
  } else {
    cluster.links.push_back(hw::find_link(library.catalog, kNetwork));
    if (placement.size() > 1) {
      notes.push_back(std::string("nodes are joined by ") + kNetwork + " (network was not given)");
    }
  }
  for (const int devices : placement) cluster.nodes.push_back({0, devices, 0, 1});
  return cluster;
}

// A limit below the datasheet's; above it nothing changes.
void limit_power(const Request& request, hw::Cluster& cluster) {
  if (!request.power_limit_w) return;
  for (hw::Device& device : cluster.devices) {
    const bool unlimited = device.tdp_w <= 0;
    device.tdp_w =
        unlimited ? *request.power_limit_w : std::min(device.tdp_w, *request.power_limit_w);
  }
}

hw::Cluster find_cluster(const Request& request, const Library& library, Setting& setting) {
  if (!request.cluster) return homogeneous_cluster(request, library, setting);
  const std::string where =
      request.cluster->json ? "cluster" : "file " + printable(request.cluster->text);
  const std::string text = request.cluster->json ? request.cluster->text
                                                 : read_description(request.cluster->text, library);
  return hw::parse_cluster(text, where, library.catalog, &setting.assumptions);
}

// GPUs of the catalog vary; what a user describes is as steady as it is described. CPUs are left
// out: how much they vary was not measured apart from the cores that they share.
double step_variation(const hw::Cluster& cluster, const hw::Catalog& catalog) {
  const auto varies = [&](const hw::Device& device) {
    return !hw::is_cpu(device) && std::any_of(catalog.devices.begin(), catalog.devices.end(),
                                              [&](const hw::DeviceEntry& entry) {
                                                return entry.device.name == device.name;
                                              });
  };
  return std::all_of(cluster.devices.begin(), cluster.devices.end(), varies) ? kStepVariation : 0;
}

std::int64_t find_batch(const Request& request, int workers, std::vector<std::string>& notes) {
  if (request.batch) return *request.batch;
  if (!request.global_batch) {
    notes.push_back("batch of 32 samples per worker (batch was not given)");
    return kBatch;
  }
  if (*request.global_batch % workers != 0) {
    throw Error(ErrorKind::BadInput, "global_batch " + std::to_string(*request.global_batch) +
                                         " is not a multiple of the " + std::to_string(workers) +
                                         " data-parallel ranks");
  }
  const std::int64_t batch = *request.global_batch / workers;
  if (batch > 1'000'000'000) throw Error(ErrorKind::BadInput, "global_batch is absurdly large");
  return batch;
}

// Gradients of several passes add up before one exchange and update.
void find_passes(const Request& request, Setting& setting) {
  setting.micro_batch = request.strategy.micro_batch.value_or(setting.batch);
  if (setting.batch % setting.micro_batch != 0) {
    throw Error(ErrorKind::BadInput, "batch " + std::to_string(setting.batch) +
                                         " is not a multiple of micro_batch " +
                                         std::to_string(setting.micro_batch));
  }
  setting.passes = setting.batch / setting.micro_batch;
}

void refuse_what_is_missing(const Request& request) {
  const Strategy& strategy = request.strategy;
  const bool sharded = strategy.kind == Parallel::Fsdp || strategy.kind == Parallel::Zero1 ||
                       strategy.kind == Parallel::Zero2 || strategy.kind == Parallel::Zero3;
  const bool model_parallel =
      strategy.tensor * strategy.pipeline * strategy.expert * strategy.context > 1 ||
      strategy.interleave > 1;
  if (sharded || model_parallel || strategy.recompute != "none") {
    throw Error(ErrorKind::Unsupported,
                "strategy: this version knows data parallelism (ddp, allreduce, dataparallel, ps, "
                "horovod) without sharding, model parallelism or recomputation");
  }
  if (request.engine != "auto" && request.engine != "operators") {
    throw Error(ErrorKind::Unsupported, "engine '" + request.engine +
                                            "' needs a fitted predictor, which this version cannot "
                                            "load; use operators");
  }
  if (request.mode == Mode::Inference && (strategy.kind == Parallel::ParameterServer)) {
    throw Error(ErrorKind::Unsupported,
                "mode inference has no parameter servers; use strategy ddp");
  }
}

void check_precision(const Request& request, const hw::Cluster& cluster) {
  for (const hw::Device& device : cluster.devices) {
    if (!hw::matrix_peak(device, request.precision)) {
      throw Error(ErrorKind::Unsupported, "device " + device.name + " does not compute in " +
                                              to_string(request.precision) +
                                              "; use fp32 or fp16, or another device");
    }
  }
}

std::shared_ptr<const Predictor> find_predictor(const std::string& path, const Library& library) {
  if (auto known = library.predictors->find(path)) return known;
  if (!library.read_files) {
    throw Error(ErrorKind::BadInput, "'predictors': files are not read here");
  }
  auto predictor = std::make_shared<const Predictor>(read_predictor(path));
  library.predictors->insert(path, predictor);
  return predictor;
}

// As it is shipped, as the library knows it, or as the request's predictors say.
std::shared_ptr<const cost::Framework> find_framework(const Request& request,
                                                      const Library& library, int workers) {
  auto framework = std::make_shared<cost::Framework>(cost::framework_named(request.framework));
  const auto use = [&](const cost::Framework& fitted) {
    if (fitted.name == framework->name) *framework = fitted;
  };
  for (const cost::Framework& fitted : library.frameworks) use(fitted);
  for (const std::string& path : request.predictors) {
    const auto predictor = find_predictor(path, library);
    if (predictor->framework) use(*predictor->framework);
  }
  framework->autotunes = request.autotune.value_or(framework->autotunes);
  framework->statistics = cost::statistics_of(*framework, request.optimizer, workers);
  return framework;
}

// Of a core that each worker has, 1 where it has whole ones or no CPU: start-up is timed on those.
double core_share(const Setting& setting, const Calibration& calibration) {
  const hw::Device& device = setting.cluster.devices.front();
  if (!hw::is_cpu(device)) return 1;
  return std::min(1.0, 1 / (cost::cpu_call_factor(device) * calibration.host));
}

void apply(const Calibration& calibration, Setting& setting) {
  if (!calibrate(calibration, setting.cluster)) return;
  setting.host_speed *= calibration.host;
  setting.startup_s =
      std::max(setting.startup_s, calibration.startup_s / core_share(setting, calibration));
  setting.assumptions.push_back(calibration.device + " as calibrated by measured steps");
}

// What is in use, then what the request names in addition.
void apply_predictors(const Request& request, const Library& library, Setting& setting) {
  setting.operators = library.operators;
  setting.intervals = library.intervals;
  setting.host_speed = request.host_speed;
  for (const Calibration& calibration : library.calibrations) apply(calibration, setting);
  for (const std::string& path : request.predictors) {
    const auto predictor = find_predictor(path, library);
    if (predictor->operators) setting.operators = predictor->operators;
    if (predictor->calibration) apply(*predictor->calibration, setting);
    if (predictor->intervals) setting.intervals = predictor->intervals;
  }
}

}  // namespace

Setting find_setting(const Request& request, const Library& library) {
  refuse_what_is_missing(request);
  Setting setting;
  if (request.cloud) setting.instance = hw::find_instance(library.catalog, *request.cloud);
  setting.cluster = find_cluster(request, library, setting);
  limit_power(request, setting.cluster);
  check_precision(request, setting.cluster);
  setting.workers = hw::worker_count(setting.cluster);
  setting.variation = step_variation(setting.cluster, library.catalog);
  setting.framework = find_framework(request, library, setting.workers);
  apply_predictors(request, library, setting);
  setting.batch = find_batch(request, setting.workers, setting.assumptions);
  find_passes(request, setting);
  const bool short_format = request.precision == Precision::Fp16 ||
                            request.precision == Precision::Bf16 ||
                            request.precision == Precision::Fp8;
  setting.flash_attention = request.attention ? *request.attention == "flash"
                                              : (short_format ? setting.framework->flash_short
                                                              : setting.framework->flash_fp32);
  if (request.dataset) setting.samples = dataset_samples(*request.dataset);
  if (request.samples) setting.samples = request.samples;
  if (request.epochs && !setting.samples) {
    throw Error(ErrorKind::BadInput, "'epochs' needs 'dataset' or 'samples'");
  }
  if (request.strategy.kind == Parallel::ParameterServer) {
    setting.server_device =
        find_device(request.strategy.server_device, library, "server_device", setting.assumptions);
  }
  return setting;
}

}  // namespace foretrain
