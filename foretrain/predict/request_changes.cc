// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/detail/request_changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "foretrain/base/json.h"

namespace foretrain {
namespace {

constexpr double kLargerBuckets = 4;         // times as many bytes
constexpr std::int64_t kPassesPerStage = 4;  // of a pipeline: its bubble is a fifth of the step

// The same link at twice the rate, as an object that a request takes.
Described twice_as_fast(const hw::Link& link) {
  OrderedJson json{{"name", link.name},
                   {"bytes_per_s", 2 * link.bytes_per_s},
                   {"latency_s", link.latency.count()},
                   {"nics", link.nics},
                   {"rdma", link.rdma},
                   {"efficiency", link.efficiency},
                   {"ramp_s", link.ramp.count()},
                   {"switched", link.switched},
                   {"peer_access", link.peer_access}};
  if (link.flow_cap_bytes_per_s) json["flow_cap_bytes_per_s"] = 2 * *link.flow_cap_bytes_per_s;
  return {json_text(json), true};
}

bool can_compute(const hw::Cluster& cluster, Precision precision) {
  return std::all_of(cluster.devices.begin(), cluster.devices.end(), [&](const hw::Device& device) {
    return hw::matrix_peak(device, precision).has_value();
  });
}

bool is_sharded(Parallel kind) {
  return kind == Parallel::Fsdp || kind == Parallel::Zero1 || kind == Parallel::Zero2 ||
         kind == Parallel::Zero3;
}

int devices_on_node(const hw::Cluster& cluster) {
  int most = 1;
  for (const hw::Node& node : cluster.nodes) most = std::max(most, node.devices);
  return most;
}

std::int64_t ranks_of_model(const Strategy& strategy) {
  return std::int64_t{strategy.tensor} * strategy.pipeline * strategy.context;
}

class Changes {
 public:
  Changes(const Request& request, const Resolved& resolved, const Report& now)
      : request_(request),
        resolved_(resolved),
        now_(now),
        trains_(request.mode == Mode::Train),
        exchanges_(trains_ && resolved.workers > 1) {}

  std::vector<RequestChange> all() {
    compute();
    kernels();
    recomputation();
    exchange();
    links();
    host_and_input();
    batches();
    kinds();
    degrees();
    return std::move(list_);
  }

 private:
  Request& add(std::string what) {
    list_.push_back({std::move(what), request_});
    return list_.back().request;
  }

  std::optional<Precision> half() const {
    if (can_compute(resolved_.cluster, Precision::Bf16)) return Precision::Bf16;
    if (can_compute(resolved_.cluster, Precision::Fp16)) return Precision::Fp16;
    return std::nullopt;
  }

  void compute_in(Precision precision, const std::string& what) {
    Request& request = add(what + " (" + to_string(precision) + ")");
    request.precision = precision;
    request.ieee = false;
  }

  void compute() {
    const Precision now = resolved_.precision;
    if (now == Precision::Fp32 && can_compute(resolved_.cluster, Precision::Tf32)) {
      compute_in(Precision::Tf32, "tensor cores");
    }
    if (const auto precision = half(); precision && !is_half(now)) {
      compute_in(*precision, "half precision");
    }
    if (is_half(now) && now != Precision::Fp8 && can_compute(resolved_.cluster, Precision::Fp8)) {
      compute_in(Precision::Fp8, "8-bit precision");
    }
  }

  void kernels() {
    const cost::Framework& framework = *resolved_.framework;
    if (!resolved_.flash_attention) add("flash attention").attention = "flash";
    if (!framework.channels_last) add("images in channels_last").memory_format = "channels_last";
    if (!framework.autotunes) add("autotuned convolutions").autotune = true;
    if (request_.framework == "pytorch") add("compiled step").framework = "pytorch-compile";
    if (request_.framework == "tensorflow") add("compiled step").framework = "tensorflow-xla";
    if (trains_ && !framework.fused_update) add("fused optimizer").fused_optimizer = true;
  }

  void recomputation() {
    if (request_.strategy.offload != "none") add("no offload").strategy.offload = "none";
    if (!trains_ || resolved_.recompute == graph::Recompute::None) return;
    add("no recomputation").strategy.recompute = "none";
    if (resolved_.recompute == graph::Recompute::Full) {
      add("selective recomputation").strategy.recompute = "selective";
    }
  }

  double bucket_bytes() const {
    const comm::ExchangeCosts& costs = *resolved_.exchange;
    if (resolved_.strategy.kind == Parallel::Horovod) return costs.horovod.fusion_bytes;
    const bool flat = resolved_.framework->flat_shards && is_sharded(resolved_.strategy.kind);
    return flat ? costs.sharded.bucket_bytes : costs.ddp.bucket_bytes;
  }

  void exchange() {
    if (!exchanges_) return;
    add("larger gradient buckets").strategy.bucket_bytes = kLargerBuckets * bucket_bytes();
    if (request_.strategy.gradient_precision.value_or("fp32") != "fp32") return;
    if (const auto precision = half()) {
      add("compressed gradients").strategy.gradient_precision = to_string(*precision);
    }
  }

  void links() {
    if (request_.cluster || resolved_.workers == 1) return;  // a file says all of its own
    const hw::Cluster& cluster = resolved_.cluster;
    const hw::Node& node = cluster.nodes.front();
    if (cluster.nodes.size() > 1) {
      add("network twice as fast").network =
          twice_as_fast(cluster.links[static_cast<std::size_t>(node.network)]);
    }
    if (devices_on_node(cluster) > 1) {
      add("intra-node twice as fast").intra_node =
          twice_as_fast(cluster.links[static_cast<std::size_t>(node.intra_node)]);
    }
  }

