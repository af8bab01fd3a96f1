// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/conv.h"

#include <algorithm>
#include <cmath>

#include "foretrain/cost/gemm.h"
#include "foretrain/cost/smooth_max.h"

namespace foretrain::cost {
namespace {

// Constants of this file: fitted per algorithm on NeuSight's fp32 3x3 convolutions (P4, P100,
// V100, T4, A100), after the host's drift was removed.
const SmoothMax& overlap() {
  static const SmoothMax kSmooth(1.37);
  return kSmooth;
}

OpTime better(const OpTime& a, const OpTime& b) { return b.total < a.total ? b : a; }

// Grouped convolutions reach this share of the plain rate. Fitted on torchvision's ResNeXt.
constexpr double kGroupedRate = 0.415;

OpTime timed(double compute, double memory, double extra, int kernels, const Context& context) {
  const double launch = kernels * context.conv_launch_s;
  return {Seconds{overlap()(compute, memory) + extra + launch}, Seconds{compute},
          Seconds{memory + extra}, kernels};
}

OpTime implicit_gemm(const Conv& c, const Context& context) {
  struct Tile {
    double b;
    double rate;
  };
  static constexpr Tile kTiles[] = {{128, 1.056}, {64, 1.025}, {32, 0.901}};
  constexpr double kTail = 0.948;
  constexpr double kStart = 6.2;  // steps of the sum
  const double rows = std::ceil(c.batch * c.out_height * c.out_width / 128);
  const double channels = c.out_channels / c.groups;
  double work = 0;
  for (const Tile& tile : kTiles) {
    const double tiles = rows * std::ceil(channels / tile.b) * c.groups;
    const double one = occupied(tiles, context.sms, kTail) * 256 * tile.b / tile.rate;
    if (work == 0 || one < work) work = one;
  }
  const double rate = context.conv_flops_per_s * (c.groups > 1 ? kGroupedRate : 1);
  const double compute = work * (c.inner + kStart) / rate;
  return timed(compute, (c.io_bytes + c.weight_bytes) / context.conv_bytes_per_s, 0, 1, context);
}

// Blocks of F(2,3): images, rows and columns of 2x2 outputs that one block covers.
struct Block {
  double images;
  double rows;
  double columns;
};

double fused_blocks(const Conv& c, const Block& block) {
  return std::ceil(c.batch / block.images) * std::ceil(std::ceil(c.out_height / 2) / block.rows) *
         std::ceil(std::ceil(c.out_width / 2) / block.columns) * std::ceil(c.out_channels / 32);
}

OpTime fused_winograd(const Conv& c, const Context& context) {
  // The first from Volta on, the first two on GA100, all on Pascal.
  static constexpr Block kBlocks[] = {{1, 4, 8}, {4, 4, 2}, {2, 2, 8},
                                      {2, 4, 4}, {4, 1, 8}, {4, 2, 4}};
  constexpr double kTail = 0.78;
  constexpr double kStart = 17;    // channels
  constexpr double kRate = 0.916;  // of the convolution rate, in transformed multiplications
  int choices = 1;
  if (context.generation == Generation::AmpereLarge) choices = 2;
  if (context.generation <= Generation::Pascal) choices = 6;
  double blocks = fused_blocks(c, kBlocks[0]);
  for (int i = 1; i < choices; ++i) blocks = std::min(blocks, fused_blocks(c, kBlocks[i]));
  const double work = occupied(blocks, context.sms, kTail) * 32768;
  const double compute = work * (c.in_channels + kStart) / (kRate * context.conv_flops_per_s);
  const double weights = c.weight_bytes / 9;  // bytes per kernel position
  const double memory = (c.io_bytes + 16 * weights) / context.conv_bytes_per_s;
  return timed(compute, memory, 25 * weights / context.conv_bytes_per_s, 2, context);
}

// 36 products of out_channels x tiles x in_channels, k longer by the pipeline's start.
double transformed_products(const Conv& c, double tiles, const Context& context) {
  struct Tile {
    double a;
    double b;
    double rate;
  };
  static constexpr Tile kTiles[] = {
      {128, 128, 1.0}, {128, 64, 0.9222}, {64, 64, 0.9522}, {128, 32, 0.8564}, {32, 32, 0.8204}};
  constexpr double kTail = 0.945;
  double least = 0;
  for (const Tile& tile : kTiles) {
    const double straight = std::ceil(c.out_channels / tile.a) * std::ceil(tiles / tile.b);
    const double turned = std::ceil(c.out_channels / tile.b) * std::ceil(tiles / tile.a);
    const double work = occupied(36 * std::min(straight, turned), context.sms, kTail);
    const double one = work * 2 * tile.a * tile.b / tile.rate;
    if (least == 0 || one < least) least = one;
  }
  return least;
}

OpTime unfused_winograd(const Conv& c, const Context& context) {
  constexpr double kStart = 12;    // channels
  constexpr double kRate = 0.914;  // of the convolution rate
  const double element = c.weight_bytes / (9 * c.in_channels * c.out_channels);
  const double tiles = c.batch * std::ceil(c.out_height / 4) * std::ceil(c.out_width / 4);
  const double values = 36 * element * tiles * (c.in_channels + c.out_channels);
  const double spilled = values * values / (values + context.conv_cache_bytes);
  const double weights = c.weight_bytes / 9;
  const double compute = transformed_products(c, tiles, context) * (c.in_channels + kStart) /
                         (kRate * context.conv_flops_per_s);
  const double memory = (spilled + 36 * weights) / context.conv_bytes_per_s;
  const double transforms = (c.io_bytes + spilled) / (1.06 * context.conv_bytes_per_s) +
                            45 * weights / (0.52 * context.conv_bytes_per_s);
  return timed(compute, memory, transforms, 4, context);
}

}  // namespace

OpTime conv_vector(const Conv& c, const Context& context) {
  OpTime time = implicit_gemm(c, context);
  if (!c.winograd) return time;
  time = better(time, fused_winograd(c, context));
  return better(time, unfused_winograd(c, context));
}

// Sums over all pixels are split among the multiprocessors, so there are no waves.
OpTime conv_weight_grad_vector(const Conv& c, const Context& context) {
  constexpr double kSplit = 0.403;  // of the forward rate; fitted on torchvision's CNN steps
  constexpr double kTransformed = 0.914;
  constexpr double kRates[] = {1.056, 1.025, 0.901};
  constexpr double kEdges[] = {128, 64, 32};
  const double m = c.out_channels / c.groups;
  const double n = c.in_channels * c.window / c.groups;
  const double pixels = c.batch * c.out_height * c.out_width;
  double work = 0;
  for (int i = 0; i < 3; ++i) {
    const double b = kEdges[i];
    const double straight = std::ceil(m / 128) * std::ceil(n / b);
    const double turned = std::ceil(m / b) * std::ceil(n / 128);
    const double one = std::min(straight, turned) * 128 * b / kRates[i];
    if (work == 0 || one < work) work = one;
  }
  const double rate = kSplit * context.conv_flops_per_s * (c.groups > 1 ? kGroupedRate : 1);
  double compute = 2 * pixels * c.groups * work / rate;
  if (c.winograd) {
    const double tiles = c.batch * std::ceil(c.out_height / 4) * std::ceil(c.out_width / 4);
    const double padded = std::ceil(c.out_channels / 64) * std::ceil(c.in_channels / 64) * 4096;
    compute = std::min(compute, 72 * tiles * padded / (kTransformed * rate));
  }
  const double memory = (c.io_bytes + c.weight_bytes) / context.conv_bytes_per_s;
  return timed(compute, memory, 0, 1, context);
}

OpTime conv_depthwise(const Conv& c, bool weight_grad, const Context& context) {
  const double rate = weight_grad ? 0.084 : 1.16;  // of the bandwidth; torchvision's CNN steps
  const double memory = (c.io_bytes + c.weight_bytes) / (rate * context.conv_bytes_per_s);
  return timed(0, memory, 0, 1, context);
}

}  // namespace foretrain::cost
