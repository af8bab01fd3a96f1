// SPDX-License-Identifier: Apache-2.0
#include "foretrain/knowledge/library.h"

#include "foretrain/base/digest.h"
#include "foretrain/base/embedded.h"
#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json.h"
#include "foretrain/base/json_peek.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_file.h"
#include "foretrain/cost/framework_file.h"
#include "foretrain/hw/load_catalog.h"
#include "foretrain/knowledge/embedding_model.h"
#include "foretrain/knowledge/replay_format.h"
#include "foretrain/knowledge/scaling_model.h"

namespace foretrain {

extern const std::span<const EmbeddedFile> kPredictorFiles;

namespace {

std::size_t nodes_of(const Step& step) {
  std::size_t nodes = step.graph.nodes.size();
  if (!step.pipeline) return nodes;
  const Step* before = nullptr;
  for (const auto& stage : step.pipeline->steps) {  // those that are alike are mostly neighbours
    if (stage.get() != before) nodes += stage->graph.nodes.size();
    before = stage.get();
  }
  return nodes;
}

}  // namespace

std::shared_ptr<const Step> StepCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second.place);
  return found->second.step;
}

void StepCache::insert(const std::string& key, std::shared_ptr<const Step> step) {
  const std::lock_guard lock(mutex_);
  if (entries_.contains(key)) return;
  nodes_ += nodes_of(*step);
  order_.push_front(key);
  entries_.emplace(key, Entry{std::move(step), order_.begin()});
  while (nodes_ > kMostNodes && order_.size() > 1) {
    const auto oldest = entries_.find(order_.back());
    nodes_ -= nodes_of(*oldest->second.step);
    entries_.erase(oldest);
    order_.pop_back();
  }
}

void ConstantsInUse::put(const Predictor& predictor) {
  if (predictor.intervals || predictor.memory_intervals || predictor.inspector ||
      predictor.scaling || predictor.embedding) {
    return;
  }
  // A later calibration or framework adds to those before it; of the rest it takes their place.
  const bool adds = predictor.calibration || !predictor.frameworks.empty();
  std::uint64_t& known = digests_[predictor.format];
  known = adds ? digest(digest_text(known) + digest_text(predictor.content)) : predictor.content;
}

std::string ConstantsInUse::text() const {
  std::string all;
  for (const auto& [format, content] : digests_) all += format + " " + digest_text(content) + "\n";
  return digest_text(digest(all));
}

Library load_library() {
  Library library;
  library.catalog = hw::load_catalog();
  for (const EmbeddedFile& file : kPredictorFiles) {
    use(library, parse_predictor(file.text, std::string(file.name)));
  }
  library.steps = std::make_unique<StepCache>();
  library.predictors = std::make_unique<PredictorCache>();
  library.models = std::make_unique<ModelCache>();
  return library;
}

Library copy_of(const Library& library) {
  Library copy;
  copy.catalog = library.catalog;
  copy.operators = library.operators;
  copy.collectives = library.collectives;
  copy.exchange = library.exchange;
  copy.straggling = library.straggling;
  copy.memory_context = library.memory_context;
  copy.calibrations = library.calibrations;
  copy.frameworks = library.frameworks;
  copy.intervals = library.intervals;
  copy.memory_intervals = library.memory_intervals;
  copy.inspector = library.inspector;
  copy.scaling = library.scaling;
  copy.embedding = library.embedding;
  copy.constants = library.constants;
  copy.read_files = library.read_files;
  copy.steps = std::make_unique<StepCache>();
  copy.predictors = std::make_unique<PredictorCache>();
  copy.models = std::make_unique<ModelCache>();
  return copy;
}

namespace {

// What the file says it is.
std::string format_of(std::string_view text, const std::string& where) {
  if (auto format = peek_text(text, "format")) return std::move(*format);
  const Json file = parse_json(text, where);
  return JsonFields(file, where).required_text("format");
}

}  // namespace

