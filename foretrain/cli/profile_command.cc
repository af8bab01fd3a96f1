// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/given_request.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/profile_text.h"
#include "foretrain/cli/progress.h"
#include "foretrain/lab/keep_profile.h"
#include "foretrain/profile/analyse.h"
#include "foretrain/profile/command.h"
#include "foretrain/profile/recording_file.h"
#include "foretrain/profile/sampler.h"
#include "foretrain/profile/timeline.h"

namespace foretrain::cli {
namespace {

struct Options {
  std::vector<std::string> command;
  std::vector<int> processes;
  std::string cgroup;
  std::string from;
  std::optional<double> interval_s;
  double duration_s = 0;
  double skip_s = 0;
  double cores = 0;
  double net_bytes_per_s = 0;
  std::vector<std::string> interfaces;
  std::optional<int> gpu;
  bool json = false;
  std::string csv;
  std::string svg;
  std::string html;
  std::string store;
  std::string steps;
  std::string request;
};

// How many things were sent to standard output, which can hold one.
int on_standard_output(const Options& options) {
  return int{options.json} + int{options.csv == "-"} + int{options.svg == "-"} +
         int{options.html == "-"};
}

constexpr double kMost = 1e15;  // seconds or bytes per second: beyond every machine

void check(const Options& options) {
  const bool attaches = !options.processes.empty() || !options.cgroup.empty();
  const int ways =
      (options.command.empty() ? 0 : 1) + (attaches ? 1 : 0) + (options.from.empty() ? 0 : 1);
  if (ways != 1) {
    throw Error(ErrorKind::BadInput,
                "profile needs one of: -- COMMAND, --pid or --cgroup, --from FILE; "
                "see foretrain profile --help");
  }
  if (on_standard_output(options) > 1) {
    throw Error(ErrorKind::BadInput,
                "profile: standard output holds one of --json, -o -, --svg - and --html -; "
                "give the others a file");
  }
  if (options.duration_s > 0 && !attaches) {
    throw Error(ErrorKind::BadInput, "profile: --duration is for --pid and --cgroup alone");
  }
  if (options.cores > 0 && !options.from.empty()) {
    throw Error(ErrorKind::BadInput, "profile: --cores has no meaning for a recording");
  }
  if (!options.store.empty() && !options.from.empty()) {
    throw Error(ErrorKind::BadInput, "profile: --store keeps what runs here, not a recording");
  }
  if (options.store.empty() != (options.steps.empty() && options.request.empty())) {
    throw Error(ErrorKind::BadInput,
                "profile: --store needs --steps, the file in which the job writes its steps, or "
                "--request, what it is; and these need --store");
  }
  if (options.interval_s == 0.0) {
    throw Error(ErrorKind::BadInput, "profile: --interval must be above 0 seconds");
  }
}

profile::Recording read_from(const Options& options) {
  profile::ReadOptions reading;
  if (options.interval_s) reading.interval = Seconds{*options.interval_s};
  reading.interfaces = options.interfaces;
  reading.gpu = options.gpu;
  Progress progress("bytes");
  reading.on_read = [&](std::size_t bytes) { progress.show(bytes, {}); };
  if (options.from == "-") return profile::read_recording(std::cin, "standard input", reading);
  std::ifstream file(options.from, std::ios::binary);
  if (!file || std::filesystem::is_directory(options.from)) {
    throw Error(ErrorKind::Io, "cannot read '" + printable(options.from) + "'");
  }
  std::error_code ignored;  // a pipe has no size
  const auto all = static_cast<double>(std::filesystem::file_size(options.from, ignored));
  if (!ignored && all > 0) {
    reading.on_read = [&](std::size_t bytes) {
      progress.show(bytes, static_cast<double>(bytes) / all);
    };
  }
  return profile::read_recording(file, "file " + printable(options.from), reading);
}

profile::SamplerOptions sampling(const Options& options) {
  profile::SamplerOptions result;
  if (options.interval_s) result.interval = Seconds{*options.interval_s};
  result.interfaces = options.interfaces;
  result.gpu_index = options.gpu.value_or(result.gpu_index);
  return result;
}

profile::Subject subject(const Options& options) {
  profile::Subject result;
  result.cgroup = options.cgroup;
  result.processes = options.processes;
  result.cores = options.cores;
  result.net_bytes_per_s = options.net_bytes_per_s;
  return result;
}

profile::Recording run_command(const Options& options, Console& console) {
  profile::Command command(options.command, on_standard_output(options) > 0);
  profile::Subject watched = subject(options);
  watched.name = options.command.front();
  watched.processes = {command.process()};
  profile::Sampler sampler(std::vector{watched}, sampling(options));
  sampler.start();
  command.begin();
  console.exit_code = command.wait();
  return sampler.stop().front();
}

profile::Recording attach(const Options& options) {
  profile::Subject watched = subject(options);
  watched.name = options.cgroup;
  for (const int process : options.processes) watched.name += " " + std::to_string(process);
  profile::Sampler sampler(std::vector{watched}, sampling(options));
  sampler.start();
  Progress progress("s sampled");
  const auto start = std::chrono::steady_clock::now();
  const auto gone = [&] {
    const Seconds passed = std::chrono::steady_clock::now() - start;
    const Seconds left = std::max(Seconds{0}, Seconds{options.duration_s} - passed);
    const auto whole_s = static_cast<std::size_t>(passed.count());
    if (options.duration_s > 0) {
      progress.show(whole_s, 1 - left.count() / options.duration_s, left);
    } else {
      progress.show(whole_s, {});
    }
    return !sampler.alive();
  };
  profile::wait_until(gone, Seconds{options.duration_s});
  return sampler.stop().front();
}

// Where a profile goes with the steps that the job writes meanwhile.
class Keeper {
 public:
  explicit Keeper(const Options& options)
      : steps_(options.steps), request_(given_request(options.request)) {
    if (options.store.empty()) return;
    store_.emplace(options.store);
    std::error_code missing;  // the job makes it
    const std::uintmax_t bytes = std::filesystem::file_size(steps_, missing);
    if (!missing) before_ = bytes;
  }

