// SPDX-License-Identifier: Apache-2.0
// AlexNet on one device (Krizhevsky, arXiv:1404.5997, 2014), as in torchvision.
#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Scope;
using graph::TensorId;

TensorId features(Builder& b, TensorId x) {
  const Scope scope(b, "features");
  const Pool pool{.kernel = 3, .stride = 2};
  x = conv(b, "0", x, {.channels = 64, .kernel = 11, .stride = 4, .padding = 2, .bias = true});
  x = max_pool(b, "2", relu(b, "1", x), pool);
  x = conv(b, "3", x, {.channels = 192, .kernel = 5, .padding = 2, .bias = true});
  x = max_pool(b, "5", relu(b, "4", x), pool);
  x = conv(b, "6", x, {.channels = 384, .kernel = 3, .padding = 1, .bias = true});
  x = conv(b, "8", relu(b, "7", x), {.channels = 256, .kernel = 3, .padding = 1, .bias = true});
  x = conv(b, "10", relu(b, "9", x), {.channels = 256, .kernel = 3, .padding = 1, .bias = true});
  return max_pool(b, "12", relu(b, "11", x), pool);
}

TensorId classifier(Builder& b, TensorId x, std::int64_t classes) {
  const Scope scope(b, "classifier");
  x = relu(b, "2", linear(b, "1", dropout(b, "0", x), 4096));
  x = relu(b, "5", linear(b, "4", dropout(b, "3", x), 4096));
  return linear(b, "6", x, classes);
}

graph::Graph build_alexnet(Spec& spec) {
  Builder b(spec.name());
  TensorId x = features(b, images(b, spec, 224, 63));
  x = flatten(b, adaptive_avg_pool(b, "avgpool", x, 6));
  return finish_classifier(b, classifier(b, x, classes(spec, 1000)));
}

}  // namespace

std::vector<Entry> alexnet_entries() {
  return {
      {{"alexnet", "AlexNet", "five convolutions, three linear layers", "image=224, classes=1000"},
       build_alexnet}};
}

}  // namespace foretrain::zoo
