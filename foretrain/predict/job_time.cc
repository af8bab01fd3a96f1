// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/job_time.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/base/humanise.h"
#include "foretrain/base/seconds.h"

namespace foretrain {
namespace {

constexpr double kLeastSuccess = 1e-6;  // of attempts at a segment or a restart
constexpr double kRounding = 1e-9;      // by which 3 * 0.1 is more than 0.3

// Segments of equal length and the last one, which may be shorter.
struct Segments {
  double whole = 0;    // how many
  double length = 0;   // of each of them, in seconds of work
  double last = 0;     // likewise
  double written = 0;  // seconds of the checkpoint at the end of each
};

Segments segments_of(double work, const JobEffects& effects) {
  if (!effects.checkpoint_every || work == 0) return {0, 0, work, 0};
  const double each = *effects.checkpoint_every;
  const double whole = std::max(0.0, std::ceil(work / each * (1 - kRounding)) - 1);
  return {whole, each, work - whole * each, effects.checkpoint_s};
}

// Throws where an attempt of so many seconds hardly ever succeeds.
void check_progress(double seconds, const char* what, const JobEffects& effects) {
  if (std::exp(-seconds / *effects.mtbf_s) >= kLeastSuccess) return;
  std::string message = "the job makes no progress: " + std::string(what) + " takes " +
                        format_time(Seconds{seconds}) + ", a failure comes every " +
                        format_time(Seconds{*effects.mtbf_s}) +
                        " (mtbf_s), so that fewer than one attempt in a million succeeds; ";
  message += effects.checkpoint_every ? "lower 'checkpoint_every', 'checkpoint_s' or 'restart_s'"
                                      : "give 'checkpoint_every'";
  throw Error(ErrorKind::BadInput, message);
}

// What failures add to `count` segments of so many seconds.
void add_failures(double count, double seconds, const JobEffects& effects, JobTime& job) {
  if (count == 0) return;
  check_progress(seconds, effects.checkpoint_every ? "work between checkpoints" : "its work",
                 effects);
  const double mean = *effects.mtbf_s;
  const double hits = std::expm1(seconds / mean);  // failures of a segment's attempts
  job.lost_work += count * std::max(0.0, mean * hits - seconds);
  job.restarts += count * hits * mean * std::expm1(effects.restart_s / mean);
  job.failures += count * hits * std::exp(effects.restart_s / mean);
}

}  // namespace

double total(const JobTime& job) {
  return job.training + job.evaluation + job.checkpoints + job.lost_work + job.restarts +
         job.startup;
}

JobTime job_time(double training, double epochs, double startup, const JobEffects& effects) {
  JobTime job;
  job.training = training;
  job.startup = startup;
  job.evaluation = effects.evaluate_s * std::floor(epochs * (1 + kRounding));
  const Segments segments = segments_of(job.training + job.evaluation, effects);
  const double last = segments.last > 0 ? 1 : 0;
  job.checkpoints = segments.written * (segments.whole + last);
  if (!effects.mtbf_s) return job;
  check_progress(effects.restart_s, "a restart", effects);
  add_failures(segments.whole, segments.length + segments.written, effects, job);
  add_failures(last, segments.last + segments.written, effects, job);
  return job;
}

}  // namespace foretrain
