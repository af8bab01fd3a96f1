// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/request.h"

#include <array>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

constexpr double kMost = 1e18;

constexpr std::array kParallelNames{std::pair{"ddp", Parallel::Ddp},
                                    std::pair{"allreduce", Parallel::AllReduce},
                                    std::pair{"dataparallel", Parallel::DataParallel},
                                    std::pair{"ps", Parallel::ParameterServer},
                                    std::pair{"horovod", Parallel::Horovod},
                                    std::pair{"fsdp", Parallel::Fsdp},
                                    std::pair{"zero1", Parallel::Zero1},
                                    std::pair{"zero2", Parallel::Zero2},
                                    std::pair{"zero3", Parallel::Zero3}};

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::BadInput, where + ": " + what);
}

// Reads typed, bounded values of one object.
class Reader {
 public:
  Reader(const Json& object, const std::string& where) : fields_(object, where) {}

  const Json* find(const std::string& key) { return fields_.find(key); }
  void finish() const { fields_.finish(); }
  const std::string& where() const { return fields_.where(); }

  std::optional<std::int64_t> count(const std::string& key, std::int64_t most) {
    const std::optional<std::int64_t> value = fields_.integer(key);
    if (value && (*value < 1 || *value > most)) {
      bad(where(), "'" + key + "' must be between 1 and " + std::to_string(most));
    }
    return value;
  }

  void count_into(const std::string& key, int& target, std::int64_t most) {
    if (const auto value = count(key, most)) target = static_cast<int>(*value);
  }

  std::optional<double> positive(const std::string& key, bool zero_allowed = false) {
    const std::optional<double> value = fields_.number(key);
    if (value && !((*value > 0 || (zero_allowed && *value == 0)) && *value <= kMost)) {
      bad(where(), "'" + key + "' must be " + (zero_allowed ? "at least 0" : "above 0") +
                       " and at most 1e18");
    }
    return value;
  }

  std::optional<std::string> text(const std::string& key) {
    std::optional<std::string> value = fields_.text(key);
    if (value && (value->empty() || value->size() > 4096)) {
      bad(where(), "'" + key + "' must have 1 to 4096 characters");
    }
    return value;
  }

  std::optional<bool> boolean(const std::string& key) { return fields_.boolean(key); }

  std::string one_of(const std::string& key, const std::string& otherwise,
                     const std::vector<std::string>& allowed) {
    const std::string value = text(key).value_or(otherwise);
    for (const std::string& name : allowed) {
      if (value == name) return value;
    }
    std::string list;
    for (const std::string& name : allowed) list += (list.empty() ? "" : ", ") + name;
    bad(where(), "'" + key + "' is '" + printable(value) + "'; it must be one of " + list);
  }

  // A name, or an object whose JSON is kept for the module that understands it.
  std::optional<Described> described(const std::string& key) {
    const Json* value = fields_.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_object()) return Described{value->dump(), true};
    if (value->is_string()) return Described{*text(key), false};
    bad(where(), "'" + key + "' must be a name or an object");
  }

  std::vector<int> counts(const std::string& key, int least) {
    const Json* value = fields_.find(key);
    std::vector<int> result;
    if (value == nullptr) return result;
    if (!value->is_array() || value->empty() || value->size() > 100'000) {
      bad(where(), "'" + key + "' must be a list of whole numbers, e.g. [4, 4]");
    }
    for (const Json& entry : *value) {
      if (!entry.is_number_integer() || entry.get<double>() < least || entry.get<double>() > 1024) {
        bad(where(),
            "'" + key + "' must hold whole numbers between " + std::to_string(least) + " and 1024");
      }
      result.push_back(entry.get<int>());
    }
    return result;
  }

 private:
  JsonFields fields_;
};

Parallel parallel_named(const std::string& name, const std::string& where) {
  std::vector<std::string> known;
  for (const auto& [text, kind] : kParallelNames) {
    if (name == text) return kind;
    known.emplace_back(text);
  }
  std::string list;
  for (const std::string& text : known) list += (list.empty() ? "" : ", ") + text;
  bad(where, "strategy '" + printable(name) + "' is not known; it must be one of " + list);
}

