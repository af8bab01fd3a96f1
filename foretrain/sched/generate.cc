// SPDX-License-Identifier: Apache-2.0
#include "foretrain/sched/generate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/sched/detail/random.h"
#include "foretrain/sched/job_trace_row.h"
#include "foretrain/sched/nodes.h"

namespace foretrain::sched {
namespace {

constexpr std::string_view kPrefix = "generate:";
constexpr Seconds kLongestJob{60.0 * 86400};

struct Size {
  int devices;
  double share;
};
constexpr std::array kSizes = {Size{1, 0.70}, Size{2, 0.08},  Size{4, 0.10},
                               Size{8, 0.08}, Size{16, 0.03}, Size{32, 0.01}};

struct Model {
  const char* request;  // without its end
  double steps_per_s;   // assumed, so that a job lasts about as long as was drawn
};
constexpr std::array kModels = {
    Model{R"({"model": "resnet50", "batch": 64, "steps": )", 5},
    Model{R"({"model": "vgg16", "batch": 32, "steps": )", 4},
    Model{R"({"model": "mobilenet_v2", "batch": 64, "steps": )", 8},
    Model{R"({"model": "bert-base:seq=128", "batch": 16, "steps": )", 6},
    Model{R"({"model": "gpt2", "batch": 2, "steps": )", 4},
};

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::BadInput, "generate: " + what);
}

double in_range(double value, double least, double most, std::string_view name) {
  if (value >= least && value <= most) return value;
  refuse("'" + std::string(name) + "' is out of range");
}

void set(Workload& workload, const std::string& name, double value) {
  if (name == "jobs") {
    workload.jobs = static_cast<std::int64_t>(in_range(value, 1, 1e9, name));
  } else if (name == "seed") {
    workload.seed = static_cast<std::uint64_t>(in_range(value, 0, 1e15, name));
  } else if (name == "load") {
    workload.load = in_range(value, 1e-6, 1e6, name);
  } else if (name == "median_s") {
    workload.median = Seconds{in_range(value, 1e-3, 1e9, name)};
  } else if (name == "sigma") {
    workload.sigma = in_range(value, 0, 10, name);
  } else if (name == "users") {
    workload.users = static_cast<int>(in_range(value, 1, 1e6, name));
  } else if (name == "models") {
    workload.models = in_range(value, 0, 1, name) != 0;
  } else {
    refuse("nothing is called '" + printable(name) +
           "'; it must be one of jobs, seed, load, median_s, sigma, users, models");
  }
}

class Generator {
 public:
  Generator(const Workload& workload, const hw::Cluster& cluster)
      : workload_(workload), random_(workload.seed) {
    const Nodes nodes(cluster);
    int devices = 0;
    for (int pool = 0; pool < nodes.pools(); ++pool) {
      largest_ = std::max(largest_, nodes.devices(pool));
      devices += nodes.devices(pool);
    }
    double mean_devices = 0;
    for (const Size& size : kSizes) mean_devices += size.share * std::min(size.devices, largest_);
    const double mean_s = workload.median.count() * std::exp(workload.sigma * workload.sigma / 2);
    interval_ = Seconds{mean_devices * mean_s / (workload.load * devices)};
  }

  bool next(Job& job) {
    if (made_ == workload_.jobs) return false;
    job = Job{};
    job.id = made_++;
    job.name = std::to_string(job.id);
    job.submit = clock_;
    clock_ += random_.exponential(interval_);
    job.devices = devices();
    job.user = "u" + std::to_string(random_.next() % static_cast<unsigned>(workload_.users));
    const double stretch = std::exp(workload_.sigma * random_.normal());
    const Seconds duration = std::min(workload_.median * stretch, kLongestJob);
    if (!workload_.models) {
      job.duration = duration;
      return true;
    }
    const Model& model = kModels[random_.next() % kModels.size()];
    // Lengths in steps of 10 %, so that few questions are asked twice in other words.
    const double steps = std::pow(1.1, std::round(std::log(duration.count()) / std::log(1.1)));
    job.request = model.request + std::to_string(std::llround(1 + steps * model.steps_per_s)) + "}";
    return true;
  }

 private:
  int devices() {
    double place = random_.uniform();
    for (const Size& size : kSizes) {
      if (place < size.share) return std::min(size.devices, largest_);
      place -= size.share;
    }
    return 1;
  }

  Workload workload_;
  Random random_;
  int largest_ = 1;
  Seconds interval_{1};
  Seconds clock_{0};
  std::int64_t made_ = 0;
};

}  // namespace

bool names_workload(std::string_view text) {
  return text.starts_with(kPrefix) || text == kPrefix.substr(0, kPrefix.size() - 1);
}

Workload parse_workload(std::string_view text) {
  Workload workload;
  text.remove_prefix(std::min(text.size(), kPrefix.size()));
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      refuse("write name=value, not '" + printable(part) + "'");
    }
    const std::string name(part.substr(0, equals));
    set(workload, name, parse_number(part.substr(equals + 1), "generate", name));
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return workload;
}

JobSource generate(const Workload& workload, const hw::Cluster& cluster) {
  return
      [generator = Generator(workload, cluster)](Job& job) mutable { return generator.next(job); };
}

}  // namespace foretrain::sched
