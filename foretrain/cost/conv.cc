// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/conv.h"

#include <algorithm>
#include <cmath>

#include "foretrain/cost/detail/gemm.h"
#include "foretrain/cost/detail/sustained.h"

namespace foretrain::cost {
namespace {

// Channels of a tile. Tiles run in waves: how many there are decides the occupancy of the device
// (cost::occupied).
constexpr double kEdges[] = {128, 64, 32};

OpTime better(const OpTime& a, const OpTime& b) { return b.total < a.total ? b : a; }

OpTime timed(double compute, double memory, double extra, int kernels, const Context& context) {
  const double launch = kernels * context.conv_launch_s;
  return {Seconds{context.model->conv(compute, memory) + extra + launch}, Seconds{compute},
          Seconds{memory + extra}, kernels};
}

// Kernels that are slow for another reason than arithmetic reach a share of fp32's rate; slower
// arithmetic may bind instead.
double rate_at(double share, const Conv& c, const Context& context) {
  share *= c.share;
  if (context.precision == Precision::Fp64)
    share = std::min(1.0, share / fp64_share(*context.device, context.model->constants));
  return share * context.conv_flops_per_s;
}

OpTime implicit_gemm(const Conv& c, const Context& context) {
  const ConvConstants& constants = context.model->constants.conv;
  const double rows = std::ceil(c.batch * c.out_height * c.out_width / 128);
  const double channels = c.out_channels / c.groups;
  double work = 0;
  for (std::size_t i = 0; i < std::size(kEdges); ++i) {
    const double tiles = rows * std::ceil(channels / kEdges[i]) * c.groups;
    const double one =
        occupied(tiles, context.sms, constants.tail) * 256 * kEdges[i] / constants.tiles[i];
    if (work == 0 || one < work) work = one;
  }
  const double rate = rate_at(c.groups > 1 ? constants.grouped : 1, c, context);
  const double compute = work * (c.inner + constants.start) / rate;
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
  const ConvConstants& constants = context.model->constants.conv;
  int choices = 1;
  if (context.generation == Generation::AmpereLarge) choices = 2;
  if (context.generation <= Generation::Pascal) choices = 6;
  double blocks = fused_blocks(c, kBlocks[0]);
  for (int i = 1; i < choices; ++i) blocks = std::min(blocks, fused_blocks(c, kBlocks[i]));
  const double work = occupied(blocks, context.sms, constants.fused_tail) * 32768;
  const double compute = work * (c.in_channels + constants.fused_start) /
                         (constants.fused_rate * c.share * context.conv_flops_per_s);
  const double weights = c.weight_bytes / 9;  // bytes per kernel position
  const double memory = (c.io_bytes + 16 * weights) / context.conv_bytes_per_s;
  return timed(compute, memory, 25 * weights / context.conv_bytes_per_s, 2, context);
}

// 36 GEMMs of out_channels x tiles x in_channels, by the tiles of plain GEMMs.
double transformed_gemms(const Conv& c, double tiles, const Context& context) {
  const Constants& constants = context.model->constants;
  static constexpr double kHeights[] = {128, 128, 64, 128, 32};
  static constexpr double kWidths[] = {128, 64, 64, 32, 32};
  double least = 0;
  for (std::size_t i = 0; i < std::size(kHeights); ++i) {
    const double a = kHeights[i];
    const double b = kWidths[i];
    const double straight = std::ceil(c.out_channels / a) * std::ceil(tiles / b);
    const double turned = std::ceil(c.out_channels / b) * std::ceil(tiles / a);
    const double work =
        occupied(36 * std::min(straight, turned), context.sms, constants.conv.unfused_tail);
    const double one = work * 2 * a * b / constants.gemm.tiles[i];
    if (least == 0 || one < least) least = one;
  }
  return least;
}

// 4x4 outputs that F(4,3) transforms at once.
double unfused_tiles(const Conv& c) {
  return c.batch * std::ceil(c.out_height / 4) * std::ceil(c.out_width / 4);
}

// What its transformed input and output leave the L2 with, bytes.
double spilled_bytes(const Conv& c, const Context& context) {
  const double element = c.weight_bytes / (9 * c.in_channels * c.out_channels);
  const double values = 36 * element * unfused_tiles(c) * (c.in_channels + c.out_channels);
  const double cache = context.model->constants.conv.cache * context.l2_bytes;
  return values * values / (values + cache);
}

// Its transformed input, output and weights may take more than the framework allows.
bool has_workspace(const Conv& c, const Context& context) {
  const double most = context.framework->workspace_mib * 1048576;
  if (most <= 0) return true;
  const double element = c.weight_bytes / (9 * c.in_channels * c.out_channels);
  return 36 * element *
             (unfused_tiles(c) * (c.in_channels + c.out_channels) +
              c.in_channels * c.out_channels) <=
         most;
}

OpTime unfused_winograd(const Conv& c, const Context& context) {
  const ConvConstants& constants = context.model->constants.conv;
  const double tiles = unfused_tiles(c);
  const double spilled = spilled_bytes(c, context);
  const double weights = c.weight_bytes / 9;
  const double bandwidth = context.conv_bytes_per_s;
  const double compute = transformed_gemms(c, tiles, context) *
                         (c.in_channels + constants.unfused_start) /
                         (constants.unfused_rate * c.share * context.conv_flops_per_s);
  const double memory = (spilled + 36 * weights) / bandwidth;
  const double transforms = (c.io_bytes + spilled) / (constants.transform * bandwidth) +
                            45 * weights / (constants.weight_transform * bandwidth);
  return timed(compute, memory, transforms, 4, context);
}

// The weight gradient by F(4,3): 36 GEMMs of out_channels x in_channels over all tiles, each
// sum split among the multiprocessors.
OpTime unfused_weight_grad(const Conv& c, const Context& context) {
  const ConvConstants& constants = context.model->constants.conv;
  const double padded = std::ceil(c.out_channels / 64) * std::ceil(c.in_channels / 64) * 4096;
  const double spilled = spilled_bytes(c, context);
  const double bandwidth = context.conv_bytes_per_s;
  const double compute =
      72 * unfused_tiles(c) * padded /
      (constants.unfused_rate * constants.weight_grad_unfused * c.share * context.conv_flops_per_s);
  const double memory = (c.io_bytes + c.weight_bytes + spilled) / bandwidth;
  return timed(compute, memory, (c.io_bytes + spilled) / (constants.transform * bandwidth), 4,
               context);
}

}  // namespace

OpTime conv_vector(const Conv& c, ConvAlgorithm algorithm, const Context& context) {
  if (!c.winograd || algorithm == ConvAlgorithm::Implicit) return implicit_gemm(c, context);
  if (algorithm == ConvAlgorithm::FusedWinograd) return fused_winograd(c, context);
  if (algorithm == ConvAlgorithm::UnfusedWinograd) return unfused_winograd(c, context);
  const OpTime one = better(implicit_gemm(c, context), fused_winograd(c, context));
  return has_workspace(c, context) ? better(one, unfused_winograd(c, context)) : one;
}

// Sums over all pixels are split among the multiprocessors, so there are no waves.
OpTime conv_weight_grad_vector(const Conv& c, const Context& context) {
  const ConvConstants& constants = context.model->constants.conv;
  const double m = c.out_channels / c.groups;
  const double n = c.in_channels * c.window / c.groups;
  const double pixels = c.batch * c.out_height * c.out_width;
  double work = 0;
  for (std::size_t i = 0; i < std::size(kEdges); ++i) {
    const double b = kEdges[i];
    const double straight = std::ceil(m / 128) * std::ceil(n / b);
    const double turned = std::ceil(m / b) * std::ceil(n / 128);
    const double one = std::min(straight, turned) * 128 * b / constants.tiles[i];
    if (work == 0 || one < work) work = one;
  }
  const double rate =
      rate_at(constants.weight_grad * (c.groups > 1 ? constants.grouped : 1), c, context);
  const double memory = (c.io_bytes + c.weight_bytes) / context.conv_bytes_per_s;
  const OpTime direct = timed(2 * pixels * c.groups * work / rate, memory, 0, 1, context);
  if (!c.winograd || !has_workspace(c, context)) return direct;
  return better(direct, unfused_weight_grad(c, context));
}

namespace {

// Cycles of a multiprocessor per multiplication. Libraries of the time of GA10x have kernels for
// 5x5 and 7x7 that take as long as those for 3x3, because reading values binds them, and
// multiprocessors of 128 cores that read like those of 64 gain the root of two.
double depthwise_cycles(const Conv& c, bool weight_grad, const Context& context) {
  constexpr double kUsualWindow = 9;
  constexpr double kLargestWindow = 49;
  constexpr double kWide = 0.7071;
  const ConvConstants& constants = context.model->constants.conv;
  if (!context.wide_sms) return weight_grad ? constants.depthwise_grad : constants.depthwise;
  const bool last = context.framework->channels_last && c.half_values;
  const double grad = last ? constants.depthwise_grad_last : constants.depthwise_grad;
  const double cycles = kWide * (weight_grad ? grad : constants.depthwise);
  if (c.window > kLargestWindow) return constants.depthwise_large * cycles;
  return cycles * std::min(1.0, kUsualWindow / c.window);
}

}  // namespace

OpTime conv_depthwise(const Conv& c, bool weight_grad, const Context& context) {
  const double multiplications = c.batch * c.out_channels * c.out_height * c.out_width * c.inner;
  const double cycles = depthwise_cycles(c, weight_grad, context) / c.share;
  double compute = multiplications * cycles / context.sm_cycles_per_s;
  if (c.half_values && context.half_values_per_s > 0) {
    compute = std::max(compute, 2 * multiplications / context.half_values_per_s);
  }
  return timed(compute, (c.io_bytes + c.weight_bytes) / context.conv_bytes_per_s, 0, 1, context);
}

}  // namespace foretrain::cost
