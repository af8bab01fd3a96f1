// SPDX-License-Identifier: Apache-2.0
#include "foretrain/inspector/replay.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "foretrain/inspector/replay_constants.h"

namespace foretrain::inspector {
namespace {

// Draws that are the same on every platform.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}
  double uniform() { return (static_cast<double>(generator_() >> 11) + 0.5) * 0x1p-53; }
  double exponential(double mean) { return -mean * std::log(uniform()); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 generator_;
};

// Where a step lies in the replay: it begins after a gap and is stretched.
struct Placed {
  double begin = 0;
  double stretch = 1;
};

struct Plan {
  std::vector<Placed> steps;
  double end = 0;
};

Plan place_steps(double period, const ReplayOptions& options, Draw& draw) {
  const double wanted = options.length.count() / std::max(period, 1e-9);
  const int steps =
      static_cast<int>(std::clamp(wanted, double(options.least_steps), double(options.most_steps)));
  Plan plan;
  for (int i = 0; i < steps; ++i) {
    const double begin = plan.end + draw.exponential(options.gap.count());
    const double stretch = std::max(0.2, 1 + options.jitter * draw.normal());
    plan.steps.push_back({begin, stretch});
    plan.end = begin + stretch * period;
  }
  return plan;
}

// One step of a curve: stretched it uses as much at any time, for longer. Operators that vary move
// what they move in more time or less, and those behind them wait.
void place(const Curve& curve, const Placed& step, double variation, Draw& draw,
           std::vector<resource::Level>& levels) {
  double later = 0;
  for (const resource::Level& level : curve.levels) {
    const double length = (level.end - level.start).count();
    const double longer = variation > 0 ? std::exp(variation * draw.normal()) : 1;
    const double start = level.start.count() + later;
    const double end = start + length * longer;
    later += length * (longer - 1);
    levels.push_back({Seconds(step.begin + step.stretch * start),
                      Seconds(step.begin + step.stretch * end), level.amount / longer});
  }
}

// Mean level in each window of the replay.
std::vector<double> sample(const Curve& curve, const Plan& plan, double variation, Draw& draw) {
  std::vector<resource::Level> levels;
  levels.reserve(curve.levels.size() * plan.steps.size());
  for (const Placed& step : plan.steps) place(curve, step, variation, draw, levels);
  return resource::sample_levels(levels, Seconds(plan.end), curve.split.window);
}

// Operators of one kind do not move the same bytes per second each time; no window shows more than
// the scale.
void add_noise(double noise, double scale, Draw& draw, std::vector<double>& samples) {
  for (double& value : samples) {
    value = std::min(scale, value * std::exp(noise * draw.normal()));
  }
}

struct Sum {
  Replayed total;
  int replays = 0;

  void add(const Replayed& one) {
    ++replays;
    total.amount += one.amount;
    total.idle_amount += one.idle_amount;
    total.burst_s += one.burst_s;
    total.idle_s += one.idle_s;
    total.burst_share += one.burst_share;
    total.mean += one.mean;
  }
  Replayed mean() const {
    Replayed result = total;
    for (double* part : {&result.amount, &result.idle_amount, &result.burst_s, &result.idle_s,
                         &result.burst_share, &result.mean}) {
      *part /= std::max(1, replays);
    }
    return result;
  }
};

Replayed look_at(const std::vector<double>& samples, const Curve& curve, double period) {
  Replayed one;
  for (const double value : samples) one.mean += value / static_cast<double>(samples.size());
  const auto bursts = resource::split_bursts(samples, curve.split);
  if (!bursts) return one;
  one.alternating = bursts->pattern == resource::Pattern::BIB && bursts->burst && bursts->idle;
  one.burst_share = bursts->burst_share;
  one.amount = bursts->burst_amount.value_or(bursts->idle_amount.value_or(0));
  one.idle_amount = bursts->idle_amount.value_or(one.amount);
  one.burst_s = bursts->burst.value_or(Seconds(one.burst_share * period)).count();
  one.idle_s = bursts->idle.value_or(Seconds((1 - one.burst_share) * period)).count();
  return one;
}

}  // namespace

ReplayOptions replay_options() {
  const ReplayConstants& known = replay_constants();
  return {.jitter = known.steps.jitter,
          .operators = known.activity.operators,
          .noise = known.activity.noise,
          .gap = Seconds{known.steps.gap_s}};
}

std::array<Replayed, kResources.size()> replay(const StepCurves& curves,
                                               const ReplayOptions& options) {
  std::array<Sum, kResources.size()> alternating;
  std::array<Sum, kResources.size()> others;
  for (int r = 0; r < options.replays; ++r) {
    Draw draw(options.seed * 1'000'003 + static_cast<std::uint64_t>(r));
    const Plan plan = place_steps(curves.period.count(), options, draw);
    for (std::size_t i = 0; i < curves.of.size(); ++i) {
      const Curve& curve = curves.of[i];
      const bool memory = kResources[i] == Resource::Memory;
      std::vector<double> samples = sample(curve, plan, memory ? options.operators : 0, draw);
      if (memory) {
        add_noise(options.noise, curve.split.scale, draw, samples);
      }
      const Replayed one = look_at(samples, curve, curves.period.count());
      (one.alternating > 0 ? alternating : others)[i].add(one);
    }
  }
  std::array<Replayed, kResources.size()> result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const bool any = alternating[i].replays > 0;
    result[i] = (any ? alternating : others)[i].mean();
    result[i].alternating = double(alternating[i].replays) / options.replays;
  }
  return result;
}

}  // namespace foretrain::inspector
