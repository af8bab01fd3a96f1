// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "foretrain/cli/simulate_output.h"

namespace foretrain::cli {

// What the chart shows, gathered as the simulation goes on in bounded memory: means over 512
// equal stretches of time, and the first 200 jobs one by one.
class ChartData {
 public:
  static constexpr std::size_t kStretches = 512;
  static constexpr std::size_t kMostJobs = 200;
  static constexpr std::size_t kMostBars = 20'000;

  explicit ChartData(int devices) : devices_(devices) {}

  void add(sched::Happening what, Seconds now, const sched::Active* active);

  struct Stretch {
    double device_seconds = 0;
    double waiting_seconds = 0;
  };
  struct Bar {
    int row = 0;
    Seconds begin{0};
    Seconds end{0};
    bool running = false;
  };
  struct Row {
    std::string name;
    int devices = 0;
  };
  int devices() const { return devices_; }
  Seconds width() const { return width_; }
  Seconds end() const { return now_; }
  const std::array<Stretch, kStretches>& stretches() const { return stretches_; }
  const std::vector<Bar>& bars() const { return bars_; }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  void advance(Seconds now);
  void draw(sched::Happening what, Seconds now, const sched::Active& active);

  int devices_;
  Seconds width_{1};  // of a stretch
  Seconds now_{0};
  double held_ = 0;
  double waiting_ = 0;
  std::array<Stretch, kStretches> stretches_{};
  struct Open {
    int row;
    Seconds since;
    bool running;
  };
  std::map<std::int64_t, Open> open_;  // by job
  std::vector<Row> rows_;
  std::vector<Bar> bars_;
};

// An SVG; inside an HTML page with the figures of the report where `path` ends in ".html".
std::string chart_text(const ChartData& data, const SimulationReport& report,
                       const std::string& path);

}  // namespace foretrain::cli