  void host_and_input() {
    Request& faster = add("host twice as fast");
    faster.host.reset();
    faster.host_speed = 2 * request_.host_speed.value_or(resolved_.host_speed);
    const bool limited = request_.input_rate || request_.loaders;
    if (limited && now_.breakdown.input > Seconds{0}) {
      Request& fast = add("input that never limits");
      fast.input_rate.reset();
      fast.loaders.reset();
    }
    if (request_.copy_rate || request_.input_copy) {
      Request& beside = add("input copied beside the step");
      beside.copy_rate.reset();
      beside.input_copy.reset();
    }
  }

  void batches() {
    const auto list = [&](std::string what, Request request) {
      list_.push_back({std::move(what), std::move(request)});
    };
    list("batch twice as large", with_batch(request_, 2 * resolved_.batch, resolved_));
    if (resolved_.passes > 1) {
      if (resolved_.passes % 2 == 0) {
        add("passes twice as large").strategy.micro_batch = 2 * resolved_.micro_batch;
      }
      return;
    }
    Request most = request_;
    most.global_batch.reset();
    most.batch.reset();
    most.strategy.micro_batch.reset();
    most.largest_batch = true;
    list("largest batch that fits", std::move(most));
  }

  // Other ways to keep and exchange what the same ranks compute.
  void kinds() {
    if (!exchanges_) return;
    using Kind = std::pair<Parallel, const char*>;
    static constexpr std::array kKinds{Kind{Parallel::Ddp, "nothing sharded (ddp)"},
                                       Kind{Parallel::Zero1, "states sharded (zero1)"},
                                       Kind{Parallel::Zero2, "gradients sharded (zero2)"},
                                       Kind{Parallel::Fsdp, "all sharded (fsdp)"}};
    const Parallel now = request_.strategy.kind;
    for (const auto& [kind, what] : kKinds) {
      if (kind == now || (kind == Parallel::Fsdp && now == Parallel::Zero3)) continue;
      Request& request = add(what);
      request.strategy.kind = kind;
      if (!is_sharded(kind)) request.strategy.shard_group.reset();
    }
    if (resolved_.cluster.nodes.size() < 2) return;
    Request& hybrid = add("shards inside nodes");
    if (!is_sharded(now)) hybrid.strategy.kind = Parallel::Fsdp;
    hybrid.strategy.shard_group = devices_on_node(resolved_.cluster);
  }

  // Degrees of tensor, pipeline and context parallelism next to those of the request.
  void degrees() {
    if (!exchanges_) return;
    const int t = request_.strategy.tensor;
    const int p = request_.strategy.pipeline;
    const int node = devices_on_node(resolved_.cluster);
    std::vector<std::pair<int, int>> tried{{t, p}};
    for (const auto& [tensor, pipeline] :
         {std::pair{2 * t, p}, std::pair{t / 2, p}, std::pair{node, p}, std::pair{t, 2 * p},
          std::pair{t, 4 * p}, std::pair{t, p / 2}, std::pair{2 * t, p / 2},
          std::pair{t / 2, 2 * p}}) {
      if (std::find(tried.begin(), tried.end(), std::pair{tensor, pipeline}) != tried.end()) {
        continue;
      }
      tried.emplace_back(tensor, pipeline);
      if (tensor >= 1 && tensor <= node && pipeline >= 1) {
        add_degrees("tensor " + std::to_string(tensor) + ", pipeline " + std::to_string(pipeline),
                    tensor, pipeline, request_.strategy.context);
      }
    }
    for (const int context : {2 * request_.strategy.context, request_.strategy.context / 2}) {
      if (context >= 1) add_degrees("context " + std::to_string(context), t, p, context);
    }
  }

  // The samples of a step stay the same: those of a rank are as many more as there are fewer ranks.
  void add_degrees(const std::string& what, int tensor, int pipeline, int context) {
    Request request = request_;
    request.strategy.tensor = tensor;
    request.strategy.pipeline = pipeline;
    request.strategy.context = context;
    const std::int64_t more = ranks_of_model(request.strategy);
    const std::int64_t now = ranks_of_model(request_.strategy);
    if (resolved_.workers % more != 0 || resolved_.batch * more % now != 0) return;
    const std::int64_t batch = resolved_.batch * more / now;
    request.global_batch.reset();
    request.batch = batch;
    if (pipeline > 1) {
      std::int64_t micro = std::max<std::int64_t>(1, batch / (kPassesPerStage * pipeline));
      while (batch % micro != 0) --micro;
      request.strategy.micro_batch = micro;
    } else if (batch % resolved_.micro_batch != 0 || resolved_.passes == 1) {
      request.strategy.micro_batch.reset();
    }
    list_.push_back({what, std::move(request), true});
  }

  const Request& request_;
  const Resolved& resolved_;
  const Report& now_;
  bool trains_;
  bool exchanges_;
  std::vector<RequestChange> list_;
};

}  // namespace

std::vector<RequestChange> request_changes(const Request& request, const Resolved& resolved,
                                           const Report& now) {
  return Changes(request, resolved, now).all();
}

Request with_batch(Request request, std::int64_t batch, const Resolved& resolved) {
  const double more = static_cast<double>(batch) / static_cast<double>(resolved.batch);
  request.largest_batch = false;
  if (request.global_batch) {
    request.global_batch = *request.global_batch / resolved.batch * batch;
  } else {
    request.batch = batch;
  }
  if (request.steps) request.steps = std::ceil(*request.steps / more);
  return request;
}

}  // namespace foretrain
