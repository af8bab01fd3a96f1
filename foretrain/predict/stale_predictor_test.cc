// SPDX-License-Identifier: Apache-2.0
// Predictions follow the files that they name, whatever was read under the same name before.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "foretrain/base/error.h"
#include "foretrain/base/output_file.h"
#include "foretrain/knowledge/calibration.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

namespace fs = std::filesystem;

class StalePredictor : public testing::Test {
 protected:
  StalePredictor() { fs::create_directory(folder_); }
  ~StalePredictor() override { fs::remove_all(folder_); }

  // A t4 that computes `factor` times as fast.
  void write(const fs::path& file, double factor) const {
    OutputFile output(file);
    output.write(write_calibration({"t4", factor, factor, 1, 1}, {}));
    output.commit();
  }

  double step(const fs::path& file) const {
    Request request;
    request.model = "mlp";
    request.device = Described{"t4", false};
    request.batch = 4096;
    request.predictors = {file.string()};
    return predict(request, library_).step_time_s.value;
  }

  // So old that the time of its change says which one it is.
  static void age() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }

  fs::path folder_ =
      fs::temp_directory_path() / ("foretrain-" + std::to_string(std::random_device{}()));
  Library library_ = load_library();
};

TEST_F(StalePredictor, IsReadAgainWhereTheFileChanged) {
  const fs::path file = folder_ / "a.json";
  write(file, 1);
  const double slow = step(file);
  write(file, 2);
  EXPECT_LT(step(file), slow);  // at once
  age();
  const double fast = step(file);
  EXPECT_EQ(step(file), fast);
  write(file, 1);
  EXPECT_EQ(step(file), slow);
  fs::remove(file);
  EXPECT_THROW(step(file), Error);
}

TEST_F(StalePredictor, IsThatOfTheCurrentFolder) {
  for (const char* folder : {"a", "b"}) fs::create_directory(folder_ / folder);
  write(folder_ / "a/p.json", 1);
  write(folder_ / "b/p.json", 2);
  age();
  const fs::path before = fs::current_path();
  fs::current_path(folder_ / "a");
  const double slow = step("p.json");
  fs::current_path(folder_ / "b");
  const double fast = step("p.json");
  fs::current_path(before);
  EXPECT_LT(fast, slow);
}

// Eight threads predict while one replaces the file: every answer is that of one file or the other.
TEST_F(StalePredictor, ManyThreadsMayPredictWhileItIsReplaced) {
  const fs::path file = folder_ / "a.json";
  std::set<double> allowed;
  for (const double factor : {1.0, 2.0}) {
    write(file, factor);
    allowed.insert(step(file));
  }
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) wrong += allowed.contains(step(file)) ? 0 : 1;
    });
  }
  std::thread writer([&] {
    for (int round = 0; !done; ++round) {
      write(file, 1 + round % 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  writer.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace foretrain
