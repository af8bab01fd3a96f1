// SPDX-License-Identifier: Apache-2.0
// What the embedding engine learns from: measured jobs beside what is known of them before they
// run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/embedding/job_features.h"
#include "foretrain/knowledge/library.h"
#include "foretrain/knowledge/scaling_model.h"

namespace foretrain::train {

// One request with every time that was measured of it.
struct EmbeddingExample {
  std::string model{};     // the measurement's word
  std::string family{};    // that is left out as a whole
  std::string metric{};    // the word of the tables: "step_time, NHWC"
  std::string split{};     // "test": no fit learns from it
  std::string workload{};  // the model and its devices: what Ernest has a law of
  embedding::EmbeddedModel network{};
  embedding::JobFeatures job{};
  double operators_s = 0;  // that engine's time, with a job's start-up; 0 where it was not asked
  double samples = 0;      // that the time is for
  int workers = 1;
  std::vector<double> measured_s{};
  double time_s = 0;  // geometric mean of these
};

struct EmbeddingData {
  TimeOf time = TimeOf::Step;
  embedding::Embedding embedding{};
  bool with_operators = false;
  std::vector<EmbeddingExample> examples{};
  std::size_t rows = 0;
  std::size_t skipped = 0;  // rows that cannot be predicted
  std::string reason{};     // of the first of these
};

struct EmbeddingSource {
  std::filesystem::path data{};       // a store, a folder, a file: measured/open_tables.h
  std::filesystem::path models{};     // the folder that relative names of model files are in
  std::filesystem::path families{};   // a CSV file with the columns model and family
  std::filesystem::path embedding{};  // another than the one that is built in, for comparisons
  bool by_model = false;              // every model is a family of its own
  TimeOf time = TimeOf::Step;
  bool with_operators = false;
  int threads = 0;
};

// Throws Error: NotFound where no row is left, with the reason; what readers throw.
EmbeddingData read_embedding_data(const EmbeddingSource& source, const Library& library);

// A line for each example, with every feature: for experiments.
std::string embedding_examples_csv(const EmbeddingData& data);

}  // namespace foretrain::train
