// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "foretrain/sched/state.h"

namespace foretrain::fleet {

// What a chart of one simulation shows; whoever draws it only scales.
struct Chart {
  struct Row {
    std::string job;
    int devices = 0;
  };
  struct Bar {
    int row = 0;
    Seconds begin{0};
    Seconds end{0};
    bool running = false;  // else it waits
  };
  int devices = 0;                     // of the cluster
  Seconds stretch{1};                  // of time, for which each of these has a mean
  std::vector<double> devices_in_use;  // from 0 to the end of the simulation
  std::vector<double> jobs_waiting;
  double most_waiting = 0;
  std::vector<Row> rows;  // the first jobs that were submitted
  std::vector<Bar> bars;
  bool all_jobs = true;  // whether each job has a row

  Seconds end() const { return stretch * static_cast<double>(devices_in_use.size()); }
};

std::string to_json(const Chart& chart);

// Gathers a chart as the simulation goes on, in bounded memory: means over 512 equal stretches of
// time, and the first 200 jobs one by one.
class ChartRecorder {
 public:
  static constexpr std::size_t kStretches = 512;
  static constexpr std::size_t kMostJobs = 200;
  static constexpr std::size_t kMostBars = 20'000;

  explicit ChartRecorder(int devices) : devices_(devices) {}

  // As sched::Observer::on_event calls it.
  void add(sched::Happening what, Seconds now, const sched::Active* active);
  Chart chart() const;

 private:
  struct Stretch {
    double device_seconds = 0;
    double waiting_seconds = 0;
  };
  struct Open {
    int row;
    Seconds since;
    bool running;
  };
  void advance(Seconds now);
  void add_bar(sched::Happening what, Seconds now, const sched::Active& active);

  int devices_;
  Seconds width_{1};  // of a stretch
  Seconds now_{0};
  double held_ = 0;
  double waiting_ = 0;
  std::array<Stretch, kStretches> stretches_{};
  std::map<std::int64_t, Open> open_;  // by job
  std::vector<Chart::Row> rows_;
  std::vector<Chart::Bar> bars_;
  bool all_jobs_ = true;
};

}  // namespace foretrain::fleet
