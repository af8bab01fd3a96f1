// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/sampler.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/profile/detail/nvml.h"
#include "foretrain/profile/detail/processes.h"
#include "foretrain/profile/detail/windows.h"

namespace foretrain::profile {
namespace {

constexpr Seconds kLeastInterval{0.001};
constexpr Seconds kMostInterval{10};
constexpr Seconds kFindProcesses{0.05};
constexpr Seconds kPollGpus{0.1};
constexpr int kPriority = 10;            // above the least: what is sampled may be real-time itself
constexpr Seconds kAfterWakers{150e-6};  // the reader comes when the wakers have been

Seconds clock_now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return Seconds{static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)};
}

Seconds steady_now() { return clock_now(CLOCK_MONOTONIC); }

void sleep_until(Seconds moment) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(moment.count());
  time.tv_nsec = static_cast<long>(1e9 * (moment.count() - static_cast<double>(time.tv_sec)));
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

bool become_realtime(int above_least) {
  sched_param parameter{};
  parameter.sched_priority = sched_get_priority_min(SCHED_FIFO) + above_least;
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == 0;
}

bool move_to_cpu(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  return pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus) == 0;
}

// CPUs that a process may use.
double cpus_of(const Subject& subject) {
  cpu_set_t cpus;
  const int process = subject.processes.empty() ? 0 : subject.processes.front();
  if (sched_getaffinity(process, sizeof cpus, &cpus) == 0) return CPU_COUNT(&cpus);
  return static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
}

// CPUs that can run it at once; of a cgroup without known processes any.
double most_cpus_of(const Subject& subject) {
  if (!subject.processes.empty()) return cpus_of(subject);
  return static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
}

// Everything read of one subject.
struct Watched {
  Watched(Subject of, const SamplerOptions& options)
      : subject(std::move(of)), most_cpus(most_cpus_of(subject)), processes(subject, options) {}

  void take(double refreshed_s, double now_s) {
    counters.push_back(processes.read());
    cpu_time_s.push_back(refreshed_s);
    other_time_s.push_back(now_s);
  }

  Subject subject;
  double most_cpus;
  Processes processes;
  std::vector<double> cpu_time_s;    // when the CPU clocks were refreshed
  std::vector<double> other_time_s;  // when the rest was read
  std::vector<Counters> counters;
};

Readings readings_of(const Watched& watched, const std::vector<double>& time_s,
                     double Counters::*field, double factor) {
  Readings readings{.time_s = time_s};
  for (const Counters& counters : watched.counters) {
    readings.value.push_back(counters.*field * factor);
  }
  return readings;
}

// CPU time in percent of what the subject may use.
void add_cpu(const Watched& watched, std::size_t count, Recording& recording) {
  const double percent = 100 / watched.subject.cores;
  const Readings readings =
      caught_up(readings_of(watched, watched.cpu_time_s, &Counters::cpu_s, percent),
                watched.most_cpus * percent);
  recording.columns.push_back({"gpu_util", "%", rates(readings, recording.window, count), 100.0});
}

void add_column(const Watched& watched, double Counters::*field, RecordingColumn column,
                bool is_level, std::size_t count, Recording& recording) {
  const Readings readings = readings_of(watched, watched.other_time_s, field, 1);
  column.samples = is_level ? levels(readings, recording.window, count)
                            : rates(readings, recording.window, count);
  recording.columns.push_back(std::move(column));
}

}  // namespace

class Sampler::Engine {
 public:
  Engine(std::vector<Subject> subjects, SamplerOptions options) : options_(std::move(options)) {
    if (options_.interval < kLeastInterval || options_.interval > kMostInterval) {
      throw Error(ErrorKind::BadInput, "the interval must lie between 1 ms and 10 s");
    }
    for (Subject& subject : subjects) {
      if (subject.cores <= 0) subject.cores = cpus_of(subject);
      watched_.emplace_back(std::move(subject), options_);
    }
    if (options_.gpu) nvml_ = Nvml::open(options_.nvml_library, options_.gpu_index);
    if (!nvml_ && options_.gpu_index >= 0) {
      throw Error(ErrorKind::NotFound, "no GPU is seen here; leave out its index");
    }
  }

