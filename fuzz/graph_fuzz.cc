// SPDX-License-Identifier: Apache-2.0
// Whatever operators a model combines: every pass refuses it with an Error or makes a graph that
// is well formed and can be counted, written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/test_graphs.h"
#include "foretrain/importer/ftg.h"

namespace {

using namespace foretrain;  // NOLINT: a program of its own

void require(bool holds) {
  if (!holds) std::abort();
}

double gemm_flops(const graph::Graph& graph) {
  const graph::Bound bound = graph::bind(graph, {{"batch", 2}});
  double flops = 0;
  for (const graph::Node& node : graph.nodes) {
    const graph::Work work = graph::work({bound, node});
    require(std::isfinite(work.flops) && std::isfinite(work.vector_flops));
    require(std::isfinite(work.read_bytes) && std::isfinite(work.written_bytes));
    flops += work.flops;
  }
  return flops;
}

graph::Graph checked(graph::Graph graph) {
  verify(graph);
  const std::string text = importer::write_ftg(graph);
  require(importer::write_ftg(importer::read_ftg(text, "again")) == text);
  return graph;
}

void run(const graph::Graph& model) {
  using namespace graph;  // NOLINT
  const double flops = gemm_flops(checked(model));
  const Graph expanded = checked(expand_attention(model));
  const double share = gemm_flops(expanded) / (flops + 1e-9);
  require(flops == 0 || std::abs(share - 1) < 1e-9);
  checked(for_inference(model));
  for (const char* what : {"head", "lora:rank=2"}) {
    checked(update(backward(set_trainable(model, parse_trainable(what))), Optimizer::Sgd));
  }
  for (const Casting casting : {Casting::Automatic, Casting::WholeModel}) {
    const Graph half = checked(set_precision(expanded, Precision::Fp16, casting));
    const Graph step =
        checked(update(backward(half, GradientHandling::Accumulate), Optimizer::Adam));
    for (const Fusion fusion : {Fusion::NormActivation, Fusion::Pointwise}) {
      require(gemm_flops(checked(fuse(step, fusion))) == gemm_flops(step));
    }
  }
  gemm_flops(checked(update(backward(model), Optimizer::Lamb)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Numbers that the bytes do not decide follow from them all.
  std::size_t at = 0;
  std::uint64_t state = 14695981039346656037U;
  for (std::size_t i = 0; i < size; ++i) state = (state ^ data[i]) * 1099511628211U;
  const graph::Draw draw = [&](std::size_t below) {
    if (at < size) return data[at++] % below;
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
  };
  try {
    run(graph::AnyGraph(draw).make());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
  return 0;
}