  void keep(const profile::Profile& profile, bool quiet, Console& console) {
    if (!store_) return;
    if (console.exit_code != 0) {
      if (!quiet) console.line("not stored: the job failed");
      return;
    }
    lab::ProfiledJob job{.profile = profile, .request = request_};
    if (!steps_.empty()) {
      constexpr std::uintmax_t kLargest = 64 << 20;
      std::error_code missing;
      if (std::filesystem::exists(steps_, missing)) job.steps = read_file(steps_, kLargest);
      job.steps.erase(0, std::min<std::size_t>(before_, job.steps.size()));
      if (job.steps.empty()) {
        throw Error(ErrorKind::BadInput, "profile: the job wrote no step to '" + printable(steps_) +
                                             "'; is that StepRecorder's output?");
      }
    }
    for (const std::int64_t run : lab::keep_profile(job, *store_)) {
      if (!quiet) console.line("stored as run " + std::to_string(run));
    }
  }

 private:
  std::string steps_;
  std::string request_;
  std::uintmax_t before_ = 0;  // bytes that the file of steps had
  std::optional<store::Store> store_;
};

void run_profile(const Options& options, Console& console) {
  check(options);
  Keeper keeper(options);
  Output csv(options.csv, console);
  Output svg(options.svg, console);
  Output html(options.html, console);
  profile::Recording recording = !options.from.empty()      ? read_from(options)
                                 : !options.command.empty() ? run_command(options, console)
                                                            : attach(options);
  if (options.skip_s > 0) {
    const Seconds length = static_cast<double>(profile::length_of(recording)) * recording.window;
    recording = profile::cut(recording, recording.start + Seconds{options.skip_s},
                             recording.start + length);
  }
  for (profile::RecordingColumn& column : recording.columns) {
    if (column.name.starts_with("net_") && options.net_bytes_per_s > 0) {
      column.scale = options.net_bytes_per_s;
    }
  }
  const profile::Profile result = profile::analyse(recording);
  // The answer first: a disk that is full does not take it along.
  if (options.json) console.line(profile::to_json(result));
  if (on_standard_output(options) == 0)
    console.write(profile_text(recording, result, console.screen));
  console.flush();
  keeper.keep(result, on_standard_output(options) > 0, console);
  if (csv.wanted()) csv.write(profile::recording_csv(recording));
  if (svg.wanted()) svg.write(profile::timeline_svg(recording, result));
  if (html.wanted()) html.write(profile::timeline_html(recording, result));
  for (Output* output : {&csv, &svg, &html}) output->close();
}

}  // namespace

void add_profile_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command =
      app.add_subcommand("profile", "run a job, sample what it uses, report bursts and idles");
  command.footer(
      "Examples:\n  foretrain profile -o job.csv --html job.html -- python3 train.py\n"
      "  foretrain profile --pid 4711 --duration 30\n"
      "  foretrain profile --from job.csv --json\n"
      "  foretrain profile --store my.db --steps steps.jsonl -- python3 train.py\n\n"
      "The exit code is that of COMMAND. With --json, -o -, --svg - and --html - its output goes\n"
      "to standard error. Files are opened before it runs.\n"
      "docs/profile.md describes what is sampled, the CSV and the formats that --from reads.");
  command.add_option("command", options->command, "what to run, after --");
  command.add_option("--pid", options->processes, "attach to this process and its children")
      .allow_extra_args(false);
  command.add_option("--cgroup", options->cgroup,
                     "attach to the processes of this cgroup's folder");
  command.add_option("--from", options->from,
                     "a recording: our CSV, nvidia-smi, dmon, dcgmi dmon, sar; - reads it");
  command
      .add_option("--interval", options->interval_s,
                  "seconds between samples (0.01); of --from: where the file has no times (1)")
      .check(number_range(0, kMost));
  command
      .add_option("--duration", options->duration_s, "stop after so many seconds (--pid, --cgroup)")
      .check(number_range(0, kMost));
  command.add_option("--skip", options->skip_s, "leave out the first seconds: start-up, warming up")
      .check(number_range(0, kMost));
  command.add_option("--cores", options->cores, "cores that are 100 % (those the job may use)")
      .check(number_range(0, kMost));
  command
      .add_option("--net-rate", options->net_bytes_per_s,
                  "bytes per second that the link carries (the highest sample)")
      .check(number_range(0, kMost));
  command
      .add_option("--interface", options->interfaces, "count this network interface (all but lo)")
      .allow_extra_args(false);
  command
      .add_option("--gpu", options->gpu, "index of the GPU, here or in the recording (the busiest)")
      .check(number_range(0, kMost));
  command.add_option("--store", options->store, "keep it as a run of this store");
  command.add_option("--steps", options->steps,
                     "the JSON lines in which the job writes its steps (StepRecorder's output)");
  command.add_option("--request", options->request,
                     "what the job is, where it writes no steps: JSON or a file of it");
  command.add_flag("--json", options->json, "print the resources object of the report");
  command.add_option("-o,--output", options->csv, "write the samples as CSV; - prints them");
  command.add_option("--svg", options->svg,
                     "write a picture of the samples over time; - prints it");
  command.add_option("--html", options->html, "write a page with picture and numbers; - prints it");
  command.callback([options, &console] { run_profile(*options, console); });
}

}  // namespace foretrain::cli
