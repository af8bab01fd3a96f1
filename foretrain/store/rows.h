// SPDX-License-Identifier: Apache-2.0
// What the store holds, as plain rows. docs/store.md describes the tables. Times end in _s and are
// in seconds, moments are texts in UTC ("2026-11-16T02:47:09Z"). What was not measured is absent.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace foretrain::store {

// Where something was measured. For imported rows only `id` is known: the device's name there.
struct Machine {
  std::string id{};  // stable over restarts: a host's own identity, or a device's name
  std::string cpu{};
  std::optional<std::int64_t> cores{};
  std::optional<double> memory_bytes{};
  std::string kernel{};
  std::string system{};   // distribution and release
  std::string pytorch{};  // its version
  std::string details{};  // JSON: whatever else is worth knowing; "" for nothing
};

struct Campaign {
  std::string name{};
  std::string created{};     // moment
  std::string definition{};  // JSON
};

// How one resource of one process of a job was used over a run. Spreads are standard deviations
// over the bursts (idles) of the run.
struct Metric {
  std::string role{};         // "worker" or "server"
  std::int64_t instance = 0;  // which of the role's processes, from 0
  std::string resource{};     // as in the report: "gpu_util", "net_tx", ...
  std::string unit{};         // "%", "B/s", "B"
  std::string pattern{};      // "B", "I" or "BIB"
  std::optional<double> burst_amount{};
  std::optional<double> idle_amount{};
  std::optional<double> burst_s{};
  std::optional<double> idle_s{};
  std::optional<double> burst_amount_sd{};
  std::optional<double> idle_amount_sd{};
  std::optional<double> burst_sd_s{};
  std::optional<double> idle_sd_s{};
  std::optional<double> burst_share{};  // of the time; absent in what version 2 wrote
};

// What was sampled of one resource of one process while a run's steps were measured: the mean over
// each of equal windows, NaN where it is not known. Kept as multiples of 1/1024 of the largest.
struct Samples {
  std::string role{};  // as of a metric
  std::int64_t instance = 0;
  std::string resource{};
  std::string unit{};
  double window_s = 0;
  std::optional<double> scale{};  // the full scale: 100 %, the link's rate; absent: not known
  std::vector<double> values{};
};

// One run of a job. `status` is "ok" for a measurement that counts; any other word ("failed",
// "foreign_load", "outlier") keeps the run on record without standing for its configuration.
struct Run {
  std::int64_t id = 0;          // given by the store
  std::string campaign{};       // name of a campaign
  std::string machine{};        // id of a machine
  std::string configuration{};  // canonical JSON of the job: see canonical_json
  std::string setting{};        // e.g. "ddp2-1g-core"
  std::string split{};          // "train", "validation", "test"
  std::int64_t repeat = 0;
  std::string started{};  // moment
  std::string status = "ok";
  std::string message{};  // what went wrong
  std::optional<double> calibration_before_s{};
  std::optional<double> calibration_after_s{};
  std::optional<double> foreign_load{};  // cores that others used meanwhile
  std::optional<double> wall_s{};        // of the whole job, from process start to exit
  std::optional<std::int64_t> steps{};
  std::optional<double> step_mean_s{};
  std::optional<double> step_median_s{};
  std::optional<double> step_sd_s{};
  std::optional<double> exposed_sync_s{};  // per step
  std::string details{};                   // JSON: other numbers of the run; "" for none
  // What `foretrain predict` is asked for this run: canonical JSON. "" in what version 1 wrote,
  // where the configuration says it.
  std::string request{};
};

// Whether the store can keep it: a 32-bit float, not negative.
inline bool is_step_time(double time_s) {
  return time_s >= 0 && time_s <= static_cast<double>(std::numeric_limits<float>::max());
}

// A run with all that was measured in it: what append_run writes whole or not at all.
struct RunRecord {
  Run run;
  std::vector<Metric> metrics{};
  std::vector<double> step_times_s{};  // may be empty; see is_step_time
  std::vector<Samples> samples{};
};

// The time of one operator in one direction.
struct Operator {
  std::string machine{};
  std::string source{};  // campaign, or the file it was imported from
  std::string split{};   // "train", "test" or "" where the data set has none
  std::string kind{};    // "conv2d", "linear", ...
  std::string shapes{};  // of the inputs, "8x3x224x224;64x3x7x7"; "" where attributes say it all
  std::string attributes{};          // JSON object, canonical
  std::string dtype{};               // "f32", ...
  std::string direction{};           // "forward", "backward" or "both"
  double time_s = 0;                 // median
  std::optional<double> spread_s{};  // standard deviation
  std::optional<std::int64_t> repeats{};
};

struct Collective {
  std::string machine{};
  std::string source{};
  std::string kind{};     // "all_reduce", ...
  std::string backend{};  // "gloo", "nccl"
  std::string link{};     // "1gbps", ...; "" where it is not said
  std::int64_t ranks = 0;
  std::int64_t nodes = 1;
  double bytes = 0;   // of each rank's input
  double time_s = 0;  // median
  std::optional<double> spread_s{};
  std::optional<std::int64_t> repeats{};
};

// A published measurement of a training job, one cell per column of the CSV schema. Counts stay
// texts, since files write "3/4/4/4" GPUs per node or ">1" nodes.
struct Training {
  std::string file{};  // which file it was imported from
  std::string source{};
  std::string framework{};
  std::string model{};
  std::string task_dataset{};
  std::string gpu{};
  std::string gpus{};
  std::string nodes{};
  std::string gpus_per_node{};
  std::string interconnect{};
  std::string precision{};
  std::string batch_per_gpu{};
  std::string global_batch{};
  std::string metric{};
  double value = 0;
  std::string unit{};
  std::string parallelism{};
  std::string notes{};
};

}  // namespace foretrain::store
