// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/detail/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/median.h"
#include "foretrain/importer/ftg.h"
#include "foretrain/lab/detail/machine.h"
#include "foretrain/lab/detail/metric.h"
#include "foretrain/profile/analyse.h"
#include "foretrain/profile/sampler.h"
#include "foretrain/request/find_model.h"

namespace foretrain::lab {
namespace {

constexpr int kFirstPort = 20'000;
constexpr int kPorts = 40'000;
constexpr Seconds kPatience{300};
constexpr Seconds kWholePatience{3600};
// Threads of workers that move data: PyTorch's and our own.
constexpr const char* kOwnNetworkThreads = "ft_net";

const Setting& setting_of(const Campaign& campaign, const Configuration& configuration) {
  return campaign.settings[static_cast<std::size_t>(configuration.setting)];
}

// The line for each host, workers first.
std::vector<std::string> job_lines(const Campaign& campaign, const Configuration& configuration,
                                   Bench& bench) {
  const Setting& setting = setting_of(campaign, configuration);
  const std::string& graph = graph_line(bench, configuration.model);
  const int number = ++bench.jobs;
  const auto port = [number](int i) { return kFirstPort + (number * 64 + i) % kPorts; };
  Json servers = Json::array();
  for (int s = 0; s < setting.servers; ++s) {
    servers.push_back({bench.hosts[setting.workers + s].address, port(s + 1)});
  }
  Json job{{"kind", "train"},
           {"job", number},
           {"batch", configuration.batch},
           {"optimizer", configuration.optimizer},
           {"strategy", setting.parameter_servers ? "ps" : "ddp"},
           {"workers", setting.workers},
           {"servers", setting.servers},
           {"asynchronous", setting.asynchronous},
           {"server_addresses", servers},
           {"master", bench.hosts[0].address + ":" + std::to_string(port(0))},
           {"seconds", campaign.least_time.count()},
           {"steps", campaign.least_steps},
           {"warm_up", campaign.warm_up},
           {"memory_window_s", campaign.memory_window.count()},
           {"threads", campaign.threads},
           {"seed", 1}};
  if (configuration.whole()) {
    job["whole"] = true;
    job["samples"] = configuration.samples;
    job["epochs"] = configuration.epochs;
  }
  std::vector<std::string> lines;
  for (int host = 0; host < setting.workers + setting.servers; ++host) {
    const bool server = host >= setting.workers;
    job["role"] = server ? "server" : "worker";
    job["rank"] = server ? host - setting.workers : host;
    if (server) job["listen"] = servers[static_cast<std::size_t>(host - setting.workers)];
    std::string line = json_text(job);
    line.pop_back();
    lines.push_back(line + ",\"graph\":" + graph + "}");
  }
  return lines;
}

std::vector<profile::Subject> subjects(const Setting& setting, const Bench& bench) {
  std::vector<profile::Subject> result;
  for (int host = 0; host < setting.workers + setting.servers; ++host) {
    if (!bench.hosts[host].local) return {};
    profile::Subject subject;
    subject.name = bench.hosts[host].name;
    subject.processes = {bench.workers.pid(host)};
    subject.cores = host < setting.workers ? setting.cores : 1;
    subject.net_bytes_per_s = setting.bytes_per_s;
    result.push_back(subject);
  }
  return result;
}

std::vector<double> numbers(const Json& answer, const char* key) {
  const auto found = answer.find(key);
  if (found == answer.end() || !found->is_array()) return {};
  return found->get<std::vector<double>>();
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

// What operators moved, as a share of what a core can move; nothing where that is not known, as of
// remote hosts, whose clocks are others, too.
std::optional<profile::Recording> memory_recording(const Json& answer, double bytes_per_s,
                                                   Seconds window) {
  std::vector<double> samples = numbers(answer, "moved_bytes");
  if (samples.empty() || bytes_per_s <= 0) return std::nullopt;
  for (double& sample : samples) {
    sample = std::min(100.0, 100 * sample / (window.count() * bytes_per_s));
  }
  profile::Recording recording;
  recording.start = Seconds(answer.at("moved_start_s").get<double>());
  recording.window = window;
  recording.columns.push_back({"gpu_memory_util", "%", std::move(samples), 100.0, Seconds{0}});
  return recording;
}

// Which process of a job a recording is of.
struct Process {
  bool server = false;
  int instance = 0;
  bool own_network = false;

  const char* role() const { return server ? "server" : "worker"; }
  bool counts(const std::string& resource) const {
    if (resource.starts_with("disk_") || resource == "power") return false;
    return own_network || !resource.starts_with("net_");
  }
};

// Metrics of every process; of the first of each role the samples are kept, too.
void add_recording(const profile::Recording& recording, const Process& process,
                   store::RunRecord& record) {
  for (const profile::ResourceUse& use : profile::analyse(recording).resources) {
    if (!process.counts(use.name)) continue;
    store::Metric& metric = record.metrics.emplace_back(metric_of(use));
    metric.role = process.role();
    metric.instance = process.instance;
  }
  if (process.instance != 0) return;
  for (const profile::RecordingColumn& column : recording.columns) {
    if (!process.counts(column.name)) continue;
    record.samples.push_back({.role = process.role(),
                              .instance = process.instance,
                              .resource = column.name,
                              .unit = column.unit,
                              .window_s = recording.window.count(),
                              .scale = column.scale,
                              .values = column.samples});
  }
}

// When all workers were taking steps that count.
struct Interval {
  Seconds from{0};
  Seconds to{0};
};

Interval common_steps(const std::vector<Json>& answers, int workers) {
  Interval interval{Seconds{0}, Seconds{1e300}};
  for (int w = 0; w < workers; ++w) {
    const Json& answer = answers[static_cast<std::size_t>(w)];
    interval.from = std::max(interval.from, Seconds(answer.at("start_s").get<double>()));
    interval.to = std::min(interval.to, Seconds(answer.at("end_s").get<double>()));
  }
  return interval;
}

void add_steps(const std::vector<Json>& answers, int workers, store::RunRecord& record) {
  record.step_times_s = numbers(answers[0], "steps_s");
  if (record.step_times_s.empty()) throw Error(ErrorKind::Io, "a worker took no step");
  double exposed = 0;
  double compute = 0;
  double peak = 0;
  for (int w = 0; w < workers; ++w) {
    const Json& answer = answers[static_cast<std::size_t>(w)];
    exposed += median(numbers(answer, "exposed_s")) / workers;
    if (answer.contains("compute_s"))
      compute = std::max(compute, answer["compute_s"].get<double>());
    if (answer["peak_bytes"].is_number()) peak = std::max(peak, answer["peak_bytes"].get<double>());
  }
  store::Run& run = record.run;
  run.steps = static_cast<std::int64_t>(record.step_times_s.size());
  run.step_mean_s = mean(record.step_times_s);
  run.step_median_s = median(record.step_times_s);
  run.step_sd_s = deviation(record.step_times_s);
  run.exposed_sync_s = exposed;
  Json details{{"parameters", answers[0].value("parameters", 0)}};
  if (compute > 0) details["compute_s"] = compute;
  if (peak > 0) details["peak_tensor_bytes"] = peak;
  for (const char* key : {"new_page_bytes", "moved_bytes_per_step"}) {
    if (answers[0].contains(key)) details[key] = answers[0][key];
  }
  run.details = json_text(details);
}

store::RunRecord measure_steps(const Campaign& campaign, const Configuration& configuration,
                               Bench& bench) {
  const Setting& setting = setting_of(campaign, configuration);
  const int hosts = setting.workers + setting.servers;
  bench.workers.ensure(hosts);
  const std::vector<std::string> lines = job_lines(campaign, configuration, bench);
  profile::SamplerOptions options;
  options.interval = campaign.window;
  options.uncounted_threads.push_back(kOwnNetworkThreads);
  const std::vector<profile::Subject> watched = subjects(setting, bench);
  std::optional<profile::Sampler> sampler;
  if (!watched.empty()) sampler.emplace(watched, options);
  if (sampler) sampler->start();
  for (int host = 0; host < hosts; ++host)
    bench.workers.send(host, lines[static_cast<std::size_t>(host)]);
  const Seconds patience = kPatience + 20 * campaign.least_time;
  std::vector<Json> answers;
  for (const std::string& line : bench.workers.receive_all(hosts, patience)) {
    answers.push_back(parse_json(line, "a worker's answer"));
  }
  std::vector<profile::Recording> recordings;
  if (sampler) recordings = sampler->stop();

  store::RunRecord record;
  add_steps(answers, setting.workers, record);
  const Interval steps = common_steps(answers, setting.workers);
  for (std::size_t host = 0; host < answers.size(); ++host) {
    const bool server = static_cast<int>(host) >= setting.workers;
    const int instance = static_cast<int>(host) - (server ? setting.workers : 0);
    const Process process{server, instance, bench.hosts[static_cast<int>(host)].own_network};
    if (host < recordings.size()) {
      add_recording(cut(recordings[host], steps.from, steps.to), process, record);
    }
    const auto memory =
        memory_recording(answers[host], bench.memory_bytes_per_s, campaign.memory_window);
    if (memory) add_recording(cut(*memory, steps.from, steps.to), process, record);
  }
  return record;
}

// Fresh processes, timed from before the first starts until the last has ended.
store::RunRecord measure_whole(const Campaign& campaign, const Configuration& configuration,
                               Bench& bench) {
  const Setting& setting = setting_of(campaign, configuration);
  const std::vector<std::string> lines = job_lines(campaign, configuration, bench);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::vector<std::unique_ptr<Child>> children;
  for (std::size_t host = 0; host < lines.size(); ++host) {
    children.push_back(start_worker(bench.hosts[static_cast<int>(host)], bench.worker_options));
  }
  for (std::size_t host = 0; host < lines.size(); ++host) children[host]->write_line(lines[host]);
  std::vector<Json> answers;
  for (const std::string& line : receive_from(children, kWholePatience)) {
    answers.push_back(parse_json(line, "a worker's answer"));
  }
  for (const std::unique_ptr<Child>& child : children) child->wait();
  store::RunRecord record;
  record.run.wall_s = Seconds(Clock::now() - start).count();
  add_steps(answers, setting.workers, record);
  return record;
}

}  // namespace

const std::string& graph_line(Bench& bench, const std::string& model) {
  const auto found = bench.graphs.find(model);
  if (found != bench.graphs.end()) return found->second;
  std::string text = importer::write_ftg(find_model(model));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return bench.graphs[model] = text;
}

void apply_setting(const Setting& setting, Hosts& hosts) {
  const int cores = core_count();
  for (int host = 0; host < setting.workers + setting.servers; ++host) {
    Allotment allotment;
    allotment.bytes_per_s = setting.bytes_per_s;
    if (host < setting.workers) {
      if (hosts[host].local) allotment.cpus = {host % cores};
      if (setting.cores < 1) allotment.cores = setting.cores;
    } else {
      for (int cpu = 0; cpu < cores; ++cpu) allotment.cpus.push_back(cpu);
    }
    hosts.allot(host, allotment);
  }
}

store::RunRecord measure(const Campaign& campaign, const Configuration& configuration,
                         Bench& bench) {
  apply_setting(setting_of(campaign, configuration), bench.hosts);
  return configuration.whole() ? measure_whole(campaign, configuration, bench)
                               : measure_steps(campaign, configuration, bench);
}

}  // namespace foretrain::lab
