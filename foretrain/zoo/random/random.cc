// SPDX-License-Identifier: Apache-2.0
// Architectures that nobody published, for data sets with more variety than the famous ones have.
#include <string>

#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/random/random_families.h"

namespace foretrain::zoo {
namespace {

graph::Graph build_random(Spec& spec) {
  Draw draw(static_cast<std::uint64_t>(spec.take("seed", 0, 0, std::int64_t{1} << 62)));
  std::string family =
      spec.take_text("family", "any", {"any", "cnn", "mlp", "lstm", "transformer"});
  if (family == "any") {
    for (const char* key : {"image", "classes", "seq"}) spec.take(key, 0);  // some family has it
    family = draw.pick<const char*>({"cnn", "mlp", "lstm", "transformer"});
  }
  if (family == "cnn") return build_random_cnn(spec, draw);
  if (family == "mlp") return build_random_mlp(spec, draw);
  if (family == "lstm") return build_random_recurrent(spec, draw);
  return build_random_transformer(spec, draw);
}

}  // namespace

std::vector<Entry> random_entries() {
  return {{{"random", "Random", "an architecture drawn from its seed",
            "family=any|cnn|mlp|lstm|transformer, seed=0, image=32, classes=10, seq drawn"},
           build_random}};
}

}  // namespace foretrain::zoo
