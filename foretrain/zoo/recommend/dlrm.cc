// SPDX-License-Identifier: Apache-2.0
// DLRM, click prediction from 13 numbers and 26 categories of the Criteo Terabyte logs. `dlrm`
// is MLPerf's, whose tables have up to 40 million rows, `dlrm-small` NVIDIA's with categories
// that occur fewer than 15 times left out. All tables are one, looked up once, as NVIDIA's joint
// embedding does.
// Source: Naumov et al., arXiv 1906.00091; facebookresearch/dlrm, run_and_time.sh; NVIDIA
// DeepLearningExamples, PyTorch/Recommendation/DLRM.
#include <algorithm>
#include <array>
#include <numeric>
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
constexpr std::int64_t kTables = 26;

using Rows = std::array<std::int64_t, kTables>;

constexpr Rows kMlperf{39884406, 39043,    17289,    7420,     20263,  3,     7120, 1543, 63,
                       38532951, 2953546,  403346,   10,       2208,   11938, 155,  4,    976,
                       14,       39979771, 25641295, 39664984, 585935, 12972, 108,  36};
constexpr Rows kFrequent{7912889, 33823,   17139,   7339,    20046,  4,     7105, 1382, 63,
                         5554114, 582469,  245828,  11,      2209,   10667, 104,  4,    968,
                         15,      8165896, 2675940, 7156453, 302516, 12022, 97,   35};

// Layers with ReLU between them; modules 0, 2, 4, ...
TensorId tower(Builder& builder, const std::string& name, TensorId x,
               const std::vector<std::int64_t>& widths) {
  const Scope scope(builder, name);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    x = linear(builder, std::to_string(2 * i), x, widths[i]);
    if (widths[i] > 1) x = relu(builder, std::to_string(2 * i + 1), x);
  }
  return x;
}

// Products of every pair of vectors, [batch, pairs], after the numbers' own vector and padded
// with zeros to a multiple of 8: x is [batch, vectors, width].
TensorId interact(Builder& builder, TensorId numbers, TensorId x) {
  const Scope scope(builder, "interaction");
  const std::int64_t vectors = kTables + 1;
  const std::int64_t pairs = vectors * (vectors - 1) / 2;
  const std::int64_t width = builder.shape(x)[2].factor;
  const TensorId products = builder.add(Kind::MatMul, {x, x}, Attributes{{Attr::TransposeB, {1}}});
  const TensorId flat =
      builder.add(Kind::Reshape, {products}, Attributes{{Attr::Shape, {0, vectors * vectors}}});
  const TensorId below = builder.buffer("below_diagonal", {pairs}, DType::I64);
  const TensorId chosen = builder.add(Kind::Gather, {flat, below}, Attributes{{Attr::Axis, {1}}});
  const TensorId all = builder.add(Kind::Concat, {numbers, chosen}, Attributes{{Attr::Axis, {1}}});
  const std::int64_t padding = (8 - (width + pairs) % 8) % 8;
  if (padding == 0) return all;
  return builder.add(Kind::Pad, {all}, Attributes{{Attr::Padding, {0, 0, 0, padding}}});
}

graph::Graph build_model(Spec& spec, const Rows& rows) {
  const std::int64_t width = spec.take("dim", 128, 1, 65536);
  const std::int64_t most = spec.take("most_rows", 40000000, 1, std::int64_t{1} << 32);
  const std::int64_t total =
      std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                      [most](std::int64_t sum, std::int64_t n) { return sum + std::min(n, most); });
  Builder builder(spec.name());
  const TensorId numbers = builder.input("numerical", {builder.batch(), kNumbers});
  const TensorId categories =
      builder.input("categorical", {builder.batch() * graph::Dim(kTables)}, DType::I64);
  const TensorId dense = tower(builder, "bottom_model.mlp", numbers, {512, 256, width});
  const TensorId looked_up = embed(builder, "bottom_model.embeddings", categories, total, width);
  const TensorId vectors = builder.add(Kind::Reshape, {looked_up},
                                       Attributes{{Attr::Shape, {builder.batch(), kTables, -1}}});
  const TensorId own = builder.add(Kind::Reshape, {dense}, Attributes{{Attr::Shape, {0, 1, -1}}});
  const TensorId all = builder.add(Kind::Concat, {own, vectors}, Attributes{{Attr::Axis, {1}}});
  const TensorId x = interact(builder, dense, all);
  const TensorId column = tower(builder, "top_model.mlp", x, {1024, 1024, 512, 256, 1});
  const TensorId click = builder.add(Kind::Reshape, {column}, Attributes{{Attr::Shape, {-1}}});
  builder.output(click);
  builder.note("the gradient of the tables is dense: as large as they are");
  builder.loss(
      builder.add(Kind::PointwiseLoss, {click, builder.input("click", {builder.batch()})}));
  return builder.finish();
}

graph::Graph build_mlperf(Spec& spec) { return build_model(spec, kMlperf); }
graph::Graph build_small(Spec& spec) { return build_model(spec, kFrequent); }

}  // namespace

std::vector<Entry> dlrm_entries() {
  const std::string parameters = "dim=128, most_rows=40000000";
  return {
      {{"dlrm", "DLRM", "click prediction, Criteo Terabyte, 26 tables as in MLPerf", parameters},
       build_mlperf},
      {{"dlrm-small", "DLRM", "click prediction, Criteo Terabyte, NVIDIA's small tables",
        parameters},
       build_small}};
}

}  // namespace foretrain::zoo
