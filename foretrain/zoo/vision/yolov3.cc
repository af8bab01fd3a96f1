// SPDX-License-Identifier: Apache-2.0
// YOLOv3 (Redmon, Farhadi, 2018) on Darknet-53. Layers are numbered as in the authors' yolov3.cfg
// and named as in github.com/eriklindernoren/PyTorch-YOLOv3.
#include <array>

#include "foretrain/base/error.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/vision/vision_layers.h"
#include "foretrain/zoo/vision/yolo_loss.h"

namespace foretrain::zoo {
namespace {

using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr std::int64_t kStride = 32;  // of the coarsest map

class Darknet {
 public:
  explicit Darknet(Builder& b) : b_(b) {}

  // What the last three stages give, from fine to coarse.
  std::array<TensorId, 3> features(TensorId x) {
    constexpr std::array kBlocks{1, 2, 8, 8, 4};
    std::array<TensorId, 3> maps{};
    x = unit(x, 32, 3, 1);
    for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
      const std::int64_t width = std::int64_t{64} << stage;
      x = unit(x, width, 3, 2);
      for (int i = 0; i < kBlocks[stage]; ++i) {
        const TensorId y = unit(unit(x, width / 2, 1, 1), width, 3, 1);
        x = b_.add(Kind::Add, {x, y});
        ++index_;  // the shortcut
      }
      if (stage >= 2) maps[stage - 2] = x;
    }
    return maps;
  }

  // Five convolutions, which the next finer scale starts from.
  TensorId neck(TensorId x, std::int64_t width) {
    for (int i = 0; i < 5; ++i) {
      x = i % 2 == 0 ? unit(x, width, 1, 1) : unit(x, 2 * width, 3, 1);
    }
    return x;
  }

  TensorId head(TensorId x, std::int64_t width, std::int64_t outputs) {
    x = unit(x, 2 * width, 3, 1);
    const std::string name = std::to_string(index_++);
    const Scope scope(b_, "module_list." + name);
    index_ += 2;  // the predictions, the route back
    return conv(b_, "conv_" + name, x, {.channels = outputs, .bias = true});
  }

  // Enlarged and put beside a finer map.
  TensorId merge(TensorId x, TensorId finer, std::int64_t width) {
    x = resize(b_, unit(x, width, 1, 1), image_size(b_, finer));
    index_ += 2;  // the enlargement, the route
    return concat(b_, {x, finer});
  }

 private:
  TensorId unit(TensorId x, std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
    const std::string name = std::to_string(index_++);
    const Scope scope(b_, "module_list." + name);
    x = conv(b_, "conv_" + name, x, padded_conv(channels, kernel, stride));
    return activate(b_, "leaky_" + name, Kind::LeakyRelu, batch_norm(b_, "batch_norm_" + name, x));
  }

  Builder& b_;
  int index_ = 0;  // of the next layer
};

graph::Graph build_yolov3(Spec& spec) {
  Builder b(spec.name());
  const TensorId x = images(b, spec, 416, kStride);
  const std::int64_t image = b.shape(x)[2].factor;
  if (image % kStride != 0) {
    throw Error(ErrorKind::BadInput, "model 'yolov3': image=" + std::to_string(image) +
                                         " is not a multiple of 32, the stride of its last map");
  }
  const std::int64_t count = classes(spec, 80);
  const std::int64_t outputs = 3 * (5 + count);
  Darknet net(b);
  const auto [fine, middle, coarse] = net.features(x);
  std::array<TensorId, 3> maps{};
  TensorId y = net.neck(coarse, 512);
  maps[2] = net.head(y, 512, outputs);
  y = net.neck(net.merge(y, middle, 256), 256);
  maps[1] = net.head(y, 256, outputs);
  y = net.neck(net.merge(y, fine, 128), 128);
  maps[0] = net.head(y, 128, outputs);

  constexpr std::array kScales{"small", "medium", "large"};
  std::vector<TensorId> losses;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const YoloScale scale = yolo_scale(b, kScales[i], maps[i], count);
    b.output(scale.decoded);
    losses.push_back(scale.loss);
  }
  b.loss(b.add(Kind::Add, losses));
  b.note("every image has room for " + std::to_string(kYoloBoxes) +
         " boxes at each of three scales, as in the port that Pollux trains");
  return b.finish();
}

}  // namespace

std::vector<Entry> yolov3_entries() {
  return {{{"yolov3", "Detection", "YOLOv3 on Darknet-53", "image=416, classes=80"}, build_yolov3}};
}

}  // namespace foretrain::zoo
