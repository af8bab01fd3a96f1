// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/detail/gemm.h"

#include <algorithm>

#include "foretrain/cost/smooth_max.h"

namespace foretrain::cost {
namespace {

struct Tile {
  double a;
  double b;
};

// Sizes that libraries have kernels for. Fewer tiles than multiprocessors, or a last wave that is
// not full, leave the device under-occupied: low occupancy (cost::occupied).
constexpr Tile kVectorTiles[] = {{128, 128}, {128, 64}, {64, 64}, {128, 32}, {32, 32}};
constexpr Tile kTensorTiles[] = {{256, 128}, {128, 128}, {128, 64}, {64, 64}};

// Tiles in whichever direction needs fewer.
double tiles_of(const Gemm& g, const Tile& tile) {
  const double straight = std::ceil(g.m / tile.a) * std::ceil(g.n / tile.b);
  if (tile.a == tile.b) return g.batch * straight;
  return g.batch * std::min(straight, std::ceil(g.m / tile.b) * std::ceil(g.n / tile.a));
}

double tile_time(const Gemm& g, const Tile& tile, double k, double tail, double rate,
                 const Context& context) {
  const double work = occupied(tiles_of(g, tile), context.sms, tail);
  return work * 2 * tile.a * tile.b * k / rate;
}

// Sums split among multiprocessors: no waves, but partial results that are written and read.
double split_time(const Gemm& g, const Tile& tile, double k, double rate, const Context& context) {
  const double work = tiles_of(g, tile) * 2 * tile.a * tile.b * k / rate;
  const double partial = 8 * context.sms * tile.a * tile.b / context.memory_bytes_per_s;
  return work + partial + context.conv_launch_s;
}

// Which tiles cuBLAS has for batched fp32 GEMMs.
bool available(const Tile& tile, const Gemm& g, Generation generation) {
  if (!g.batched) return true;
  if (generation >= Generation::AmpereLarge) return tile.b == 128;
  if (generation == Generation::Pascal) return tile.a == 128 && tile.b == 64;
  return true;
}

// Plain GEMMs of GP100: slower kernels, and a collapse for very long sums.
double vector_rate(const Gemm& g, const Context& context) {
  const bool gp100 =
      context.generation == Generation::Pascal && context.device->fp32_cores_per_sm <= 64;
  if (!gp100 || g.batched) return context.gemm_flops_per_s;
  const GemmConstants& constants = context.model->constants.gemm;
  const double rate = constants.pascal * context.gemm_flops_per_s;
  const double length = g.k / constants.pascal_length;
  return length > 1 ? rate / std::pow(length, constants.pascal_exponent) : rate;
}

// Which share of what tiles read again misses the L2. Kernels from Ampere on run neighbouring tiles
// in squares (CUTLASS' threadblock swizzle), which share operands the more, the more
// multiprocessors there are: with 46 as much as rows of tiles do.
double reread_share(const Context& context) {
  constexpr double kLikeRows = 46;
  const Generation generation = context.generation;
  const bool squares = generation >= Generation::AmpereLarge && generation != Generation::Cdna &&
                       generation != Generation::Rdna;
  const double share = context.model->constants.gemm.reread;
  return squares ? share * std::min(1.0, std::sqrt(kLikeRows / context.sms)) : share;
}

// Compulsory traffic, and the part of what tiles read again that the L2 does not hold. Of small
// operands and results a part is still there from the operator before, or for the next one.
double vector_traffic(const Gemm& g, const Context& context) {
  constexpr double kEdge = 128;
  const double out = g.out_bytes * g.m * g.n;
  const double a = g.in_bytes * g.m * g.k;
  const double b = g.in_bytes * g.k * g.n;
  const double once = a + b + out;
  const double tiled = a * std::ceil(g.n / kEdge) + b * std::ceil(g.m / kEdge) + out;
  const double miss = once / (once + context.l2_bytes);
  const double all = g.batch * (once + reread_share(context) * miss * (tiled - once));
  return all * all / (all + context.model->constants.conv.cache * context.l2_bytes);
}

OpTime combine(double compute, double memory, double launch, const SmoothMax& overlap) {
  return {Seconds{overlap(compute, memory) + launch}, Seconds{compute}, Seconds{memory}, 1};
}

}  // namespace

OpTime gemm_vector(const Gemm& g, const Context& context) {
  const GemmConstants& constants = context.model->constants.gemm;
  const double rate = vector_rate(g, context);
  double compute = 0;
  for (std::size_t i = 0; i < std::size(kVectorTiles); ++i) {
    const Tile& tile = kVectorTiles[i];
    if (!available(tile, g, context.generation)) continue;
    const double time = tile_time(g, tile, g.k, constants.tail, rate * constants.tiles[i], context);
    if (compute == 0 || time < compute) compute = time;
  }
  if (!g.batched) {
    const double slow = constants.split * rate * constants.tiles[4];
    compute = std::min(compute, split_time(g, kVectorTiles[4], g.k, slow, context));
  }
  return combine(compute, vector_traffic(g, context) / context.gemm_bytes_per_s,
                 context.model->constants.launch.vector, context.model->gemm);
}

OpTime gemm_tensor(const Gemm& g, double flops_per_s, const Context& context) {
  const TensorGemmConstants& constants = context.model->constants.tensor_gemm;
  const double k = g.k + constants.start;
  double compute = 0;
  for (std::size_t i = 0; i < std::size(kTensorTiles); ++i) {
    const double rate = flops_per_s * constants.tiles[i];
    const double time = tile_time(g, kTensorTiles[i], k, constants.tail, rate, context);
    if (compute == 0 || time < compute) compute = time;
  }
  if (!g.batched) {
    const double slow = constants.split * flops_per_s * constants.tiles[1];
    compute = std::min(compute, split_time(g, kTensorTiles[1], k, slow, context));
  }
  const double bytes = g.batch * (g.in_bytes * (g.m * g.k + g.k * g.n) + g.out_bytes * g.m * g.n);
  return combine(compute, bytes / context.tensor_bytes_per_s,
                 context.model->constants.launch.tensor, context.model->tensor_gemm);
}

OpTime gemm_time(const Gemm& gemm, DType type, bool weights, const Context& context) {
  const bool wide = type == DType::F32 || type == DType::F64;
  const bool tensor = wide ? context.precision == Precision::Tf32 : true;
  if (!tensor || !context.tensor_cores) return gemm_vector(gemm, context);
  if (context.precision == Precision::Fp8 && weights) {
    Gemm eight = gemm;
    eight.in_bytes = 1;
    return gemm_tensor(eight, context.matrix_flops_per_s, context);
  }
  return gemm_tensor(gemm, wide ? context.matrix_flops_per_s : context.half_flops_per_s, context);
}

}  // namespace foretrain::cost
