// SPDX-License-Identifier: Apache-2.0
// VGG (Simonyan, Zisserman, ICLR 2015), with and without batch norm, as in torchvision.
#include <algorithm>
#include <array>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Scope;
using graph::TensorId;

struct Row {
  int layers;
  std::array<int, 5> convs;  // between two poolings
};

constexpr std::array kRows{
    Row{11, {1, 1, 2, 2, 2}},
    Row{13, {2, 2, 2, 2, 2}},
    Row{16, {2, 2, 3, 3, 3}},
    Row{19, {2, 2, 4, 4, 4}},
};

constexpr const char* kNormEnding = "_bn";

std::string row_name(const Row& row) { return "vgg" + std::to_string(row.layers); }

TensorId features(Builder& b, TensorId x, const Row& row, bool norm) {
  const Scope scope(b, "features");
  int index = 0;
  const auto next = [&index] { return std::to_string(index++); };
  std::int64_t width = 64;
  for (const int convs : row.convs) {
    for (int i = 0; i < convs; ++i) {
      x = conv(b, next(), x, {.channels = width, .kernel = 3, .padding = 1, .bias = true});
      if (norm) x = batch_norm(b, next(), x);
      x = relu(b, next(), x);
    }
    x = max_pool(b, next(), x, {});
    width = std::min<std::int64_t>(2 * width, 512);
  }
  return x;
}

TensorId classifier(Builder& b, TensorId x, std::int64_t classes) {
  const Scope scope(b, "classifier");
  x = dropout(b, "2", relu(b, "1", linear(b, "0", x, 4096)));
  x = dropout(b, "5", relu(b, "4", linear(b, "3", x, 4096)));
  return linear(b, "6", x, classes);
}

graph::Graph build_vgg(Spec& spec) {
  const bool norm = spec.name().ends_with(kNormEnding);
  const Row& row = *std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) {
    return spec.name() == row_name(r) + (norm ? kNormEnding : "");
  });
  Builder b(spec.name());
  TensorId x = features(b, images(b, spec, 224, 32), row, norm);
  x = flatten(b, adaptive_avg_pool(b, "avgpool", x, 7));
  return finish_classifier(b, classifier(b, x, classes(spec, 1000)));
}

}  // namespace

std::vector<Entry> vgg_entries() {
  std::vector<Entry> entries;
  for (const char* ending : {"", kNormEnding}) {
    for (const Row& row : kRows) {
      const std::string about = "VGG, " + std::to_string(row.layers) + " layers" +
                                (*ending == '\0' ? "" : ", batch norm after each convolution");
      entries.push_back(
          {{row_name(row) + ending, "VGG", about, "image=224, classes=1000"}, build_vgg});
    }
  }
  return entries;
}

}  // namespace foretrain::zoo
