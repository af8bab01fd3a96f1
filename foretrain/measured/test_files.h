// SPDX-License-Identifier: Apache-2.0
// Files that tests make: a folder that goes with the test, and invented measurements.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace foretrain::measured {

class TestFolder {
 public:
  TestFolder() {
    std::string name = std::filesystem::temp_directory_path() / "foretrain-evaluate-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline const std::string kTrainingHeader =
    "source,framework,model,task_dataset,gpu,gpus,nodes,gpus_per_node,interconnect,precision,"
    "batch_per_gpu,global_batch,metric,value,unit,parallelism,notes\n";

// A line of a training file.
inline std::string measurement_line(const std::string& model, const std::string& gpu,
                                    const std::string& metric, const std::string& value) {
  return "made,framework," + model + ",data," + gpu + ",2,1,2,n/a,FP32,4,8," + metric + "," +
         value + ",s,ddp,none\n";
}

// A whole training file of one line.
inline std::string measurement(const std::string& model, const std::string& gpu,
                               const std::string& metric, const std::string& value) {
  return kTrainingHeader + measurement_line(model, gpu, metric, value);
}

}  // namespace foretrain::measured
