// SPDX-License-Identifier: Apache-2.0
// For tests: hosts whose workers answer what a test says, without PyTorch. They are remote hosts
// that a shell on this machine reaches, so that they need no control group and no rights.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "foretrain/lab/hosts.h"
#include "foretrain/lab/workers.h"

namespace foretrain::lab {

class FakeWorker {
 public:
  // `code` is Python that defines answer(job): a dictionary, or an exception for a job that fails.
  // The greeting is answered here: machine `name`.
  explicit FakeWorker(const std::string& code, const std::string& name = "fake")
      : path_(std::filesystem::temp_directory_path() /
              ("foretrain-worker-" + std::to_string(std::random_device{}()) + ".py")) {
    std::ofstream(path_) << code << R"(
import json, sys
def hello():
    machine = {"name": ")"
                         << name << R"(", "cpu": "toy", "cores": 3, "memory_bytes": 4.0,
               "kernel": "6", "system": "none"}
    return {"pytorch": "2.x", "machine": machine}
sys.stdin.readline()  # the package
for line in sys.stdin:
    job = json.loads(line)
    try:
        result = {"ok": True, **(hello() if job["kind"] == "hello" else answer(job))}
    except Exception as error:
        result = {"ok": False, "error": str(error)}
    print(json.dumps({**result, "job": job["job"]}), flush=True)
)";
  }
  ~FakeWorker() { std::filesystem::remove(path_); }
  FakeWorker(const FakeWorker&) = delete;
  FakeWorker& operator=(const FakeWorker&) = delete;

  WorkerOptions options() const {
    WorkerOptions options;
    options.python = "python3 " + path_.string();
    return options;
  }

  static std::vector<RemoteHost> hosts(std::size_t count) {
    return std::vector<RemoteHost>(count, {{"sh", "-c"}, "127.0.0.1", "lo"});
  }

 private:
  std::filesystem::path path_;
};

}  // namespace foretrain::lab
