// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/language/adaptive_vocabulary.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Dim;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

namespace {

std::int64_t begin_of(const AdaptiveVocabulary& vocabulary, std::size_t cluster) {
  return cluster == 0 ? 0 : vocabulary.ends[cluster - 1];
}

std::int64_t size_of(const AdaptiveVocabulary& vocabulary, std::size_t cluster) {
  return vocabulary.ends[cluster] - begin_of(vocabulary, cluster);
}

std::int64_t width_of(const AdaptiveVocabulary& vocabulary, std::size_t cluster) {
  std::int64_t width = vocabulary.width;
  for (std::size_t i = 0; i < cluster; ++i) width /= vocabulary.divisor;
  return std::max<std::int64_t>(width, 1);
}

// H(n) = ln n + 0.5772 + 1 / (2 n), off by less than 1 / (8 n^2).
double harmonic(std::int64_t n) {
  if (n == 0) return 0;
  const auto x = static_cast<double>(n);
  return std::log(x) + 0.57721566490153286 + 1 / (2 * x);
}

// The tokens in the order of their clusters, cut apart; which they are, the data decide.
std::vector<TensorId> by_cluster(Builder& builder, TensorId tokens,
                                 const AdaptiveVocabulary& vocabulary) {
  std::vector<Dim> sizes;
  for (const std::int64_t size : tokens_per_cluster(vocabulary, builder.shape(tokens)[1].factor)) {
    sizes.emplace_back(size);
  }
  // Finding a cluster's tokens is a running sum over a mask.
  const TensorId order = builder.add(Kind::CumSum, {tokens}, Attributes{{Attr::Axis, {1}}});
  return builder.add_all(Kind::Split, {order},
                         Attributes{{Attr::Axis, {1}}, {Attr::Sizes, std::move(sizes)}});
}

TensorId rows(Builder& builder, TensorId table, std::int64_t begin, std::int64_t end) {
  return builder.add(Kind::Slice, {table},
                     Attributes{{Attr::Axis, {0}}, {Attr::Start, {begin}}, {Attr::End, {end}}});
}

TensorId flat(Builder& builder, TensorId x, std::vector<Dim> shape) {
  return builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, std::move(shape)}});
}

TensorId concat_rows(Builder& builder, TensorId a, TensorId b) {
  return builder.add(Kind::Concat, {a, b}, Attributes{{Attr::Axis, {0}}});
}

// Weights, biases and projection that predict one cluster.
class ClusterHead {
 public:
  ClusterHead(Builder& builder, const AdaptiveVocabulary& vocabulary, const AdaptiveTables& shared)
      : builder_(builder),
        vocabulary_(vocabulary),
        shared_(shared),
        whole_(vocabulary.divisor == 1) {
    cluster_weight_ = builder.parameter("cluster_weight", {kClusters - 1, vocabulary.width});
    cluster_bias_ = builder.parameter("cluster_bias", {kClusters - 1});
    if (whole_) bias_ = builder.parameter("out_layers_biases.0", {vocabulary.ends.back()});
    // The head's projection is its own, the others are those of the embedding.
    if (!whole_) {
      projection_ = builder.parameter("out_projs.0", {vocabulary.width, vocabulary.width});
    }
  }

  TensorId loss(std::size_t cluster, TensorId x, TensorId targets) {
    if (!whole_) {
      const TensorId projection = cluster == 0 ? projection_ : shared_.projections[cluster];
      x = builder_.add(Kind::MatMul, {x, projection});
    }
    TensorId weight = this->weight(cluster);
    TensorId bias = this->bias(cluster);
    if (cluster == 0) {
      weight = concat_rows(builder_, weight, cluster_weight_);
      bias = concat_rows(builder_, bias, cluster_bias_);
    }
    const TensorId logits = builder_.add(Kind::Linear, {x, weight, bias});
    if (cluster == 0) builder_.output(logits);
    return builder_.add(Kind::CrossEntropy, {logits, targets});
  }

