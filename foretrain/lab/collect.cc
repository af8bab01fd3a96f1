// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/collect.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/lab/detail/judge.h"
#include "foretrain/lab/detail/machine.h"
#include "foretrain/lab/detail/measure.h"
#include "foretrain/lab/interrupt.h"
#include "foretrain/lab/isolate.h"
#include "foretrain/lab/plan.h"
#include "foretrain/measured/lab_runs.h"

namespace foretrain::lab {
namespace {

using Clock = std::chrono::steady_clock;

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
        local_(hosts[0].local),
        workers_(hosts, options.workers),
        bench_{hosts, workers_, options.workers, local_ ? memory_bytes_per_s() : 0},
        judge_(campaign.most_foreign_cores, campaign.outlier) {}

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
    summary_.total = campaign_.planned.size();
    build_models();
    std::vector<PlannedRun> left = runs_left();
    left.resize(std::min(left.size(), options_.most));
    todo_ = left.size();
    if (!left.empty()) introduce();
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (i % kRunsPerProcess == kRunsPerProcess - 1) workers_.end();
      if (!attempt(left[i])) ++summary_.missing;
    }
  }

  // Those that are not in the store and can be had here.
  std::vector<PlannedRun> runs_left() {
    const std::vector<SettingPlan> plan = plan_of(campaign_, &store_, bench_.hosts.means());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      summary_.found += plan[i].found;
      if (plan[i].obstacle.empty() || plan[i].found == plan[i].runs) continue;
      summary_.left_out += plan[i].runs - plan[i].found;
      note("the setting '" + campaign_.settings[i].name + "' is left out: " + plan[i].obstacle);
    }
    std::vector<PlannedRun> left;
    for (const PlannedRun& planned : campaign_.planned) {
      const Configuration& one = configuration(planned);
      if (!plan[static_cast<std::size_t>(one.setting)].obstacle.empty()) continue;
      if (!store_.has(campaign_.name, one.text, planned.repeat)) left.push_back(planned);
    }
    return left;
  }

  void note(const std::string& text) const {
    if (options_.on_note) options_.on_note(text);
  }

  bool interrupted() const {
    const Interrupt* interrupt = options_.workers.interrupt;
    return interrupt != nullptr && interrupt->raised();
  }
  void check_interrupt() const {
    if (interrupted()) throw Error(ErrorKind::Io, "interrupted");
  }

  const Configuration& configuration(const PlannedRun& planned) const {
    return campaign_.configurations[static_cast<std::size_t>(planned.configuration)];
  }

  void build_models() {
    for (const std::string& model : models_of(campaign_)) {
      check_interrupt();
      graph_line(bench_, model);
    }
  }

  // Makes the hosts' machines known to the store, and earlier runs of ours to the judge.
  void introduce() {
    const int hosts = local_ ? 1 : bench_.hosts.count();
    workers_.ensure(hosts);
    for (int host = hosts - 1; host >= 0; --host) introduce_machine(host);  // worker 0 comes last
    for (const store::Run& run :
         store_.runs({.campaign = campaign_.name, .machine = machine_.id, .status = "ok"})) {
      judge_.learn(run);
    }
    std::string created = moment();
    for (const store::Campaign& known : store_.campaigns()) {
      if (known.name == campaign_.name) created = known.created;
    }
    store_.put_campaign({campaign_.name, created, campaign_.definition});
    for (const std::string& text : workers_.notes()) note(text);
    began_ = Clock::now();
  }

  void introduce_machine(int host) {
    machine_ = workers_.machine(host);
    for (const store::Machine& known : store_.machines()) {
      if (known.id == machine_.id) machine_.details = known.details;
    }
    if (local_) {
      keep_bandwidth(machine_.details);
      machine_.details =
          "{\"memory_bytes_per_s\":" + std::to_string(std::llround(bench_.memory_bytes_per_s)) +
          "}";
    }
    store_.put_machine(machine_);
  }

  // Of an earlier start: all runs of a machine are divided by one number.
  void keep_bandwidth(const std::string& details) {
    const Json known =
        details.empty() ? Json::object() : parse_json(details, "the machine's details");
    bench_.memory_bytes_per_s = known.value("memory_bytes_per_s", bench_.memory_bytes_per_s);
  }

  // Whether the measurement is in the store at the end.
  bool attempt(const PlannedRun& planned) {
    const Configuration& one = configuration(planned);
    for (int number = 1; number <= campaign_.attempts; ++number) {
      const bool last = number == campaign_.attempts;
      const store::RunRecord record = run_once(planned, last);
      store_.append_run(record);
      const bool good = record.run.status == "ok";
      if (good) {
        ++summary_.measured;
        judge_.learn(record.run);
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
      if (!local_ || campaign_.most_foreign_cores >= core_count()) return;
      const ForeignLoad load;
      std::this_thread::sleep_for(kLook);
      if (load.cores() <= campaign_.most_foreign_cores) return;
    } while (Seconds(Clock::now() - start) < options_.patience);
  }

  store::RunRecord run_once(const PlannedRun& planned, bool last) {
    const Configuration& one = configuration(planned);
    wait_for_quiet();
    store::RunRecord record;
    const std::string started = moment();
    const std::optional<double> before = calibration();
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
    if (local_) run.foreign_load = others.cores();
    if (!local_) name_hosts(one, run);
    run.calibration_before_s = before;
    run.calibration_after_s = calibration();
    run.campaign = campaign_.name;
    run.machine = machine_.id;
    run.configuration = one.text;
    run.request = store::canonical_json(measured::run_request(one.text, "the configuration"));
    run.setting = campaign_.settings[static_cast<std::size_t>(one.setting)].name;
    run.split = one.split;
    run.repeat = planned.repeat;
    run.started = started;
    judge_.judge(failure, last, run);
    return record;
  }

  // Of this machine; absent where it is not the one that runs.
  std::optional<double> calibration() const {
    if (!local_) return std::nullopt;
    return calibrate(bench_.hosts.free_cgroups()).count();
  }

  void name_hosts(const Configuration& one, store::Run& run) const {
    const Setting& setting = campaign_.settings[static_cast<std::size_t>(one.setting)];
    Json details = run.details.empty() ? Json::object() : parse_json(run.details, "the details");
    for (int host = 0; host < setting.workers + setting.servers; ++host) {
      details["hosts"].push_back(workers_.machine(host).id);
    }
    run.details = json_text(details);
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
  bool local_;  // hosts are of this machine
  Workers workers_;
  Bench bench_;
  Judge judge_;
  store::Machine machine_;  // of worker 0
  Summary summary_;
  std::size_t todo_ = 0;
  std::size_t tried_ = 0;
  Clock::time_point began_;
};

}  // namespace

Summary collect(const Campaign& campaign, store::Store& store, const CollectOptions& options,
                Hosts& hosts) {
  return Collector(campaign, store, options, hosts).run();
}

Summary collect(const Campaign& campaign, store::Store& store, const CollectOptions& options) {
  Summary summary;
  run_alone([&] {
    if (!campaign.hosts.empty()) {
      Hosts hosts(campaign.hosts);
      summary = collect(campaign, store, options, hosts);
      return;
    }
    Hosts hosts(most_hosts(campaign), options.isolated);
    summary = collect(campaign, store, options, hosts);
  });
  return summary;
}

}  // namespace foretrain::lab