  ~Engine() { finish(); }

  void start() {
    finish();
    start_ = steady_now();
    for (Watched& watched : watched_) watched.take(0, 0);
    stop_ = false;
    const int cpus = options_.realtime ? static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) : 0;
    wake_s_ = std::vector<std::atomic<double>>(static_cast<std::size_t>(cpus));
    for (int cpu = 0; cpu < cpus; ++cpu) {
      threads_.emplace_back([this, cpu] { wake(cpu); });
    }
    threads_.emplace_back([this] { watch(); });
    if (nvml_) threads_.emplace_back([this] { watch_gpus(); });
  }

  std::vector<Recording> stop() {
    finish();
    std::vector<Recording> recordings;
    for (const Watched& watched : watched_) recordings.push_back(recording_of(watched));
    return recordings;
  }

  bool alive() const { return alive_; }
  Seconds cpu_time() const { return Seconds{cpu_s_}; }

 private:
  void finish() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  Seconds tick(std::size_t i) const { return start_ + static_cast<double>(i) * options_.interval; }

  // Calls `work` at every tick; ticks that are over already are skipped.
  template <typename Work>
  void at_every_tick(Seconds offset, const Work& work) {
    for (std::size_t i = 1; !stop_; ++i) {
      sleep_until(tick(i) + offset);
      work();
      const double passed = std::floor((steady_now() - start_) / options_.interval);
      i = std::max(i, static_cast<std::size_t>(std::max(0.0, passed)));
    }
    work();
    const double cpu_s = clock_now(CLOCK_THREAD_CPUTIME_ID).count();
    cpu_s_ += cpu_s;
  }

  // Interrupts what runs on a CPU, so that its clock is brought up to date.
  void wake(int cpu) {
    std::atomic<double>& woken_s = wake_s_[static_cast<std::size_t>(cpu)];
    if (!move_to_cpu(cpu) || !become_realtime(kPriority + 1)) return;
    at_every_tick(Seconds{0}, [&] { woken_s = (steady_now() - start_).count(); });
  }

  void watch() {
    const bool realtime = options_.realtime && become_realtime(kPriority);
    is_realtime_ = realtime;
    Seconds find_next{0};
    at_every_tick(realtime ? kAfterWakers : Seconds{0}, [&] {
      const Seconds now = steady_now() - start_;
      const bool find = now >= find_next;
      if (find) find_next = now + kFindProcesses;
      const double refreshed_s = realtime ? mean_wake_s(now.count()) : now.count();
      for (Watched& watched : watched_) {
        if (find) watched.processes.find();
        watched.take(refreshed_s, (steady_now() - start_).count());
      }
      alive_ = std::any_of(watched_.begin(), watched_.end(),
                           [](const Watched& watched) { return watched.processes.alive(); });
    });
  }

  // NVML's calls may take long, so they have a thread of their own, which is not real-time.
  void watch_gpus() {
    real_start_ = clock_now(CLOCK_REALTIME) - (steady_now() - start_);
    while (!stop_) {
      nvml_->poll(clock_now(CLOCK_REALTIME));
      sleep_until(steady_now() + kPollGpus);
    }
    nvml_->poll(clock_now(CLOCK_REALTIME));
    cpu_s_ += clock_now(CLOCK_THREAD_CPUTIME_ID).count();
  }

  // Puts the busiest GPU's columns in front; what was the device becomes the host.
  void add_gpu(std::size_t count, Recording& recording) const {
    const GpuReadings* gpu = busiest_gpu(nvml_->readings());
    if (gpu == nullptr || gpu->util.time_s.empty()) {
      recording.notes.emplace_back("a GPU is there but NVML gave no samples of its utilisation");
      return;
    }
    for (RecordingColumn& column : recording.columns) {
      if (column.name == "gpu_util") column.name = "cpu_util";
      if (column.name == "memory_used") column.name = "host_memory_used";
    }
    std::vector<RecordingColumn> columns;
    const auto add = [&](Readings readings, RecordingColumn column, bool is_level) {
      if (readings.time_s.empty()) return;
      for (double& time_s : readings.time_s) time_s -= real_start_.count();
      column.samples = is_level ? levels(readings, recording.window, count)
                                : rates(readings, recording.window, count);
      columns.push_back(std::move(column));
    };
    add(gpu->util, {"gpu_util", "%", {}, 100.0, gpu->refresh}, false);
    add(gpu->memory_util, {"gpu_memory_util", "%", {}, 100.0, gpu->refresh}, false);
    add(gpu->used_bytes, {"memory_used", "B", {}, gpu->total_bytes}, true);
    add(gpu->power, {"power", "W"}, false);
    recording.columns.insert(recording.columns.begin(), columns.begin(), columns.end());
  }

  // When the clocks were refreshed, on average over the CPUs; `now` where nobody did.
  double mean_wake_s(double now) const {
    double sum = 0;
    double count = 0;
    for (const std::atomic<double>& woken_s : wake_s_) {
      if (now - woken_s > options_.interval.count()) continue;
      sum += woken_s;
      ++count;
    }
    return count > 0 ? sum / count : now;
  }

  Recording recording_of(const Watched& watched) const {
    Recording recording{.name = watched.subject.name, .start = start_, .window = options_.interval};
    const double end = watched.cpu_time_s.empty() ? 0 : watched.cpu_time_s.back();
    const auto count = static_cast<std::size_t>(end / options_.interval.count());
    add_cpu(watched, count, recording);
    add_column(watched, &Counters::memory_bytes, {"memory_used", "B"}, true, count, recording);
    std::optional<double> link;
    if (watched.subject.net_bytes_per_s > 0) link = watched.subject.net_bytes_per_s;
    if (watched.processes.sees_network()) {
      add_column(watched, &Counters::tx_bytes, {"net_tx", "B/s", {}, link}, false, count,
                 recording);
      add_column(watched, &Counters::rx_bytes, {"net_rx", "B/s", {}, link}, false, count,
                 recording);
    } else {
      recording.notes.emplace_back("no network interface could be read");
    }
    if (watched.processes.sees_disk()) {
      add_column(watched, &Counters::read_bytes, {"disk_read", "B/s"}, false, count, recording);
      add_column(watched, &Counters::written_bytes, {"disk_write", "B/s"}, false, count, recording);
    } else {
      recording.notes.emplace_back("disk use could not be read");
    }
    if (nvml_) add_gpu(count, recording);
    if (!is_realtime_) {
      recording.notes.emplace_back(
          "sampled without real-time priority: samples of the CPU's use are noisier");
    }
    return recording;
  }

  SamplerOptions options_;
  std::deque<Watched> watched_;
  std::unique_ptr<Nvml> nvml_;  // null where there is no GPU
  Seconds start_{0};
  Seconds real_start_{0};  // the same moment on CLOCK_REALTIME, which NVML uses
  std::atomic<bool> stop_ = true;
  std::atomic<bool> is_realtime_ = false;
  std::atomic<bool> alive_ = true;
  std::vector<std::atomic<double>> wake_s_;
  std::vector<std::thread> threads_;
  std::atomic<double> cpu_s_ = 0;
};

Sampler::Sampler(std::vector<Subject> subjects, SamplerOptions options)
    : engine_(std::make_unique<Engine>(std::move(subjects), std::move(options))) {}
Sampler::~Sampler() = default;
void Sampler::start() { engine_->start(); }
std::vector<Recording> Sampler::stop() { return engine_->stop(); }
bool Sampler::alive() const { return engine_->alive(); }
Seconds Sampler::cpu_time() const { return engine_->cpu_time(); }

}  // namespace foretrain::profile
