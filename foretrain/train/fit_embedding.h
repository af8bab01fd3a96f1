// SPDX-License-Identifier: Apache-2.0
// Learns the time of networks that were never run from measured runs of others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/embedding/law_terms.h"
#include "foretrain/knowledge/embedding_model.h"
#include "foretrain/train/divisions.h"
#include "foretrain/train/embedding_examples.h"
#include "foretrain/train/fit_scaling.h"
#include "foretrain/train/regression.h"

namespace foretrain::train {

// PredictDDL's regressors: linear, polynomial of degree 2, SVR, MLP; and boosted trees.
enum class EmbeddingMethod { Linear, Polynomial, Svr, Xgboost, Mlp };
std::span<const EmbeddingMethod> all_embedding_methods();
std::string_view name_of(EmbeddingMethod method);  // "linear", ...
std::optional<EmbeddingMethod> embedding_method_named(std::string_view name);

// Which features the regressor sees; the batch, the cluster and words are always among them.
struct FeatureUse {
  bool embedding = true;
  // FLOPs, bytes, parameters, and their shares of the time by datasheets: these, or all.
  std::optional<std::vector<std::string>> counts{};
};

struct EmbeddingFit {
  bool residual = false;
  bool law = true;  // plain: the ratio to a law of the counts, else the time itself
  std::vector<embedding::LawTerm> law_terms{};  // as `with_law` chooses them; empty: for all alike
  std::vector<EmbeddingMethod> methods{};       // the best of these; empty: of all
  FeatureUse use{};
  std::size_t folds = 10;  // of families
  double confidence = 0.9;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: as many as the machine has; results do not depend on it
};

// A method with its hyper-parameters, and how well it does on families left out.
struct EmbeddingScore {
  EmbeddingMethod method = EmbeddingMethod::Linear;
  Setting setting{};
  double error = 0;  // mean |predicted / measured - 1|
};
std::string text_of(const EmbeddingScore& score);  // "svr, cost 10"

// The features of examples as a table, and which fold each is in.
struct EmbeddingTable {
  std::vector<std::string> names{};
  std::vector<std::vector<double>> rows{};
};
EmbeddingTable table_of(const EmbeddingData& data);

// Those of `which` that are of `count` networks, which the seed draws; more networks hold the
// fewer.
std::vector<std::size_t> some_networks(const EmbeddingData& data,
                                       const std::vector<std::size_t>& which, std::size_t count,
                                       std::uint64_t seed);

// Families (or networks) in folds of about as many examples each; which one the seed says.
std::vector<std::size_t> family_folds(const std::vector<EmbeddingExample>& examples,
                                      const std::vector<std::size_t>& which, std::size_t folds,
                                      std::uint64_t seed, bool by_network = false);

struct FittedForm {
  std::vector<std::size_t> columns{};  // of the table that its map counts
  std::vector<embedding::LawTerm> law_terms{};
  EmbeddingForm form{};
};
// The options with the `law_terms` that `choose_law` finds by families of `which`.
EmbeddingFit with_law(const EmbeddingData& data, const std::vector<std::size_t>& which,
                      EmbeddingFit options);
// Fits to the examples `which`.
FittedForm fit_form(const EmbeddingData& data, const EmbeddingTable& table,
                    const std::vector<std::size_t>& which, const EmbeddingFit& options,
                    const Setting& setting);
double predict_s(const FittedForm& fitted, const EmbeddingData& data, const EmbeddingTable& table,
                 std::size_t example, const EmbeddingFit& options);

// Every method with its best setting by folds of the families of `which`, the best first.
std::vector<EmbeddingScore> compare_methods(const EmbeddingData& data, const EmbeddingTable& table,
                                            const std::vector<std::size_t>& which,
                                            const EmbeddingFit& options);

// The best method on all examples that are no test, with an interval and a domain by families left
// out. `found` hears how well each method did. The same data and options give the same model.
// Throws Error(BadInput) where there are fewer than three families.
EmbeddingModel fit_embedding(const EmbeddingData& data, const EmbeddingFit& wanted,
                             std::vector<EmbeddingScore>& found);

}  // namespace foretrain::train
