// SPDX-License-Identifier: Apache-2.0
// Whatever a .ftg.json says: it is refused with an Error, or it goes through every pass.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/graph/attr_names.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/dot.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/ftg.h"
#include "foretrain/importer/test_round_trip.h"

namespace {

using namespace foretrain;  // NOLINT: a program of its own

using importer::require;

void check(const graph::Graph& graph) {
  importer::require_well_formed(graph);
  require(!to_dot(graph).empty());
}

// A pass may refuse a graph.
template <typename Pass>
void try_pass(const graph::Graph& graph, const Pass& pass) {
  graph::Graph result;
  try {
    result = pass(graph);
  } catch (const Error&) {
    return;
  }
  check(result);
  importer::require_counts(result);
}

void run(std::string_view text) {
  graph::Graph model = importer::read_ftg(text, "fuzz");
  check(model);
  importer::require_counts(model);
  try_pass(model, [](const auto& g) { return for_inference(g); });
  try_pass(model, [](const auto& g) { return set_trainable(g, graph::parse_trainable("head")); });
  try_pass(model,
           [](const auto& g) { return set_trainable(g, graph::parse_trainable("lora:rank=2")); });
  try_pass(model, [](const auto& g) {
    return set_precision(expand_attention(g), Precision::Fp16, graph::Casting::Automatic);
  });
  try_pass(model, [](const auto& g) {
    return backward(set_precision(g, Precision::Bf16, graph::Casting::WholeModel),
                    graph::GradientHandling::Accumulate);
  });
  try_pass(model, [](const auto& g) {
    return fuse(update(backward(g), graph::Optimizer::Adam), graph::Fusion::Pointwise);
  });
  try_pass(model, [](const auto& g) {
    return fuse(update(backward(g), graph::Optimizer::Lamb), graph::Fusion::NormActivation);
  });
}

// Replaces, repeats, moves or removes one value somewhere inside `json`.
class Mutation {
 public:
  explicit Mutation(unsigned seed) : random_(seed) {}

  void apply(Json& json) {
    Json* value = &json;
    while (value->is_structured() && !value->empty() && draw(8) != 0) {
      value = &*std::next(value->begin(), static_cast<std::ptrdiff_t>(draw(value->size())));
    }
    if (value->is_array()) {
      change_list(value->get_ref<Json::array_t&>());
    } else if (value->is_object()) {
      (*value)[graph::attr_names()[draw(graph::attr_names().size())]] = scalar(json);
    } else {
      *value = scalar(json);
    }
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }

  void change_list(Json::array_t& list) {
    if (list.empty()) {
      list.emplace_back(draw(4));
      return;
    }
    const std::size_t a = draw(list.size());
    const std::size_t b = draw(list.size());
    switch (draw(4)) {
      case 0:
        list.push_back(Json(list[a]));
        break;
      case 1:
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(a));
        break;
      case 2:
        std::swap(list[a], list[b]);
        break;
      default:
        list[a] = Json(list[b]);
    }
  }

  Json scalar(const Json& json) {
    static constexpr std::array<std::int64_t, 14> kNumbers{-1,
                                                           0,
                                                           1,
                                                           2,
                                                           3,
                                                           4,
                                                           5,
                                                           6,
                                                           8,
                                                           64,
                                                           65536,
                                                           std::int64_t{1} << 31,
                                                           std::int64_t{1} << 47,
                                                           std::int64_t{1} << 48};
    switch (draw(4)) {
      case 0:
        return kNumbers[draw(kNumbers.size())];
      case 1:
        return graph::op(static_cast<graph::Kind>(draw(graph::kKinds))).name;
      case 2:
        return draw(2) == 0 ? "batch" : draw(2) == 0 ? "backward" : "seq*batch";
      default:
        return name_in(json);
    }
  }

  Json name_in(const Json& json) {
    const auto tensors = json.find("tensors");
    if (tensors == json.end() || !tensors->is_array() || tensors->empty()) return draw(20);
    const Json& tensor = (*tensors)[draw(tensors->size())];
    return tensor.is_object() && tensor.contains("name") ? tensor["name"] : Json(draw(20));
  }

  std::minstd_rand random_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Most changes of bytes are not even JSON, so most changes are made to values.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  Json json = Json::parse(data, data + size, nullptr, false);
  if (seed % 4 == 0 || !json.is_object()) return LLVMFuzzerMutate(data, size, most);
  Mutation mutation(seed);
  for (unsigned i = 0; i <= seed % 3; ++i) mutation.apply(json);
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    run({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
