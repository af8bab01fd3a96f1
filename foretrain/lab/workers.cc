// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/workers.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "foretrain/base/embedded.h"
#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/lab/detail/machine.h"

namespace foretrain::lab {

extern const std::span<const EmbeddedFile> kWorkerFiles;

namespace {

constexpr int kStarts = 3;              // of workers that something kills
constexpr Seconds kStartPatience{180};  // the memory log may have to be compiled

std::string source_of(std::string_view file) {
  for (const EmbeddedFile& one : kWorkerFiles) {
    if (one.name == file) return std::string(one.text);
  }
  throw Error(ErrorKind::Io, "the program does not hold " + std::string(file));
}

// The first line: every module's text, and the code that imports them.
std::string package_line() {
  Json sources = Json::object();
  for (const EmbeddedFile& one : kWorkerFiles) {
    const std::string_view name = one.name.substr(one.name.rfind('/') + 1);
    if (!name.ends_with(".py") || name == "boot.py") continue;
    const std::string module(name.substr(0, name.size() - 3));
    sources[module == "__init__" ? "foretrain_lab" : "foretrain_lab." + module] = one.text;
  }
  return json_text(Json{{"boot", source_of("foretrain_lab/boot.py")}, {"sources", sources}});
}

constexpr const char* kLoader =
    "import json, sys; package = json.loads(sys.stdin.readline()); "
    "exec(package['boot'], {'SOURCES': package['sources'], '__name__': 'boot'})";

// A remote machine as its worker describes it.
store::Machine machine_of(const Json& said) {
  store::Machine machine;
  machine.cpu = said.at("cpu");
  machine.id = machine_id(said.at("name"), machine.cpu);
  machine.cores = said.at("cores").get<std::int64_t>();
  machine.memory_bytes = said.at("memory_bytes").get<double>();
  machine.kernel = said.at("kernel");
  machine.system = said.at("system");
  return machine;
}

}  // namespace

std::unique_ptr<Child> start_worker(const Host& host, const WorkerOptions& options) {
  ChildOptions child;
  child.words = host.prefix;
  if (!host.local) {
    // A remote shell takes words apart again.
    child.words.push_back("OMP_NUM_THREADS=" + std::to_string(options.threads) +
                          " GLOO_SOCKET_IFNAME=" + host.interface + " " + options.python +
                          " -u -c \"" + kLoader + "\"");
  } else {
    child.words.insert(child.words.end(), {options.python, "-u", "-c", kLoader});
  }
  child.environment = {"OMP_NUM_THREADS=" + std::to_string(options.threads),
                       "MKL_NUM_THREADS=" + std::to_string(options.threads),
                       "GLOO_SOCKET_IFNAME=" + host.interface, "PYTHONDONTWRITEBYTECODE=1"};
  child.cgroups = host.cgroups;
  child.cpus = host.cpus;
  child.interrupt = options.interrupt;
  child.errors = Errors::ToFile;
  child.error_file = options.error_file.empty() ? "/dev/null" : options.error_file;
  auto worker = std::make_unique<Child>(child);
  worker->write_line(package_line());
  return worker;
}

void Workers::ensure(int count) {
  for (int attempt = 0; attempt < kStarts; ++attempt) {
    const auto before = static_cast<int>(children_.size());
    for (int host = before; host < count; ++host) {
      children_.push_back(start_worker(hosts_[host], options_));
    }
    int host = before;
    while (host < count && greet(host)) ++host;
    if (host >= count) return;  // more than enough may be there
  }
  throw Error(ErrorKind::Io, "workers are killed as soon as they start");
}

bool Workers::greet(int host) {
  try {
    send(host, json_text(Json{{"kind", "hello"},
                              {"job", 0},
                              {"threads", options_.threads},
                              {"activity_source", source_of("foretrain_lab/activity.cc")}}));
    const Json answer = parse_json(receive(host, kStartPatience), "a worker's answer");
    machines_.resize(std::max(machines_.size(), children_.size()));
    store::Machine& machine = machines_[static_cast<std::size_t>(host)];
    machine = hosts_[host].local ? describe_machine() : machine_of(answer.at("machine"));
    machine.pytorch = answer.value("pytorch", "");
    gpu_ = answer.value("gpu", "");
    const std::string trouble = answer.value("activity_trouble", "");
    if (!trouble.empty() && notes_.empty()) notes_.push_back("no memory activity: " + trouble);
    return true;
  } catch (const Error& error) {
    const bool killed = children_[static_cast<std::size_t>(host)]->was_killed();
    end();
    if (killed) return false;
    throw Error(ErrorKind::Unsupported, "'" + printable(options_.python) +
                                            "' cannot train: " + error.what() +
                                            "; name a Python that has PyTorch with --python");
  }
}

void Workers::send(int host, const std::string& job) {
  children_[static_cast<std::size_t>(host)]->write_line(job);
}

std::vector<std::string> receive_from(std::span<const std::unique_ptr<Child>> workers,
                                      Seconds patience) {
  std::vector<Child*> children;
  for (const std::unique_ptr<Child>& worker : workers) children.push_back(worker.get());
  return Child::read_lines(children, patience, [](const std::string& line) {
    const Json answer = parse_json(line, "a worker's answer");
    if (answer.value("ok", false)) return;
    throw Error(ErrorKind::Io, "a worker failed: " + answer.value("error", "no reason given"));
  });
}

std::string Workers::receive(int host, Seconds patience) {
  return receive_from({&children_[static_cast<std::size_t>(host)], 1}, patience).front();
}

std::vector<std::string> Workers::receive_all(int count, Seconds patience) {
  return receive_from({children_.data(), static_cast<std::size_t>(count)}, patience);
}

}  // namespace foretrain::lab
