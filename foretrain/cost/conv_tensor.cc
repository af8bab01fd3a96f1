// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "foretrain/cost/detail/conv.h"

namespace foretrain::cost {
namespace {

struct Tile {
  double a;
  double b;
};
constexpr Tile kTiles[] = {{256, 128}, {128, 128}, {128, 64}, {64, 64}, {64, 32}};

// As `occupied`, but less than one wave runs faster, down to a share of it.
double split_occupied(double tiles, double sms, const TensorConvConstants& constants) {
  if (tiles <= sms) return std::max(tiles, constants.least_wave * sms);
  return tiles + constants.tail * (std::ceil(tiles / sms) * sms - tiles);
}

// Layout changes around a convolution whose tensors are not stored channels last. Frameworks that
// store them so do it for 16 bits alone; their TF32 changes layouts as 16 bits would elsewhere.
double transposes(const Conv& c, const Context& context) {
  const bool tf32 = context.tf32_convolutions;
  const bool tuned = context.framework->channels_last;
  if (tuned && !tf32) return 0;
  const TensorConvConstants& constants = context.model->constants.tensor_conv;
  const double passes = tf32 && !tuned ? constants.transposes_tf32 : constants.transposes;
  return passes * c.io_bytes / context.tensor_conv_bytes_per_s;
}

// Of the rate, where there are groups; on GPUs from GA10x on in 16 bits. In NHWC cuDNN has kernels
// for narrow ones, of up to 8 channels, or 32 where there are many; with older libraries (PyTorch
// 1) all others were slow there, most of all weight gradients. Before PyTorch 1.12 of these only
// groups of up to 16 channels had kernels, in tensors of whole tiles of 128 channels.
double group_share(const Conv& c, bool weight_grad, const Context& context) {
  const TensorConvConstants& constants = context.model->constants.tensor_conv;
  if (c.groups <= 1) return 1;
  if (!context.wide_sms || context.tf32_convolutions) return constants.grouped;
  if (!context.framework->channels_last) return constants.grouped_wide;
  const double width = c.in_channels / c.groups;
  const bool narrow =
      c.in_channels == c.out_channels && (width <= 8 || (width <= 32 && c.groups >= 32));
  if (!context.framework->slow_groups) return constants.grouped_narrow;
  if (!weight_grad) return narrow ? constants.grouped_narrow : constants.grouped_last;
  const bool tiled = width <= 16 && std::fmod(c.in_channels, 128) == 0;
  const bool known = narrow && (tiled || !context.framework->slow_narrow_groups);
  return known ? constants.grouped_narrow : constants.grouped_last_grad;
}

OpTime timed(double compute, double bytes, const Conv& c, const Context& context) {
  const double memory = bytes / context.tensor_conv_bytes_per_s;
  const double extra = transposes(c, context);
  const int kernels = extra > 0 ? 3 : 1;
  return {Seconds{context.model->tensor_conv(compute, memory) + extra +
                  kernels * context.conv_launch_s},
          Seconds{compute}, Seconds{memory + extra}, kernels};
}

}  // namespace

OpTime conv_tensor(const Conv& c, const Context& context) {
  const TensorConvConstants& constants = context.model->constants.tensor_conv;
  const double m = c.batch * c.out_height * c.out_width;
  const double n = c.out_channels / c.groups;
  double work = 0;
  for (std::size_t i = 0; i < std::size(kTiles); ++i) {
    const Tile& tile = kTiles[i];
    const double straight = std::ceil(m / tile.a) * std::ceil(n / tile.b);
    const double turned = std::ceil(m / tile.b) * std::ceil(n / tile.a);
    const double tiles = std::min(straight, turned) * c.groups;
    const double one =
        split_occupied(tiles, context.sms, constants) * 2 * tile.a * tile.b / constants.tiles[i];
    if (work == 0 || one < work) work = one;
  }
  const double rate = context.tensor_conv_flops_per_s * group_share(c, false, context);
  return timed(work * (c.inner + constants.start) / rate, c.io_bytes + c.weight_bytes, c, context);
}

OpTime conv_weight_grad_tensor(const Conv& c, const Context& context) {
  const TensorConvConstants& constants = context.model->constants.tensor_conv;
  const double m = c.out_channels / c.groups;
  const double n = c.in_channels * c.window / c.groups;
  double work = 0;
  for (std::size_t i = 0; i < std::size(kTiles); ++i) {
    const Tile& tile = kTiles[i];
    const double straight = std::ceil(m / tile.a) * std::ceil(n / tile.b);
    const double turned = std::ceil(m / tile.b) * std::ceil(n / tile.a);
    const double one =
        std::min(straight, turned) * c.groups * 2 * tile.a * tile.b / constants.tiles[i];
    if (work == 0 || one < work) work = one;
  }
  const double pixels = c.batch * c.out_height * c.out_width;
  const double half_rate =
      c.half_values ? constants.weight_grad_half_rate * context.half_rate_share : 0;
  const double share = std::max(constants.weight_grad, half_rate);
  const double rate = share * context.tensor_conv_flops_per_s * group_share(c, true, context);
  return timed(work * (pixels + constants.start) / rate, c.io_bytes + c.weight_bytes, c, context);
}

}  // namespace foretrain::cost
