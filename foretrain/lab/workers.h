// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foretrain/base/seconds.h"
#include "foretrain/lab/child.h"
#include "foretrain/lab/hosts.h"
#include "foretrain/store/rows.h"

namespace foretrain::lab {

struct WorkerOptions {
  std::string python = "python3";        // with PyTorch
  std::string error_file{};              // what workers say beside their answers; "": nowhere
  int threads = 1;                       // that compute, of each
  const Interrupt* interrupt = nullptr;  // ends waiting for answers
};

// Starts the Python that trains on a host and gives it the package foretrain_lab. Throws Error(Io).
std::unique_ptr<Child> start_worker(const Host& host, const WorkerOptions& options);

// An answer of each in their order. Throws Error(Io) as soon as one has ended or says what went
// wrong in it, and when `patience` is over.
std::vector<std::string> receive_from(std::span<const std::unique_ptr<Child>> workers,
                                      Seconds patience);

// A worker per host, started when it is first needed and kept between jobs.
class Workers {
 public:
  Workers(const Hosts& hosts, WorkerOptions options)
      : hosts_(hosts), options_(std::move(options)) {}

  // Makes sure that the first `count` hosts have a worker. Throws Error: Unsupported where PyTorch
  // is missing.
  void ensure(int count);

  int pid(int host) const { return children_[static_cast<std::size_t>(host)]->pid(); }

  // Lines of JSON; python/foretrain_lab/__init__.py describes them. Throws Error(Io) for a worker
  // that has ended or does not answer in time, or with what went wrong in it.
  void send(int host, const std::string& job);
  std::string receive(int host, Seconds patience);
  // Of the first `count` hosts; one that ends or fails leaves nobody waiting for the others.
  std::vector<std::string> receive_all(int count, Seconds patience);

  void end() { children_.clear(); }  // kills all

  // What a host is that had a worker: this machine, or what the worker says of a remote one.
  const store::Machine& machine(int host) const {
    return machines_[static_cast<std::size_t>(host)];
  }
  const std::string& gpu() const { return gpu_; }  // as its driver calls it; "" without one
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  bool greet(int host);  // false where a signal ended the worker; then all have ended

  const Hosts& hosts_;
  WorkerOptions options_;
  std::vector<std::unique_ptr<Child>> children_;
  std::vector<store::Machine> machines_;
  std::string gpu_;
  std::vector<std::string> notes_;
};

}  // namespace foretrain::lab
