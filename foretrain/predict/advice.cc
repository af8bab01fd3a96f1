// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/advice.h"

#include <algorithm>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/operators/stages.h"
#include "foretrain/predict/change.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

constexpr std::size_t kMostDevices = 2;       // larger ones that are named
constexpr std::size_t kMostDeviceTrials = 6;  // larger ones that are predicted
constexpr std::size_t kMostNodes = 500'000;   // of all predictions together: some two seconds

// A change of a request; whether it applies to it.
using Change = bool (*)(Request&);

bool recompute(Request& request, const char* what) {
  if (request.mode != Mode::Train || request.strategy.recompute != "none") return false;
  request.strategy.recompute = what;
  return true;
}

bool shard(Request& request, Parallel kind) {
  const Parallel now = request.strategy.kind;
  const bool whole = now == Parallel::Ddp || now == Parallel::AllReduce || now == Parallel::Horovod;
  if (request.mode != Mode::Train || !whole) return false;
  request.strategy.kind = kind;
  return true;
}

bool offload(Request& request, const char* what) {
  if (request.mode != Mode::Train || request.strategy.offload != "none") return false;
  request.strategy.offload = what;
  return true;
}

bool offload_states(Request& request) { return offload(request, "optimizer"); }

bool halve_weights(Request& request) {
  if (request.weights != Weights::Fp32) return false;
  request.weights = request.precision == Precision::Fp16 ? Weights::Fp16 : Weights::Bf16;
  return true;
}

bool shrink_states(Request& request) {
  if (request.optimizer == graph::Optimizer::Adam) {
    request.optimizer = graph::Optimizer::Adam8bit;
  } else if (request.optimizer == graph::Optimizer::AdamW) {
    request.optimizer = graph::Optimizer::AdamW8bit;
  } else {
    return false;
  }
  return request.mode == Mode::Train;
}

bool adapt(Request& request) {
  if (request.mode != Mode::Train || request.trainable != "all") return false;
  request.trainable = "lora:rank=16";
  return true;
}

// Adapters, new or there already, on a quantised base.
bool adapt_quantised(Request& request) {
  const bool adapted = request.trainable.starts_with("lora");
  if (!adapted && !adapt(request)) return false;
  if (is_quantised(request.weights)) return false;
  request.weights = Weights::Nf4;
  if (!is_half(request.precision)) request.precision = Precision::Bf16;
  return true;
}

bool recompute_fully(Request& request) { return recompute(request, "full"); }
bool shard_all(Request& request) { return shard(request, Parallel::Fsdp); }

constexpr Change kSingle[] = {
    [](Request& request) {
      request.largest_batch = true;
      request.batch.reset();
      request.global_batch.reset();
      request.strategy.micro_batch.reset();
      return true;
    },
    [](Request& request) { return recompute(request, "selective"); },
    recompute_fully,
    [](Request& request) { return shard(request, Parallel::Zero1); },
    [](Request& request) { return shard(request, Parallel::Zero2); },
    shard_all,
    offload_states,
    [](Request& request) { return offload(request, "activations"); },
    halve_weights,
    shrink_states,
    adapt,
    [](Request& request) { return halve_weights(request) && adapt(request); },
    adapt_quantised,
};

bool sixteen_and_eight(Request& request) {
  return halve_weights(request) && shrink_states(request);
}

// Of changes that are made together; each must apply.
using Changes = std::vector<Change>;

// For jobs that nothing alone makes fit; in several passes where need be.
std::vector<Changes> changes_together() {
  return {{recompute_fully},
          {recompute_fully, shard_all},
          {offload_states, recompute_fully},
          {offload_states, recompute_fully, shard_all},
          {halve_weights, recompute_fully},
          {sixteen_and_eight},
          {sixteen_and_eight, recompute_fully},
          {adapt_quantised},
          {adapt_quantised, recompute_fully}};
}

// The numbers below `whole` that divide it, in order.
std::vector<std::int64_t> parts_of(std::int64_t whole) {
  std::vector<std::int64_t> parts;
  for (std::int64_t small = 1; small * small <= whole; ++small) {
    if (whole % small != 0) continue;
    parts.push_back(small);
    if (whole / small != small) parts.push_back(whole / small);
  }
  std::sort(parts.begin(), parts.end());
  parts.pop_back();  // itself
  return parts;
}

// What another does with fewer changes, as fast and in as little memory, is left out: offload where
// the optimizer has no states.
void drop_needless(std::vector<Remedy>& remedies) {
  const auto does_better = [](const Remedy& fewer, const Remedy& more) {
    return fewer.request != more.request && fewer.samples_per_s >= more.samples_per_s &&
           fewer.peak_bytes <= more.peak_bytes && is_part_of(fewer.request, more.request);
  };
  std::vector<Remedy> kept;
  for (const Remedy& remedy : remedies) {
    const bool needless = std::any_of(remedies.begin(), remedies.end(), [&](const Remedy& other) {
      return does_better(other, remedy);
    });
    if (!needless) kept.push_back(remedy);
  }
  remedies = std::move(kept);
}

class Advice {
 public:
  Advice(const Request& request, Report& report, const Predict& predict, std::size_t nodes)
      : request_(request),
        report_(report),
        predict_(predict),
        nodes_(nodes),
        most_trials_(kMostNodes / std::max<std::size_t>(1, nodes)) {}