Predictor read_predictor(const std::string& path) {
  constexpr std::uintmax_t kLargest = 1 << 24;
  Predictor predictor = parse_predictor(read_file(path, kLargest), named(path));
  if (predictor.format == kReplayFormat) {
    throw Error(ErrorKind::Unsupported,
                named(path) +
                    ": a replay's numbers are used by a program that is built with them: "
                    "put the file in data/predictors and fit inspectors anew");
  }
  return predictor;
}

Predictor parse_predictor(std::string_view text, const std::string& where) {
  const std::string format = format_of(text, where);
  const auto says = [&](std::string_view one) { return format == one; };
  Predictor predictor;
  predictor.format = format;
  predictor.content = digest(text);
  if (says(kCalibrationFormat)) {
    predictor.calibration = read_calibration(text, where);
  } else if (says(cost::kFrameworksFormat)) {
    predictor.frameworks = cost::read_frameworks(text, where);
  } else if (says(comm::kCollectivesFormat)) {
    predictor.collectives =
        std::make_shared<const comm::Constants>(comm::read_constants(text, where));
  } else if (says(kIntervalsFormat)) {
    predictor.intervals = std::make_shared<const Intervals>(read_intervals(text, where));
  } else if (says(kMemoryIntervalsFormat)) {
    predictor.memory_intervals =
        std::make_shared<const MemoryIntervals>(read_memory_intervals(text, where));
  } else if (says(kInspectorFormat)) {
    predictor.inspector = std::make_shared<const InspectorModel>(read_inspector(text, where));
    predictor.calibration = predictor.inspector->calibration;
  } else if (says(kScalingFormat)) {
    predictor.scaling = std::make_shared<const ScalingModel>(read_scaling(text, where));
  } else if (says(kEmbeddingModelFormat)) {
    predictor.embedding = std::make_shared<const EmbeddingModel>(read_embedding_model(text, where));
  } else if (says(comm::kExchangeFormat)) {
    predictor.exchange =
        std::make_shared<const comm::ExchangeCosts>(comm::read_exchange_costs(text, where));
  } else if (says(cost::kStragglingFormat)) {
    predictor.straggling =
        std::make_shared<const cost::Straggling>(cost::read_straggling(text, where));
  } else if (says(memory::kContextFormat)) {
    predictor.memory_context =
        std::make_shared<const memory::ContextBytes>(memory::read_context_bytes(text, where));
  } else if (says(kReplayFormat)) {
    read_number_file(text, where, kReplayFormat);  // the inspector's own; see replay_format.h
  } else if (says(cost::kOperatorsFormat)) {
    const cost::Constants constants = cost::read_constants(text, where);
    predictor.operators =
        std::make_shared<const cost::OperatorModel>(cost::make_operator_model(constants));
  } else {
    throw Error(ErrorKind::BadInput, where + ": 'format' is '" + printable(format) +
                                         "', which is no predictor; `foretrain fit` writes them");
  }
  return predictor;
}

void use(Library& library, const Predictor& predictor) {
  if (predictor.operators) library.operators = predictor.operators;
  if (predictor.collectives) library.collectives = predictor.collectives;
  if (predictor.exchange) library.exchange = predictor.exchange;
  if (predictor.straggling) library.straggling = predictor.straggling;
  if (predictor.memory_context) library.memory_context = predictor.memory_context;
  if (predictor.calibration) library.calibrations.push_back(*predictor.calibration);
  for (const cost::Framework& one : predictor.frameworks) cost::put(one, library.frameworks);
  if (predictor.intervals) library.intervals = predictor.intervals;
  if (predictor.memory_intervals) library.memory_intervals = predictor.memory_intervals;
  if (predictor.inspector) library.inspector = predictor.inspector;
  if (predictor.scaling) library.scaling = predictor.scaling;
  if (predictor.embedding) library.embedding = predictor.embedding;
  library.constants.put(predictor);
}

}  // namespace foretrain
