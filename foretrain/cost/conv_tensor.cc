// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "foretrain/cost/conv.h"
#include "foretrain/cost/smooth_max.h"

namespace foretrain::cost {
namespace {

// Constants of this file: fitted on fp16 steps of torchvision's CNNs and vendor-tuned ones.
struct Tile {
  double a;
  double b;
  double rate;
};
constexpr Tile kTiles[] = {
    {256, 128, 1}, {128, 128, 1}, {128, 64, 0.95}, {64, 64, 0.8}, {64, 32, 0.5}};
constexpr double kTail = 0.9;
constexpr double kStart = 11;         // steps of the sum
constexpr double kWeightGrad = 0.36;  // of the forward rate
constexpr double kGrouped = 0.29;     // likewise
constexpr double kLeastWave = 0.25;   // of a wave: fewer tiles are split

// As `occupied`, but less than one wave runs faster, down to a quarter.
double split_occupied(double tiles, double sms) {
  if (tiles <= sms) return std::max(tiles, kLeastWave * sms);
  return tiles + kTail * (std::ceil(tiles / sms) * sms - tiles);
}

// Layout changes around a convolution whose tensors are not stored channels last.
double transposes(const Conv& c, const Context& context) {
  if (context.framework->channels_last) return 0;
  const double passes = context.precision == Precision::Tf32 ? 3.2 : 0.62 * 2;  // over io_bytes
  return passes * c.io_bytes / context.conv_short_bytes_per_s;
}

OpTime timed(double compute, double bytes, const Conv& c, const Context& context) {
  static const SmoothMax kOverlap(1.5);
  const double memory = bytes / context.conv_short_bytes_per_s;
  const double extra = transposes(c, context);
  const int kernels = extra > 0 ? 3 : 1;
  return {Seconds{kOverlap(compute, memory) + extra + kernels * context.conv_launch_s},
          Seconds{compute}, Seconds{memory + extra}, kernels};
}

}  // namespace

OpTime conv_tensor(const Conv& c, const Context& context) {
  const double m = c.batch * c.out_height * c.out_width;
  const double n = c.out_channels / c.groups;
  double work = 0;
  for (const Tile& tile : kTiles) {
    const double straight = std::ceil(m / tile.a) * std::ceil(n / tile.b);
    const double turned = std::ceil(m / tile.b) * std::ceil(n / tile.a);
    const double tiles = std::min(straight, turned) * c.groups;
    const double one = split_occupied(tiles, context.sms) * 2 * tile.a * tile.b / tile.rate;
    if (work == 0 || one < work) work = one;
  }
  const double rate = context.conv_short_flops_per_s * (c.groups > 1 ? kGrouped : 1);
  return timed(work * (c.inner + kStart) / rate, c.io_bytes + c.weight_bytes, c, context);
}

OpTime conv_weight_grad_tensor(const Conv& c, const Context& context) {
  const double m = c.out_channels / c.groups;
  const double n = c.in_channels * c.window / c.groups;
  double work = 0;
  for (const Tile& tile : kTiles) {
    const double straight = std::ceil(m / tile.a) * std::ceil(n / tile.b);
    const double turned = std::ceil(m / tile.b) * std::ceil(n / tile.a);
    const double one = std::min(straight, turned) * c.groups * 2 * tile.a * tile.b / tile.rate;
    if (work == 0 || one < work) work = one;
  }
  const double pixels = c.batch * c.out_height * c.out_width;
  const double rate = kWeightGrad * context.conv_short_flops_per_s * (c.groups > 1 ? kGrouped : 1);
  return timed(work * (pixels + kStart) / rate, c.io_bytes + c.weight_bytes, c, context);
}

}  // namespace foretrain::cost