  std::vector<Remedy> run(const Library& library) {
    for (const Change change : kSingle) try_all({change});
    split_batch(request_);
    if (found_.empty()) {
      for (const Changes& together : changes_together()) try_together(together);
    }
    try_devices(library.catalog);
    if (cut_) {
      report_.warnings.push_back("only " + std::to_string(tried_) +
                                 " changes that may make it fit were tried: its step has " +
                                 std::to_string(nodes_) + " operators");
    }
    drop_needless(found_);
    std::stable_sort(found_.begin(), found_.end(), [](const Remedy& a, const Remedy& b) {
      return a.samples_per_s > b.samples_per_s;
    });
    return std::move(found_);
  }

 private:
  std::optional<Report> predicted(const Request& request) {
    cut_ = cut_ || tried_ >= most_trials_;
    if (cut_) return std::nullopt;
    ++tried_;
    try {
      Report report = predict_(request);
      if (report.memory.fits) return report;
    } catch (const Error&) {  // refused: not an option
    }
    return std::nullopt;
  }

  // Whether the request fits, which is then listed.
  bool try_request(Request request) {
    const std::optional<Report> report = predicted(request);
    if (!report) return false;
    if (request.largest_batch) {
      request.largest_batch = false;
      request.batch = report->job.batch;
    }
    found_.push_back({change_options(request_, request), changes_json(request_, request),
                      report->step_time_s.value, report->samples_per_s, report->memory.peak,
                      report->memory.capacity});
    return true;
  }

  void try_all(const Changes& changes) {
    if (std::optional<Request> request = changed(changes)) try_request(std::move(*request));
  }

  // As it is, or else in several passes.
  void try_together(const Changes& changes) {
    const std::optional<Request> request = changed(changes);
    if (request && !try_request(*request)) split_batch(*request);
  }

  // The request with all of them; nothing where one does not apply.
  std::optional<Request> changed(const Changes& changes) const {
    Request request = request_;
    for (const Change change : changes) {
      if (!change(request)) return std::nullopt;
    }
    return request;
  }

  // The same batch in several passes: the largest micro-batch that divides it and fits. One that is
  // larger never fits where a smaller one does not.
  void split_batch(const Request& base) {
    if (base.mode != Mode::Train || base.largest_batch) return;
    const std::vector<std::int64_t> parts =
        parts_of(base.strategy.micro_batch.value_or(report_.job.batch));
    std::size_t fitting = 0;  // of the smallest ones
    for (std::size_t end = parts.size(); fitting < end;) {
      // The smallest first: mostly not even that fits.
      const std::size_t middle = fitting == 0 ? 0 : fitting + (end - fitting) / 2;
      Request request = base;
      request.strategy.micro_batch = parts[middle];
      if (predicted(request)) {
        fitting = middle + 1;
      } else {
        end = middle;
      }
    }
    if (fitting == 0) return;
    Request request = base;
    request.strategy.micro_batch = parts[fitting - 1];
    try_request(std::move(request));
  }

  // Those of the same vendor with more memory, the smallest first.
  void try_devices(const hw::Catalog& catalog) {
    if (!request_.device || request_.device->json || request_.cluster || request_.cloud) return;
    const hw::Device now = hw::find_device(catalog, request_.device->text, nullptr);
    std::vector<const hw::Device*> larger;
    for (const hw::DeviceEntry& entry : catalog.devices) {
      if (hw::is_cpu(entry.device) || entry.device.vendor != now.vendor) continue;
      const bool enough = hw::usable_memory_bytes(entry.device) > report_.memory.capacity;
      if (enough) larger.push_back(&entry.device);
    }
    std::stable_sort(larger.begin(), larger.end(), [](const hw::Device* a, const hw::Device* b) {
      return hw::usable_memory_bytes(*a) < hw::usable_memory_bytes(*b);
    });
    const double needed = report_.memory.allocated + report_.memory.framework;
    std::size_t named = 0;
    std::size_t trials = 0;
    for (const hw::Device* device : larger) {
      if (hw::usable_memory_bytes(*device) < needed) continue;
      if (named == kMostDevices || trials++ == kMostDeviceTrials) return;
      Request request = request_;
      request.device = Described{device->name, false};
      if (try_request(std::move(request))) ++named;
    }
  }

  const Request& request_;
  Report& report_;
  const Predict& predict_;
  std::size_t nodes_;
  std::size_t most_trials_;
  std::size_t tried_ = 0;  // predictions
  bool cut_ = false;       // whether there would have been more
  std::vector<Remedy> found_;
};

}  // namespace

Report advise(Report report, const Request& request, const Library& library, const Predict& predict,
              std::size_t nodes) {
  if (!report.memory.fits) report.would_fit = Advice(request, report, predict, nodes).run(library);
  return report;
}

Report predict_and_advise(const Request& request, const Library& library) {
  const Resolved resolved = resolve_job(request, library);
  const Question question(resolved, library);
  return advise(
      predict(question), request, library,
      [&](const Request& one) { return predict(one, library); },
      operators::stages_of(question).step->graph.nodes.size());
}

}  // namespace foretrain