 private:
  TensorId weight(std::size_t cluster) {
    if (!whole_) return shared_.tables[cluster];
    return rows(builder_, shared_.tables[0], begin_of(vocabulary_, cluster),
                vocabulary_.ends[cluster]);
  }

  TensorId bias(std::size_t cluster) {
    if (!whole_) {
      return builder_.parameter("out_layers_biases." + std::to_string(cluster),
                                {size_of(vocabulary_, cluster)});
    }
    return rows(builder_, bias_, begin_of(vocabulary_, cluster), vocabulary_.ends[cluster]);
  }

  Builder& builder_;
  const AdaptiveVocabulary& vocabulary_;
  const AdaptiveTables& shared_;
  bool whole_;
  TensorId cluster_weight_{};
  TensorId cluster_bias_{};
  TensorId bias_{};
  TensorId projection_{};
};

}  // namespace

std::array<std::int64_t, kClusters> tokens_per_cluster(const AdaptiveVocabulary& vocabulary,
                                                       std::int64_t seq) {
  const double all = harmonic(vocabulary.ends.back());
  std::array<std::int64_t, kClusters> tokens{};
  tokens[0] = seq;
  for (std::size_t i = 1; i < kClusters; ++i) {
    const double share = (harmonic(vocabulary.ends[i]) - harmonic(begin_of(vocabulary, i))) / all;
    tokens[i] = std::max<std::int64_t>(std::llround(share * static_cast<double>(seq)), 1);
    tokens[0] -= tokens[i];
  }
  return tokens;
}

TensorId embed_adaptively(Builder& builder, TensorId ids, const AdaptiveVocabulary& vocabulary,
                          AdaptiveTables& shared) {
  const Scope scope(builder, "word_emb");
  const Attributes inplace{{Attr::Inplace, {1}}};
  if (vocabulary.divisor == 1) {
    shared.tables.resize(1);
    const TensorId words = embed(builder, "emb_layers.0", ids, vocabulary.ends.back(),
                                 vocabulary.width, &shared.tables[0]);
    return builder.add(Kind::Scale, {words}, inplace);
  }
  shared.tables.resize(kClusters);
  const std::vector<TensorId> clusters = by_cluster(builder, ids, vocabulary);
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < kClusters; ++i) {
    const std::int64_t width = width_of(vocabulary, i);
    const TensorId words = embed(builder, "emb_layers." + std::to_string(i), clusters[i],
                                 size_of(vocabulary, i), width, &shared.tables[i]);
    shared.projections.push_back(
        builder.parameter("emb_projs." + std::to_string(i), {vocabulary.width, width}));
    parts.push_back(builder.add(Kind::Linear, {words, shared.projections[i]}));
  }
  const TensorId together = builder.add(Kind::Concat, parts, Attributes{{Attr::Axis, {1}}});
  return builder.add(Kind::Scale, {together}, inplace);
}

TensorId adaptive_loss(Builder& builder, TensorId x, TensorId targets,
                       const AdaptiveVocabulary& vocabulary, const AdaptiveTables& shared) {
  const Scope scope(builder, "crit");
  const TensorId all = flat(builder, x, {-1, vocabulary.width});
  const std::vector<TensorId> clusters = by_cluster(builder, targets, vocabulary);
  ClusterHead predictor(builder, vocabulary, shared);
  std::vector<TensorId> losses{predictor.loss(0, all, flat(builder, targets, {-1}))};
  for (std::size_t i = 1; i < kClusters; ++i) {
    const TensorId tokens = flat(builder, clusters[i], {-1});
    const TensorId some = builder.add(Kind::Gather, {all, tokens}, Attributes{{Attr::Axis, {0}}});
    losses.push_back(predictor.loss(i, some, tokens));
  }
  return builder.add(Kind::Add, losses);
}

}  // namespace foretrain::zoo
