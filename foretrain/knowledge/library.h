// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "foretrain/comm/constants.h"
#include "foretrain/comm/exchange_costs.h"
#include "foretrain/cost/constants.h"
#include "foretrain/cost/framework.h"
#include "foretrain/cost/straggling.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/graph.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/knowledge/calibration.h"
#include "foretrain/knowledge/inspector_model.h"
#include "foretrain/knowledge/intervals.h"
#include "foretrain/knowledge/memory_intervals.h"
#include "foretrain/memory/context.h"

namespace foretrain {

struct EmbeddingModel;
struct ScalingModel;
struct StageSteps;

// One step of a model, prepared for every batch size: the graph with its symbols, and what
// does not depend on their values.
struct Step {
  graph::Graph graph;
  std::vector<graph::ParameterGradient> gradients;  // in the order in which they are ready
  std::int64_t parameters = 0;
  double tokens_per_sample = 0;                // 0: the model does not read tokens
  std::shared_ptr<const StageSteps> pipeline;  // of a model that is cut; `graph` is empty then
};

// The steps of a pipeline's stages.
struct StageSteps {
  struct Shared {
    double bytes = 0;         // of a parameter that several stages have
    std::vector<int> stages;  // which
  };
  std::vector<std::shared_ptr<const Step>> steps;  // of each stage; those that are alike are one
  std::vector<Shared> shared;
};

// A bounded cache of prepared steps by their key; the oldest unused one goes first.
class StepCache {
 public:
  std::shared_ptr<const Step> find(const std::string& key);
  void insert(const std::string& key, std::shared_ptr<const Step> step);

 private:
  using Order = std::list<std::string>;
  struct Entry {
    std::shared_ptr<const Step> step;
    Order::iterator place;
  };

  static constexpr std::size_t kMostNodes = 2'000'000;  // over all entries, about 1 GB

  std::mutex mutex_;
  Order order_;  // newest first
  std::unordered_map<std::string, Entry> entries_;
  std::size_t nodes_ = 0;
};

// What a file of data/predictors/ or of `foretrain fit` holds: one of these. An inspector brings
// its calibration along.
struct Predictor {
  std::shared_ptr<const cost::OperatorModel> operators;
  std::shared_ptr<const comm::Constants> collectives;
  std::shared_ptr<const comm::ExchangeCosts> exchange;
  std::shared_ptr<const cost::Straggling> straggling;
  std::shared_ptr<const memory::ContextBytes> memory_context;
  std::optional<Calibration> calibration;
  std::vector<cost::Framework> frameworks;
  std::shared_ptr<const Intervals> intervals;
  std::shared_ptr<const MemoryIntervals> memory_intervals;
  std::shared_ptr<const InspectorModel> inspector;
  std::shared_ptr<const ScalingModel> scaling;
  std::shared_ptr<const EmbeddingModel> embedding;
  std::string format;         // what the file says it is
  std::uint64_t content = 0;  // its digest
};

// Which constants predictions rest on: the digest of each file by its format. Intervals,
// inspectors, scaling and embedding models rest on these themselves, so they do not count.
class ConstantsInUse {
 public:
  void put(const Predictor& predictor);
  std::string text() const;  // one digest of all

 private:
  std::map<std::string, std::uint64_t> digests_;
};

// Predictors by what tells their files apart, which a name does not: device, inode, size and times.
// A file that is rewritten, replaced or gone is not answered from what it was.
class PredictorCache {
 public:
  // Throws as read_predictor.
  std::shared_ptr<const Predictor> read(const std::string& path);

 private:
  static constexpr std::size_t kMost = 64;

  std::shared_ptr<const Predictor> find(const std::string& identity);
  void insert(const std::string& identity, std::shared_ptr<const Predictor> predictor);

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Predictor>> predictors_;
};

// What engines work out of a model alone, by a key that tells which and of what. Emptied when full.
class ModelCache {
 public:
  // The value of type T of the key; null where there is none.
  template <typename T>
  std::shared_ptr<const T> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end()) return nullptr;
    const auto* known = std::any_cast<std::shared_ptr<const T>>(&found->second);
    return known == nullptr ? nullptr : *known;
  }
  template <typename T>
  void insert(const std::string& key, std::shared_ptr<const T> value) {
    const std::lock_guard lock(mutex_);
    if (values_.size() >= kMost) values_.clear();
    values_.insert_or_assign(key, std::move(value));
  }

 private:
  static constexpr std::size_t kMost = 10'000;

  std::mutex mutex_;
  std::unordered_map<std::string, std::any> values_;
};

// What is known, passed to every prediction. Many threads may predict with one.
struct Library {
  hw::Catalog catalog;
  std::shared_ptr<const cost::OperatorModel> operators;
  std::shared_ptr<const comm::Constants> collectives;
  std::shared_ptr<const comm::ExchangeCosts> exchange;
  std::shared_ptr<const cost::Straggling> straggling;
  std::shared_ptr<const memory::ContextBytes> memory_context;
  std::vector<Calibration> calibrations;  // of the devices that were measured
  std::vector<cost::Framework> frameworks;
  std::shared_ptr<const Intervals> intervals;
  std::shared_ptr<const MemoryIntervals> memory_intervals;
  std::shared_ptr<const InspectorModel> inspector;  // absent where none was given
  std::shared_ptr<const ScalingModel> scaling;      // likewise
  std::shared_ptr<const EmbeddingModel> embedding;  // likewise
  ConstantsInUse constants;
  bool read_files = true;  // whether a request may name files; a server says no
  std::unique_ptr<StepCache> steps;
  std::unique_ptr<PredictorCache> predictors;
  std::unique_ptr<ModelCache> models;
};

// What is shipped: the files of data/ that the build embedded.
Library load_library();

// The same knowledge with caches of its own.
Library copy_of(const Library& library);

// Reads a file of data/predictors/, or what `foretrain fit` wrote. Throws Error: Io, BadInput.
Predictor read_predictor(const std::string& path);
Predictor parse_predictor(std::string_view text, const std::string& where);

// From now on every prediction uses it.
void use(Library& library, const Predictor& predictor);

}  // namespace foretrain
