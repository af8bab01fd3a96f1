// SPDX-License-Identifier: Apache-2.0
// GoogLeNet (Szegedy et al., CVPR 2015), as in torchvision: with batch norm, 3x3 convolutions
// where the paper has 5x5, and two auxiliary classifiers that take part in training only.
#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr Pool kHalving{.kernel = 3, .stride = 2, .ceil_mode = true};
constexpr Pool kSame{.kernel = 3, .stride = 1, .padding = 1, .ceil_mode = true};

// Channels of a module's branches; those of the second and third are reduced first.
struct Module {
  int point;
  int three_reduced;
  int three;
  int five_reduced;
  int five;
  int pooled;
};

TensorId unit(Builder& b, const std::string& name, TensorId x, const Conv& layer) {
  const Scope scope(b, name);
  return relu(b, "", batch_norm(b, "bn", conv(b, "conv", x, layer)));
}

TensorId three(Builder& b, const std::string& name, TensorId x, std::int64_t reduced,
               std::int64_t out) {
  const Scope scope(b, name);
  return unit(b, "1", unit(b, "0", x, {.channels = reduced}),
              {.channels = out, .kernel = 3, .padding = 1});
}

TensorId inception(Builder& b, const std::string& name, TensorId x, const Module& m) {
  const Scope scope(b, "inception" + name);
  const TensorId point = unit(b, "branch1", x, {.channels = m.point});
  const TensorId second = three(b, "branch2", x, m.three_reduced, m.three);
  const TensorId third = three(b, "branch3", x, m.five_reduced, m.five);
  b.enter("branch4");
  const TensorId pooled = unit(b, "1", max_pool(b, "0", x, kSame), {.channels = m.pooled});
  b.leave();
  return concat(b, {point, second, third, pooled});
}

TensorId aux_logits(Builder& b, const std::string& name, TensorId x, std::int64_t classes) {
  const Scope scope(b, name);
  x = flatten(b, unit(b, "conv", adaptive_avg_pool(b, "", x, 4), {.channels = 128}));
  x = dropout(b, "dropout", relu(b, "", linear(b, "fc1", x, 1024)));
  return linear(b, "fc2", x, classes);
}

TensorId stem(Builder& b, TensorId x) {
  x = unit(b, "conv1", x, {.channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = unit(b, "conv2", max_pool(b, "maxpool1", x, kHalving), {.channels = 64});
  x = unit(b, "conv3", x, {.channels = 192, .kernel = 3, .padding = 1});
  x = max_pool(b, "maxpool2", x, kHalving);
  x = inception(b, "3a", x, {64, 96, 128, 16, 32, 32});
  x = inception(b, "3b", x, {128, 128, 192, 32, 96, 64});
  return inception(b, "4a", max_pool(b, "maxpool3", x, kHalving), {192, 96, 208, 16, 48, 64});
}

TensorId middle(Builder& b, TensorId x) {
  x = inception(b, "4b", x, {160, 112, 224, 24, 64, 64});
  x = inception(b, "4c", x, {128, 128, 256, 24, 64, 64});
  return inception(b, "4d", x, {112, 144, 288, 32, 64, 64});
}

TensorId top(Builder& b, TensorId x, std::int64_t classes) {
  x = inception(b, "4e", x, {256, 160, 320, 32, 128, 128});
  x = max_pool(b, "maxpool4", x, {.kernel = 2, .stride = 2, .ceil_mode = true});
  x = inception(b, "5a", x, {256, 160, 320, 32, 128, 128});
  x = inception(b, "5b", x, {384, 192, 384, 48, 128, 128});
  x = flatten(b, adaptive_avg_pool(b, "avgpool", x, 1));
  return linear(b, "fc", dropout(b, "dropout", x), classes);
}

graph::Graph build_googlenet(Spec& spec) {
  const bool with_aux = spec.take("aux", 1, 0, 1) != 0;
  Builder b(spec.name());
  const TensorId early = stem(b, images(b, spec, 224, 32));
  const std::int64_t count = classes(spec, 1000);
  std::vector<TensorId> aux;
  if (with_aux) aux.push_back(aux_logits(b, "aux1", early, count));
  const TensorId late = middle(b, early);
  if (with_aux) aux.push_back(aux_logits(b, "aux2", late, count));
  const TensorId logits = top(b, late, count);
  if (!with_aux) return finish_classifier(b, logits);

  // Each auxiliary loss counts 0.3, as in the paper.
  b.output(logits);
  const TensorId numbers = targets(b);
  std::vector<TensorId> losses{cross_entropy(b, "loss", logits, numbers)};
  for (std::size_t i = 0; i < aux.size(); ++i) {
    const TensorId loss =
        cross_entropy(b, "aux" + std::to_string(i + 1) + "_loss", aux[i], numbers);
    losses.push_back(b.add(Kind::Scale, {loss}));
  }
  b.loss(b.add(Kind::Add, losses));
  return b.finish();
}

}  // namespace

std::vector<Entry> googlenet_entries() {
  return {{{"googlenet", "Inception",
            "GoogLeNet with batch norm; aux=1 trains the two auxiliary classifiers too",
            "image=224, classes=1000, aux=1"},
           build_googlenet}};
}

}  // namespace foretrain::zoo
