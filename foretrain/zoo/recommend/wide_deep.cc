// SPDX-License-Identifier: Apache-2.0
// Wide & Deep, click prediction on Outbrain, as NVIDIA's DeepLearningExamples run it: a linear
// model of 13 categories and 13 numbers beside five layers over the categories' embeddings.
// Source: Cheng et al., DLRS 2016; NVIDIA DeepLearningExamples, TensorFlow2/Recommendation/
// WideAndDeep, data/outbrain/features.py (first release) and trainer/model/widedeep.py.
#include <string>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr std::int64_t kNumbers = 13;

struct Category {
  const char* name;
  std::int64_t rows;
  std::int64_t width;
};

constexpr Category kCategories[] = {
    {"ad_id", 250000, 128},
    {"document_id", 300000, 128},
    {"platform", 4, 19},
    {"document_id_promo", 100000, 128},
    {"campaign_id", 5000, 128},
    {"advertiser_id", 2500, 64},
    {"source_id", 4000, 64},
    {"geo_location", 2500, 64},
    {"geo_location_country", 300, 64},
    {"geo_location_state", 2000, 64},
    {"publisher_id", 1000, 64},
    {"source_id_promo", 4000, 64},
    {"publisher_id_promo", 1000, 64},
};

// One weight per category's value and number, added up.
TensorId wide(Builder& builder, TensorId numbers, const std::vector<TensorId>& categories) {
  const Scope scope(builder, "wide_linear");
  const TensorId weight = builder.parameter("numbers", {1, kNumbers});
  std::vector<TensorId> terms{
      builder.add(Kind::Linear, {numbers, weight, builder.parameter("bias", {1})})};
  for (std::size_t i = 0; i < categories.size(); ++i) {
    terms.push_back(embed(builder, kCategories[i].name, categories[i], kCategories[i].rows, 1));
  }
  return builder.add(Kind::Add, terms);
}

TensorId deep(Builder& builder, TensorId numbers, const std::vector<TensorId>& categories,
              std::int64_t layers, std::int64_t hidden) {
  const Scope scope(builder, "deep");
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const Category& category = kCategories[i];
    parts.push_back(embed(builder, category.name, categories[i], category.rows, category.width));
  }
  parts.push_back(numbers);
  TensorId x = builder.add(Kind::Concat, parts, Attributes{{Attr::Axis, {1}}});
  for (std::int64_t i = 0; i < layers; ++i) {
    x = linear(builder, "dense_" + std::to_string(i), x, hidden);
    x = dropout(builder, "", builder.add(Kind::Relu, {x}));
  }
  return linear(builder, "out", x, 1);
}

graph::Graph build_wide_deep(Spec& spec) {
  const std::int64_t layers = spec.take("layers", 5, 1, kMostLayers);
  const std::int64_t hidden = spec.take("hidden", 1024, 1, 65536);
  Builder builder(spec.name());
  const TensorId numbers = builder.input("numeric", {builder.batch(), kNumbers});
  std::vector<TensorId> categories;
  for (const Category& category : kCategories) {
    categories.push_back(builder.input(category.name, {builder.batch()}, DType::I64));
  }
  const TensorId sum = builder.add(Kind::Add, {wide(builder, numbers, categories),
                                               deep(builder, numbers, categories, layers, hidden)});
  const TensorId click = builder.add(
      Kind::Sigmoid, {builder.add(Kind::Reshape, {sum}, Attributes{{Attr::Shape, {-1}}})});
  builder.output(click);
  builder.loss(
      builder.add(Kind::PointwiseLoss, {click, builder.input("clicked", {builder.batch()})}));
  return builder.finish();
}

}  // namespace

std::vector<Entry> wide_deep_entries() {
  return {{{"wide_deep", "Wide & Deep", "click prediction on Outbrain, five layers of 1024",
            "layers=5, hidden=1024"},
           build_wide_deep}};
}

}  // namespace foretrain::zoo
