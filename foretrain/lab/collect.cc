// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/collect.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <map>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/median.h"
#include "foretrain/lab/interrupt.h"
#include "foretrain/lab/isolate.h"
#include "foretrain/lab/machine.h"
#include "foretrain/lab/measure.h"

namespace foretrain::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds kQuietPatience{30};  // for others to stop, before each run
constexpr Seconds kLook{0.5};
constexpr std::size_t kRunsPerProcess = 50;  // then workers are started anew: memory drifts

std::string moment() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

int most_hosts(const Campaign& campaign) {
  int most = 1;
  for (const Setting& one : campaign.settings) most = std::max(most, one.workers + one.servers);
  return most;
}

class Collector {
 public:
  Collector(const Campaign& campaign, store::Store& store, const CollectOptions& options,
            Hosts& hosts)
      : campaign_(campaign),
        store_(store),
        options_(options),
        workers_(hosts, options.workers),
        bench_{hosts, workers_, options.workers, memory_bytes_per_s()},
        machine_(describe_machine()) {}

  Summary run() {
    try {
      measure_all();
    } catch (const Error&) {
      if (!interrupted()) throw;
    }
    return summary_;
  }

 private:
  void measure_all() {
    summary_.total = campaign_.tasks.size();
    build_models();
    remember();
    std::vector<Task> left;
    for (const Task& task : campaign_.tasks) {
      const bool there = store_.has(campaign_.name, configuration(task).text, task.repeat);
      if (!there) left.push_back(task);
    }
    summary_.found = campaign_.tasks.size() - left.size();
    left.resize(std::min(left.size(), options_.most));
    todo_ = left.size();
    if (!left.empty()) introduce();
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (i % kRunsPerProcess == kRunsPerProcess - 1) workers_.end();
      if (!attempt(left[i])) ++summary_.missing;
    }
  }

  bool interrupted() const {
    const Interrupt* interrupt = options_.workers.interrupt;
    return interrupt != nullptr && interrupt->raised();
  }
  void check_interrupt() const {
    if (interrupted()) throw Error(ErrorKind::Io, "interrupted");
  }

  const Configuration& configuration(const Task& task) const {
    return campaign_.configurations[static_cast<std::size_t>(task.configuration)];
  }

  void build_models() {
    for (const Configuration& one : campaign_.configurations) {
      check_interrupt();
      graph_line(bench_, one.model);
    }
  }

  // Medians of earlier runs, to tell outliers by.
  void remember() {
    for (const store::Run& run : store_.runs({.campaign = campaign_.name, .status = "ok"})) {
      if (run.step_median_s) medians_[run.configuration].push_back(*run.step_median_s);
    }
  }

  void introduce() {
    workers_.ensure(1);
    machine_.pytorch = workers_.pytorch();
    for (const store::Machine& known : store_.machines()) {
      if (known.id == machine_.id) keep_bandwidth(known.details);
    }
    machine_.details =
        "{\"memory_bytes_per_s\":" + std::to_string(std::llround(bench_.memory_bytes_per_s)) + "}";
    store_.put_machine(machine_);
    std::string created = moment();
    for (const store::Campaign& known : store_.campaigns()) {
      if (known.name == campaign_.name) created = known.created;
    }
    store_.put_campaign({campaign_.name, created, campaign_.definition});
    for (const std::string& note : workers_.notes()) {
      if (options_.on_note) options_.on_note(note);
    }
    began_ = Clock::now();
  }

  // Of an earlier start: all runs of a machine are divided by one number.
  void keep_bandwidth(const std::string& details) {
    const Json known =
        details.empty() ? Json::object() : parse_json(details, "the machine's details");
    bench_.memory_bytes_per_s = known.value("memory_bytes_per_s", bench_.memory_bytes_per_s);
  }

  // Whether the measurement is in the store at the end.
  bool attempt(const Task& task) {
    const Configuration& one = configuration(task);
    for (int number = 1; number <= campaign_.attempts; ++number) {
      const bool last = number == campaign_.attempts;
      const store::RunRecord record = run_once(task, last);
      store_.append_run(record);
      const bool good = record.run.status == "ok";
      if (good) {
        ++summary_.measured;
        if (record.run.step_median_s) medians_[one.text].push_back(*record.run.step_median_s);
      }
      if (good || last) ++tried_;
      report(one, record.run);
      if (good) return true;
    }
    return false;
  }

  // For others to stop; checks for an interruption.
  void wait_for_quiet() const {
    const Clock::time_point start = Clock::now();
    do {
      check_interrupt();
      const ForeignLoad load;
      std::this_thread::sleep_for(kLook);
      if (load.cores() <= campaign_.most_foreign_cores) return;
    } while (Seconds(Clock::now() - start) < kQuietPatience);
  }

  store::RunRecord run_once(const Task& task, bool last) {
    const Configuration& one = configuration(task);
    wait_for_quiet();
    store::RunRecord record;
    const std::string started = moment();
    const double before = calibrate(bench_.hosts.free_cgroups()).count();
    const ForeignLoad others;
    std::string failure;
    try {
      record = measure(campaign_, one, bench_);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Unsupported || interrupted()) throw;
      workers_.end();
      failure = error.what();
    }
    store::Run& run = record.run;
    run.foreign_load = others.cores();
    run.calibration_before_s = before;
    run.calibration_after_s = calibrate(bench_.hosts.free_cgroups()).count();
    run.campaign = campaign_.name;
    run.machine = machine_.id;
    run.configuration = one.text;
    run.setting = campaign_.settings[static_cast<std::size_t>(one.setting)].name;
    run.split = one.split;
    run.repeat = task.repeat;
    run.started = started;
    judge(failure, last, run);
    return record;
  }

  void judge(const std::string& failure, bool last, store::Run& run) const {
    if (!failure.empty()) {
      run.status = "failed";
      run.message = failure;
      return;
    }
    if (*run.foreign_load > campaign_.most_foreign_cores) {
      run.status = "foreign_load";
      run.message = "others used the machine";
      return;
    }
    const auto known = medians_.find(run.configuration);
    if (known == medians_.end()) return;
    const double ratio = *run.step_median_s / median(known->second);
    if (std::abs(ratio - 1) <= campaign_.outlier) return;
    run.message = "steps take " + std::to_string(ratio) + " times as long as in other repeats";
    if (!last) run.status = "outlier";
  }

  void report(const Configuration& one, const store::Run& run) const {
    if (!options_.on_event) return;
    Event event;
    event.done = summary_.found + summary_.measured;
    event.total = summary_.total;
    event.configuration = &one;
    event.setting = &campaign_.settings[static_cast<std::size_t>(one.setting)];
    event.run = &run;
    if (tried_ > 0) {
      const double each = Seconds(Clock::now() - began_).count() / static_cast<double>(tried_);
      event.left = Seconds(each * static_cast<double>(todo_ - tried_));
    }
    options_.on_event(event);
  }

  const Campaign& campaign_;
  store::Store& store_;
  const CollectOptions& options_;
  Workers workers_;
  Bench bench_;
  store::Machine machine_;
  std::map<std::string, std::vector<double>> medians_;
  Summary summary_;
  std::size_t todo_ = 0;
  std::size_t tried_ = 0;
  Clock::time_point began_;
};

}  // namespace

Summary collect(const Campaign& campaign, store::Store& store, const CollectOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // a worker that ends is an error of ours, not our end
  const Lock lock;
  sweep_cgroups();
  if (!campaign.hosts.empty()) {
    Hosts hosts(campaign.hosts);
    return Collector(campaign, store, options, hosts).run();
  }
  Hosts hosts(most_hosts(campaign), options.isolated);
  return Collector(campaign, store, options, hosts).run();
}

}  // namespace foretrain::lab
