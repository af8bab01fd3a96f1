// SPDX-License-Identifier: Apache-2.0
// Whatever a config.json says: it is refused with an Error, or it is a model that can be trained.
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/zoo/huggingface.h"

namespace {

using namespace foretrain;  // NOLINT: a program of its own

// A model that takes long is no finding: layers alone make a graph long.
bool short_enough(const std::string& model) {
  constexpr std::int64_t kMostLayers = 16;
  constexpr std::string_view kKey = "layers=";
  for (std::size_t at = model.find(kKey); at != std::string::npos; at = model.find(kKey, at + 1)) {
    std::int64_t layers = 0;
    const char* begin = model.data() + at + kKey.size();
    std::from_chars(begin, model.data() + model.size(), layers);
    if (layers > kMostLayers) return false;
  }
  return true;
}

// What was built goes through the passes of a training step, unless its sizes are beyond those
// of a graph.
void train(const graph::Graph& model) {
  graph::Graph step;
  graph::Bound bound;
  try {
    graph::verify(model);
    bound = graph::bind(model, {{"batch", 2}});
    step = graph::backward(graph::expand_attention(model));
  } catch (const Error&) {
    return;
  }
  for (const graph::Node& node : model.nodes) {
    const graph::Work work = graph::work({bound, node});
    if (!std::isfinite(work.flops) || work.flops < 0) std::abort();
  }
  if (step.gradients.empty() || graph::parameter_count(model) < 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const zoo::HuggingFaceModel model = zoo::model_from_huggingface(text, "", "fuzz");
    if (short_enough(model.model)) train(zoo::build_huggingface(text, "", "fuzz"));
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
