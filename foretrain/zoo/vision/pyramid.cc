// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/vision/pyramid.h"

#include "foretrain/zoo/vision/detection_layers.h"
#include "foretrain/zoo/vision/residual.h"
#include "foretrain/zoo/vision/vision_layers.h"

namespace foretrain::zoo {

using graph::Builder;
using graph::Scope;
using graph::TensorId;

namespace {

constexpr const char* kNetworks[] = {"resnet18",         "resnet50",         "resnet101",
                                     "resnext101_32x4d", "resnext101_32x8d", "resnext101_64x4d"};
constexpr const char* kEnding = "_fpn";
constexpr std::int64_t kLayers = 5;  // stem and stages

std::string network_of(const std::string& model, const std::string& detector) {
  const std::string rest = model.substr(detector.size() + 1);
  return rest.substr(0, rest.size() - std::string(kEnding).size());
}

// Which norms, and where a bottleneck's stride is.
StageForm stage_form(Spec& spec) {
  StageForm form;
  switch (spec.take("norms", 0, 0, 2)) {
    case 1:
      break;  // they learn
    case 2:
      form.norm = affine_channel;
      form.output_norm = affine_channel_copy;
      form.sum_apart = true;
      break;
    default:
      form.norm = frozen_norm;
  }
  form.stride_first = spec.take("stride_in_1x1", 0, 0, 1) == 1;
  return form;
}

}  // namespace

TensorId detector_images(Builder& b, Spec& spec) {
  const TensorId x = pictures(b, spec, {800, 1088}, 128);
  const Pair size = image_size(b, x);
  b.note("images of " + std::to_string(size.height) + " x " + std::to_string(size.width) +
         " pixels; those of a real batch differ in size and are filled up to the largest");
  return x;
}

std::vector<TensorId> pyramid_backbone(Builder& b, Spec& spec, TensorId x,
                                       const std::string& detector, std::size_t first) {
  const StageForm form = stage_form(spec);
  const Residual& network = residual_named(network_of(spec.name(), detector));
  const Scope scope(b, "backbone");
  b.enter("body");
  x = residual_stem(b, x, form.norm);
  std::vector<TensorId> stages = residual_features(b, x, network, 32, form);
  b.leave();
  stages.erase(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(first));
  return feature_pyramid(b, stages);
}

std::int64_t trainable_layers(Spec& spec) { return spec.take("trainable_layers", 3, 0, kLayers); }

void freeze_backbone(graph::Graph& graph, std::int64_t trainable_layers) {
  std::vector<std::string> frozen;
  for (std::int64_t layer = 0; layer < kLayers - trainable_layers; ++layer) {
    if (layer > 0) {
      frozen.push_back("backbone.body.layer" + std::to_string(layer) + ".");
    } else {
      frozen.insert(frozen.end(), {"backbone.body.conv1.", "backbone.body.bn1."});
    }
  }
  freeze(graph, frozen);
}

void place_heads(graph::Graph& graph, Spec& spec) {
  if (spec.take("inplace", 1, 0, 1) == 1) return;
  for (graph::Node& node : graph.nodes) {
    const bool of_head = !node.scope.starts_with("backbone");
    if (of_head && node.kind == graph::Kind::Relu) node.attributes.set(graph::Attr::Inplace, {0});
  }
}

std::vector<Entry> pyramid_rows(const std::string& detector, const std::string& about,
                                const std::string& parameters, graph::Graph (*build)(Spec&)) {
  const std::string all =
      "height=800, width=1088, image, " + parameters + (parameters.empty() ? "" : ", ") +
      "trainable_layers=3, norms=0, stride_in_1x1=0, inplace=1, objects=0, overlap_values=10";
  std::vector<Entry> entries;
  for (const std::string network : kNetworks) {
    std::string name = detector;
    name.append("_").append(network).append(kEnding);
    std::string text = about;
    text.append(" over ").append(network);
    entries.push_back({{name, "Detection", text, all}, build});
  }
  return entries;
}

}  // namespace foretrain::zoo
