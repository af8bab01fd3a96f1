// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/builder.h"

namespace foretrain::zoo {

// Boxes that an image may show at each scale; predictions are compared with all of them.
inline constexpr std::int64_t kYoloBoxes = 150;

// What a map [batch, anchors * (5 + classes), grid, grid] says of boxes, in pixels:
// [batch, grid, grid, anchors, 5 + classes], and its loss: generalised overlap of boxes, focal
// loss of confidences and cross entropy of classes. `scale` names its inputs.
// Source: github.com/Peterisfar/YOLOV3, the port that Pollux (OSDI 2021) trains.
struct YoloScale {
  graph::TensorId decoded{};
  graph::TensorId loss{};
};
YoloScale yolo_scale(graph::Builder& builder, const std::string& scale, graph::TensorId map,
                     std::int64_t classes);

}  // namespace foretrain::zoo
