// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/gemm.h"

#include <algorithm>

#include "foretrain/cost/smooth_max.h"

namespace foretrain::cost {
namespace {

struct Tile {
  double a;
  double b;
  double rate;  // against the largest tile: e^epsilon
};

// Fitted on NeuSight split=train fp32 rows of P4, P100, V100, T4, A100-40.
constexpr Tile kVectorTiles[] = {
    {128, 128, 1.0}, {128, 64, 0.9222}, {64, 64, 0.9522}, {128, 32, 0.8564}, {32, 32, 0.8204}};
constexpr double kVectorTail = 0.303;     // share of the last wave's idle rest that is lost
constexpr double kVectorReread = 0.368;   // share of the tiles' re-reads that miss the L2
constexpr double kVectorSplit = 0.72;     // rate of split sums; NeuSight's long, narrow linears
constexpr double kVectorExponent = 2.12;  // of the overlap of arithmetic and memory

// Fitted on half-precision linears of A100 and GH200 (ETT), checked on MPT throughput.
constexpr Tile kTensorTiles[] = {
    {256, 128, 1.0}, {128, 128, 0.9704}, {128, 64, 0.5655}, {64, 64, 0.5769}};
constexpr double kTensorTail = 0.675;
constexpr double kTensorStart = 78;    // steps of k that filling the pipeline costs
constexpr double kTensorSplit = 0.85;  // rate of split sums; ETT's backward linears, weakly
constexpr double kTensorExponent = 2.53;

constexpr double kVectorLaunch = 4e-6;  // s, inside a graph
constexpr double kTensorLaunch = 5e-6;  // s, likewise

// Tiles in whichever direction needs fewer.
double tiles_of(const Gemm& g, const Tile& tile) {
  const double straight = std::ceil(g.m / tile.a) * std::ceil(g.n / tile.b);
  if (tile.a == tile.b) return g.batch * straight;
  return g.batch * std::min(straight, std::ceil(g.m / tile.b) * std::ceil(g.n / tile.a));
}

double tile_time(const Gemm& g, const Tile& tile, double k, double tail, double rate,
                 const Context& context) {
  const double work = occupied(tiles_of(g, tile), context.sms, tail);
  return work * 2 * tile.a * tile.b * k / (rate * tile.rate);
}

// Sums split among multiprocessors: no waves, but partial results that are written and read.
double split_time(const Gemm& g, const Tile& tile, double k, double rate, const Context& context) {
  const double work = tiles_of(g, tile) * 2 * tile.a * tile.b * k / (rate * tile.rate);
  const double partial = 8 * context.sms * tile.a * tile.b / context.memory_bytes_per_s;
  return work + partial + context.conv_launch_s;
}

// Which tiles cuBLAS has for batched fp32 products.
bool available(const Tile& tile, const Gemm& g, Generation generation) {
  if (!g.batched) return true;
  if (generation >= Generation::AmpereLarge) return tile.b == 128;
  if (generation == Generation::Pascal) return tile.a == 128 && tile.b == 64;
  return true;
}

// Pascal's plain products: slower kernels, and a collapse for very long sums.
double vector_rate(const Gemm& g, const Context& context) {
  if (context.generation != Generation::Pascal || g.batched) return context.gemm_flops_per_s;
  constexpr double kPascal = 0.77;
  constexpr double kLong = 8192;
  const double rate = kPascal * context.gemm_flops_per_s;
  return g.k > kLong ? rate / std::pow(g.k / kLong, 0.6) : rate;
}

// Compulsory traffic, and the part of what tiles read again that the L2 does not hold.
double vector_traffic(const Gemm& g, double l2_bytes) {
  constexpr double kEdge = 128;
  const double out = g.out_bytes * g.m * g.n;
  const double a = g.in_bytes * g.m * g.k;
  const double b = g.in_bytes * g.k * g.n;
  const double once = a + b + out;
  const double tiled = a * std::ceil(g.n / kEdge) + b * std::ceil(g.m / kEdge) + out;
  const double miss = once / (once + l2_bytes);
  return g.batch * (once + kVectorReread * miss * (tiled - once));
}

OpTime combine(double compute, double memory, double launch, const SmoothMax& overlap) {
  return {Seconds{overlap(compute, memory) + launch}, Seconds{compute}, Seconds{memory}, 1};
}

}  // namespace

OpTime gemm_vector(const Gemm& g, const Context& context) {
  static const SmoothMax kOverlap(kVectorExponent);
  const double rate = vector_rate(g, context);
  double compute = 0;
  for (const Tile& tile : kVectorTiles) {
    if (!available(tile, g, context.generation)) continue;
    const double time = tile_time(g, tile, g.k, kVectorTail, rate, context);
    if (compute == 0 || time < compute) compute = time;
  }
  if (!g.batched) {
    const double rest = split_time(g, kVectorTiles[4], g.k, kVectorSplit * rate, context);
    compute = std::min(compute, rest);
  }
  const double memory = vector_traffic(g, context.l2_bytes) / context.gemm_bytes_per_s;
  return combine(compute, memory, kVectorLaunch, kOverlap);
}

OpTime gemm_tensor(const Gemm& g, double flops_per_s, const Context& context) {
  static const SmoothMax kOverlap(kTensorExponent);
  double compute = 0;
  for (const Tile& tile : kTensorTiles) {
    const double time = tile_time(g, tile, g.k + kTensorStart, kTensorTail, flops_per_s, context);
    if (compute == 0 || time < compute) compute = time;
  }
  if (!g.batched) {
    const double k = g.k + kTensorStart;
    const double rest = split_time(g, kTensorTiles[1], k, kTensorSplit * flops_per_s, context);
    compute = std::min(compute, rest);
  }
  const double bytes = g.batch * (g.in_bytes * (g.m * g.k + g.k * g.n) + g.out_bytes * g.m * g.n);
  return combine(compute, bytes / context.short_bytes_per_s, kTensorLaunch, kOverlap);
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
  return gemm_tensor(gemm, wide ? context.matrix_flops_per_s : context.short_flops_per_s, context);
}

}  // namespace foretrain::cost