Strategy read_strategy(const Json& value, const std::string& where) {
  Strategy strategy;
  if (value.is_string()) {
    strategy.kind = parallel_named(value.get<std::string>(), where);
    return strategy;
  }
  if (!value.is_object()) bad(where, "'strategy' must be a name or an object");
  Reader reader(value, where + ": strategy");
  strategy.kind = parallel_named(reader.text("kind").value_or("ddp"), where);
  reader.count_into("tensor", strategy.tensor, 1'000'000);
  reader.count_into("pipeline", strategy.pipeline, 1'000'000);
  reader.count_into("expert", strategy.expert, 1'000'000);
  reader.count_into("context", strategy.context, 1'000'000);
  strategy.micro_batch = reader.count("micro_batch", 1'000'000'000);
  reader.count_into("interleave", strategy.interleave, 1024);
  strategy.recompute = reader.one_of("recompute", "none", {"none", "selective", "full"});
  reader.count_into("servers", strategy.servers, 100'000);
  strategy.asynchronous = reader.boolean("asynchronous").value_or(false);
  if (auto device = reader.described("server_device")) strategy.server_device = *device;
  strategy.server_placement = reader.counts("server_placement", 0);
  reader.finish();
  return strategy;
}

void read_cluster(Reader& reader, Request& request) {
  request.device = reader.described("device");
  request.intra_node = reader.described("intra_node");
  request.network = reader.described("network");
  request.cluster = reader.described("cluster");
  const auto workers = reader.count("workers", 1'000'000);
  request.placement = reader.counts("placement", 1);
  if (const auto per_node = reader.count("workers_per_node", 1024)) {
    request.workers_per_node = static_cast<int>(*per_node);
  }
  if (!request.placement.empty()) {
    std::int64_t sum = 0;
    for (const int devices : request.placement) sum += devices;
    if (request.workers_per_node)
      bad(reader.where(), "give 'placement' or 'workers_per_node', not both");
    if (workers && *workers != sum) {
      bad(reader.where(), "'placement' adds up to " + std::to_string(sum) +
                              " devices, 'workers' says " + std::to_string(*workers));
    }
    request.workers = static_cast<int>(sum);
  } else if (workers) {
    request.workers = static_cast<int>(*workers);
  }
  if (request.cluster && (request.device || !request.placement.empty() || workers ||
                          request.workers_per_node || request.intra_node || request.network)) {
    bad(reader.where(),
        "'cluster' already says devices, placement and links; leave out device, "
        "workers, workers_per_node, placement, intra_node and network");
  }
}

void read_length(Reader& reader, Request& request) {
  request.samples = reader.positive("samples");
  request.epochs = reader.positive("epochs");
  request.steps = reader.positive("steps");
  request.tokens = reader.positive("tokens");
  request.dataset = reader.text("dataset");
  const int lengths = (request.epochs ? 1 : 0) + (request.steps ? 1 : 0) + (request.tokens ? 1 : 0);
  if (lengths > 1) bad(reader.where(), "give only one of 'epochs', 'steps' and 'tokens'");
  if (request.samples && request.dataset)
    bad(reader.where(), "give 'samples' or 'dataset', not both");
}

void read_training(Reader& reader, Request& request) {
  request.batch = reader.count("batch", 1'000'000'000);
  request.global_batch = reader.count("global_batch", 1'000'000'000'000);
  if (request.batch && request.global_batch) {
    bad(reader.where(), "give 'batch' or 'global_batch', not both");
  }
  const std::string precision =
      reader.one_of("precision", "fp32",
                    std::vector<std::string>(kPrecisionNames.begin(), kPrecisionNames.end()));
  request.precision = *precision_named(precision);
  if (const auto framework = reader.text("framework")) request.framework = *framework;
  std::vector<std::string> optimizers;
  for (const graph::OptimizerRow& row : graph::kOptimizers) optimizers.emplace_back(row.name);
  request.optimizer = *graph::optimizer_named(reader.one_of("optimizer", "sgd", optimizers));
  if (const Json* value = reader.find("strategy")) {
    request.strategy = read_strategy(*value, reader.where());
  }
  request.mode = reader.one_of("mode", "train", {"train", "inference"}) == "train"
                     ? Mode::Train
                     : Mode::Inference;
  request.trainable = reader.text("trainable").value_or("all");
  request.autotune = reader.boolean("autotune");
  if (reader.find("attention") != nullptr) {
    request.attention = reader.one_of("attention", "math", {"math", "flash"});
  }
}

}  // namespace

Request parse_request(std::string_view json, const std::string& where) {
  const Json object = parse_json(json, where);
  if (!object.is_object())
    bad(where, "a request is a JSON object such as {\"model\": \"resnet50\"}");
  Reader reader(object, where);
  Request request;
  const auto model = reader.text("model");
  if (!model) bad(where, "'model' is required: a built-in name (foretrain models) or a file");
  request.model = *model;
  read_cluster(reader, request);
  read_training(reader, request);
  read_length(reader, request);
  request.host_speed = reader.positive("host_speed").value_or(1);
  request.input_rate = reader.positive("input_rate");
  request.copy_rate = reader.positive("copy_rate");
  request.power_limit_w = reader.positive("power_limit_w");
  request.context_bytes = reader.positive("context_bytes", true);
  request.price_per_device_hour = reader.positive("price_per_device_hour", true);
  request.cloud = reader.text("cloud");
  request.engine =
      reader.one_of("engine", "auto", {"auto", "operators", "inspector", "embedding", "scaling"});
  if (const Json* files = reader.find("predictors")) {
    const bool names =
        files->is_array() &&
        std::all_of(files->begin(), files->end(), [](const Json& one) { return one.is_string(); });
    if (!names) bad(where, "'predictors' is not a list of file names");
    request.predictors = files->get<std::vector<std::string>>();
  }
  reader.finish();
  return request;
}

}  // namespace foretrain
