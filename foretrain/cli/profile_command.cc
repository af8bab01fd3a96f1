// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/profile_text.h"
#include "foretrain/cli/progress.h"
#include "foretrain/profile/analyse.h"
#include "foretrain/profile/command.h"
#include "foretrain/profile/sampler.h"
#include "foretrain/profile/timeline.h"
#include "foretrain/profile/trace_file.h"

namespace foretrain::cli {
namespace {

struct Options {
  std::vector<std::string> command;
  std::vector<int> processes;
  std::string cgroup;
  std::string from;
  double interval_s = 0;  // 0: not given
  double duration_s = 0;
  double skip_s = 0;
  double cores = 0;
  double net_bytes_per_s = 0;
  std::vector<std::string> interfaces;
  int gpu = -1;
  bool json = false;
  std::string csv;
  std::string svg;
  std::string html;
};

void check(const Options& options) {
  const bool attaches = !options.processes.empty() || !options.cgroup.empty();
  const int ways =
      (options.command.empty() ? 0 : 1) + (attaches ? 1 : 0) + (options.from.empty() ? 0 : 1);
  if (ways != 1) {
    throw Error(ErrorKind::BadInput,
                "profile needs one of: -- COMMAND, --pid or --cgroup, --from FILE; "
                "see foretrain profile --help");
  }
  if (options.interval_s < 0 || options.duration_s < 0 || options.skip_s < 0 || options.cores < 0 ||
      options.net_bytes_per_s < 0) {
    throw Error(ErrorKind::BadInput, "profile: a number of its options is negative");
  }
}

profile::Trace read_from(const Options& options) {
  profile::ReadOptions reading;
  if (options.interval_s > 0) reading.interval = Seconds{options.interval_s};
  reading.interfaces = options.interfaces;
  Progress progress("bytes");
  reading.on_read = [&](std::size_t bytes, double share) { progress.show(bytes, share); };
  if (options.from == "-") return profile::read_trace(std::cin, "standard input", reading);
  std::ifstream file(options.from, std::ios::binary);
  if (!file || std::filesystem::is_directory(options.from)) {
    throw Error(ErrorKind::Io, "cannot read '" + printable(options.from) + "'");
  }
  return profile::read_trace(file, "file " + printable(options.from), reading);
}

profile::SamplerOptions sampling(const Options& options) {
  profile::SamplerOptions result;
  if (options.interval_s > 0) result.interval = Seconds{options.interval_s};
  result.interfaces = options.interfaces;
  result.gpu_index = options.gpu;
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

profile::Trace run_command(const Options& options, Console& console) {
  profile::Command command(options.command, options.json);
  profile::Subject watched = subject(options);
  watched.name = options.command.front();
  watched.processes = {command.process()};
  profile::Sampler sampler(std::vector{watched}, sampling(options));
  sampler.start();
  command.begin();
  console.exit_code = command.wait();
  return sampler.stop().front();
}

profile::Trace attach(const Options& options) {
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

void run_profile(const Options& options, Console& console) {
  check(options);
  profile::Trace trace = !options.from.empty()      ? read_from(options)
                         : !options.command.empty() ? run_command(options, console)
                                                    : attach(options);
  if (options.skip_s > 0) {
    const Seconds length = static_cast<double>(profile::length_of(trace)) * trace.window;
    trace = profile::cut(trace, trace.start + Seconds{options.skip_s}, trace.start + length);
  }
  for (profile::TraceColumn& column : trace.columns) {
    if (column.name.starts_with("net_") && options.net_bytes_per_s > 0) {
      column.scale = options.net_bytes_per_s;
    }
  }
  const profile::Profile result = profile::analyse(trace);
  if (!options.csv.empty()) write_file(options.csv, profile::trace_csv(trace), console);
  if (!options.svg.empty()) write_file(options.svg, profile::timeline_svg(trace, result), console);
  if (!options.html.empty()) {
    write_file(options.html, profile::timeline_html(trace, result), console);
  }
  const bool taken = options.csv == "-" || options.svg == "-" || options.html == "-";
  if (options.json) return console.line(profile::to_json(result));
  if (!taken) console.write(profile_text(trace, result, console.screen));
}

}  // namespace

void add_profile_command(CLI::App& app, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("profile", "run a job, sample what it uses, report bursts and idles");
  command.footer(
      "Examples:\n  foretrain profile -o job.csv --html job.html -- python3 train.py\n"
      "  foretrain profile --pid 4711 --duration 30\n"
      "  foretrain profile --from job.csv --json\n\n"
      "The exit code is that of COMMAND. With --json its output goes to standard error.\n"
      "docs/profile.md describes what is sampled, the CSV and the formats that --from reads.");
  command.add_option("command", options->command, "what to run, after --");
  command.add_option("--pid", options->processes, "attach to this process and its children")
      ->allow_extra_args(false);
  command.add_option("--cgroup", options->cgroup,
                     "attach to the processes of this cgroup's folder");
  command.add_option("--from", options->from,
                     "a recorded trace: our CSV, nvidia-smi, dmon, dcgmi dmon, sar; - reads it");
  command.add_option("--interval", options->interval_s,
                     "seconds between samples (0.01); of --from: where the file has no times (1)");
  command.add_option("--duration", options->duration_s,
                     "stop after so many seconds (--pid, --cgroup)");
  command.add_option("--skip", options->skip_s,
                     "leave out the first seconds: start-up, warming up");
  command.add_option("--cores", options->cores, "cores that are 100 % (those the job may use)");
  command.add_option("--net-rate", options->net_bytes_per_s,
                     "bytes per second that the link carries (the highest sample)");
  command
      .add_option("--interface", options->interfaces, "count this network interface (all but lo)")
      ->allow_extra_args(false);
  command.add_option("--gpu", options->gpu, "index of the GPU (the busiest)");
  command.add_flag("--json", options->json, "print the resources object of the report");
  command.add_option("-o,--output", options->csv, "write the samples as CSV");
  command.add_option("--svg", options->svg, "write a picture of the samples over time");
  command.add_option("--html", options->html, "write a page with picture and numbers");
  command.callback([options, &console] { run_profile(*options, console); });
}

}  // namespace foretrain::cli
