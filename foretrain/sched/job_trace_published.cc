// SPDX-License-Identifier: Apache-2.0
// Traces of published schedulers and clusters, read as they are.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/near.h"
#include "foretrain/sched/job_trace_row.h"

namespace foretrain::sched {
namespace {

// "2017-10-09 07:01:55" in seconds from 1970.
Seconds parse_date(const JobTraceRow& row, const std::string& column) {
  const std::string& text = row.text(column);
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  int end = 0;
  const int read = std::sscanf(text.c_str(), "%4d-%2u-%2u %2u:%2u:%2u%n", &year, &month, &day,
                               &hour, &minute, &second, &end);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                         std::chrono::day{day}};
  if (read != 6 || static_cast<std::size_t>(end) != text.size() || !date.ok() || hour > 23 ||
      minute > 59 || second > 60) {
    throw Error(ErrorKind::BadInput, row.where() + ": '" + column +
                                         "' must be like 2017-10-09 07:01:55, not '" +
                                         printable(text) + "'");
  }
  const Seconds days = std::chrono::sys_days{date}.time_since_epoch();
  return days + Seconds{3600.0 * hour + 60.0 * minute + second};
}

// What the zoo calls a model of these traces; empty where it has none.
std::string_view model_named(std::string_view name) {
  struct Name {
    std::string_view theirs;
    std::string_view ours;
  };
  static constexpr std::array kNames = {
      Name{"alexnet", "alexnet"},
      Name{"bert", "bert-base:seq=128"},
      Name{"googlenet", "googlenet"},
      Name{"gpt2", "gpt2"},
      Name{"inception3", "inception_v3"},
      Name{"inception4", "inception_v4"},
      Name{"resnet101", "resnet101"},
      Name{"resnet152", "resnet152"},
      Name{"resnet18", "resnet18"},
      Name{"resnet50", "resnet50"},
      Name{"shufflenet_v2_x1_0", "shufflenet_v2_x1_0"},
      Name{"vgg11", "vgg11"},
      Name{"vgg16", "vgg16"},
      Name{"vgg19", "vgg19"},
  };
  for (const Name& name_pair : kNames) {
    if (name_pair.theirs == name) return name_pair.ours;
  }
  return {};
}

std::string plain(double number) { return format("%.17g", number); }

}  // namespace

std::optional<std::string> read_philly_job(const JobTraceRow& row, Job& job) {
  job.submit = parse_date(row, "timestamp");
  job.duration = row.time("duration");
  job.devices = row.devices("num_gpus");
  job.user = row.text("cluster");
  return std::nullopt;
}

// A pod of the Alibaba 2023 GPU cluster; it runs from scheduled_time to deletion_time.
std::optional<std::string> read_alibaba_job(const JobTraceRow& row, Job& job) {
  if (row.number("num_gpu") == 0) return "asks for no GPU";
  if (!row.has("scheduled_time")) return "was never scheduled, so its duration is not known";
  job.name = row.text("name");
  job.submit = row.time("creation_time");
  const Seconds duration = row.time("deletion_time") - row.time("scheduled_time");
  if (duration < Seconds{0}) {
    throw Error(ErrorKind::BadInput, row.where() + ": was deleted before it was scheduled");
  }
  job.duration = duration;
  job.devices = row.devices("num_gpu");
  job.device = row.text("gpu_spec");
  job.user = row.text("qos");
  return std::nullopt;
}

std::optional<std::string> read_tiresias_job(const JobTraceRow& row, Job& job) {
  job.name = row.text("job_id");
  job.submit = row.time("submit_time");
  job.duration = row.time("duration");
  job.devices = row.devices("num_gpu");
  return std::nullopt;
}

// Milliseconds. A step first loads its batch, which takes resource_time_0.
std::optional<std::string> read_muri_job(const JobTraceRow& row, Job& job) {
  read_tiresias_job(row, job);
  job.submit = Seconds{std::floor(job.submit.count() / 1000)};
  job.duration = Seconds{std::floor(job.duration->count() / 1000)};
  job.priority = row.maybe("priority").value_or(0);
  const std::string_view model = model_named(row.text("model_name"));
  if (model.empty()) return std::nullopt;
  const double batch = row.number("batch_size");
  const double load = row.number("resource_time_0") / 1000;
  job.request = "{\"model\": \"" + std::string(model) + "\", \"batch\": " + plain(batch) +
                ", \"steps\": " + plain(row.number("iterations"));
  if (load > 0 && batch > 0) job.request += ", \"input_rate\": " + plain(batch / load);
  job.request += "}";
  return std::nullopt;
}

// The batch is that of all replicas, here divided among them and rounded. Epochs are those of
// common recipes for each data set.
std::optional<std::string> read_pollux_job(const JobTraceRow& row, Job& job) {
  struct Application {
    std::string_view name;
    std::string_view request;
  };
  static constexpr std::array kApplications = {
      Application{"bert", R"("model": "bert-base:seq=384", "samples": 88524, "epochs": 2)"},
      Application{"cifar10", R"("model": "resnet18-cifar", "dataset": "cifar10", "epochs": 90)"},
      Application{"deepspeech2", R"("model": "deepspeech2", "samples": 48000, "epochs": 80)"},
      Application{
          "imagenet",
          R"("model": "resnet50", "dataset": "imagenet", "epochs": 90, "precision": "fp16")"},
      Application{"ncf", R"("model": "neumf", "samples": 4970845, "epochs": 10)"},
      Application{
          "yolov3",
          R"("model": "yolov3:image=448", "samples": 16551, "epochs": 50, "precision": "fp16")"},
  };
  job.name = row.text("name");
  job.submit = row.time("time");
  job.devices = row.devices("num_replicas");
  for (const Application& known : kApplications) {
    if (known.name != row.text("application")) continue;
    const double batch = std::max(1.0, std::round(row.number("batch_size") / job.devices));
    job.request = "{" + std::string(known.request) +
                  ", \"framework\": \"adaptdl\", \"batch\": " + plain(batch) + "}";
    return std::nullopt;
  }
  throw Error(ErrorKind::BadInput, row.where() + ": application '" +
                                       printable(row.text("application")) + "' is not known");
}

}  // namespace foretrain::sched
