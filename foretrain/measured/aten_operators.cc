// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/detail/aten_operators.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "foretrain/base/json.h"

namespace foretrain::measured {
namespace {

constexpr std::size_t kLongestValue = 200;

enum class Take {
  Value,   // the numbers
  Length,  // how many numbers
  Not,     // of true or false
};

struct Attribute {
  std::size_t place;
  const char* name;
  Take take = Take::Value;
};

// How arguments become an operator's inputs and attributes.
struct Rule {
  const char* kind;
  const char* direction;
  std::vector<std::size_t> tensors;  // places of the operator's inputs, in its order
  std::size_t least;                 // so many must be there; the others may be None
  std::vector<Attribute> attributes{};
};

constexpr const char* kForward = "forward";
constexpr const char* kBackward = "backward";

Rule unary(const char* kind) { return {kind, kForward, {0}, 1}; }
Rule unary_grad(const char* kind) { return {kind, kBackward, {1}, 1}; }

std::vector<Attribute> pool(std::size_t first, bool dilates) {
  std::vector<Attribute> attributes{
      {first, "kernel"}, {first + 1, "stride"}, {first + 2, "padding"}};
  attributes.push_back({first + (dilates ? 4 : 3), "ceil_mode"});
  return attributes;
}

std::vector<Attribute> convolution(std::size_t first) {
  return {{first, "stride"},         {first + 1, "padding"},        {first + 2, "dilation"},
          {first + 3, "transposed"}, {first + 4, "output_padding"}, {first + 5, "groups"}};
}

using Rules = std::map<std::string, Rule, std::less<>>;

// Arguments are counted from 0, as native_functions.yaml of PyTorch 2 lists them.
Rules make_rules() {
  Rules rules{
      {"linear", {"linear", kForward, {0, 1, 2}, 2}},
      {"addmm", {"matmul", kForward, {1, 2}, 2}},
      {"mm", {"matmul", kForward, {0, 1}, 2}},
      {"bmm", {"matmul", kForward, {0, 1}, 2}},
      {"matmul", {"matmul", kForward, {0, 1}, 2}},
      {"convolution", {"conv", kForward, {0, 1, 2}, 2, convolution(3)}},
      {"convolution_backward", {"conv", kBackward, {1, 2}, 2, convolution(4)}},
      {"scaled_dot_product_attention", {"attention", kForward, {0, 1, 2}, 3, {{5, "causal"}}}},
      {"embedding", {"embedding", kForward, {1, 0}, 2}},
      {"add", {"add", kForward, {0, 1}, 2}},
      {"add_", {"add", kForward, {0, 1}, 2}},
      {"mul", {"mul", kForward, {0, 1}, 2}},
      {"batch_norm", {"batch_norm", kForward, {0, 1, 2, 3, 4}, 3, {{5, "frozen", Take::Not}}}},
      {"native_batch_norm_backward", {"batch_norm", kBackward, {1, 2, 2, 3, 4}, 3}},
      {"cudnn_batch_norm_backward", {"batch_norm", kBackward, {0, 2, 2, 3, 4}, 3}},
      {"layer_norm", {"layer_norm", kForward, {0, 2, 3}, 1, {{1, "axes", Take::Length}}}},
      {"native_layer_norm_backward",
       {"layer_norm", kBackward, {1, 5, 6}, 1, {{2, "axes", Take::Length}}}},
      {"softmax", {"softmax", kForward, {0}, 1, {{1, "axis"}}}},
      {"_softmax", {"softmax", kForward, {0}, 1, {{1, "axis"}}}},
      {"_softmax_backward_data", {"softmax", kBackward, {1}, 1, {{2, "axis"}}}},
      {"cross_entropy_loss", {"cross_entropy", kForward, {0, 1}, 2}},
      {"max_pool2d", {"max_pool", kForward, {0}, 1, pool(1, true)}},
      {"max_pool2d_with_indices_backward", {"max_pool", kBackward, {1}, 1, pool(2, true)}},
      {"avg_pool2d", {"avg_pool", kForward, {0}, 1, pool(1, false)}},
      {"avg_pool2d_backward", {"avg_pool", kBackward, {1}, 1, pool(2, false)}},
      {"adaptive_avg_pool2d", {"adaptive_avg_pool", kForward, {0}, 1, {{1, "sizes"}}}},
      {"native_dropout", unary("dropout")},
      {"threshold_backward", unary_grad("relu")},
      {"hardswish", unary("hard_swish")},
      {"hardswish_", unary("hard_swish")},
      {"hardswish_backward", unary_grad("hard_swish")},
      {"relu_", unary("relu")},
      {"silu_", unary("silu")},
  };
  for (const char* kind : {"relu", "gelu", "silu", "mish", "sigmoid", "tanh"}) {
    rules.emplace(kind, unary(kind));
    rules.emplace(std::string(kind) + "_backward", unary_grad(kind));
  }
  return rules;
}

const Rule* find_rule(std::string_view name) {
  static const Rules kRules = make_rules();
  constexpr std::string_view kNamespace = "aten::";
  if (!name.starts_with(kNamespace)) return nullptr;
  const auto found = kRules.find(name.substr(kNamespace.size()));
  return found == kRules.end() ? nullptr : &found->second;
}

// The numbers of "[1, 1]", "3", "False"; nothing where it is none of these.
std::optional<std::vector<std::int64_t>> numbers(const std::string& value) {
  if (value == "True") return std::vector<std::int64_t>{1};
  if (value == "False") return std::vector<std::int64_t>{0};
  if (value.size() > kLongestValue) return std::nullopt;
  const Json json = Json::parse(value, nullptr, false);
  std::vector<std::int64_t> found;
  for (const Json& number : json.is_array() ? json : Json::array({json})) {
    if (!number.is_number_integer()) return std::nullopt;
    found.push_back(number.get<std::int64_t>());
  }
  return found;
}

std::string joined(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

// An input that is not there can only be followed by others that are not.
std::optional<std::string> shapes_of(const Rule& rule, const std::vector<AtenArgument>& arguments) {
  std::string text;
  std::size_t found = 0;
  bool ended = false;
  for (const std::size_t place : rule.tensors) {
    const bool there = place < arguments.size() && !arguments[place].shape.empty();
    if (there && ended) return std::nullopt;
    ended = ended || !there;
    if (!there) continue;
    ++found;
    text += (text.empty() ? "" : ";") + joined(arguments[place].shape);
  }
  if (found < rule.least) return std::nullopt;
  return text;
}

// A pool's stride is its window where none is given.
std::optional<std::string> attributes_of(const Rule& rule,
                                         const std::vector<AtenArgument>& arguments) {
  Json json = Json::object();
  for (const Attribute& attribute : rule.attributes) {
    if (attribute.place >= arguments.size()) return std::nullopt;
    const auto found = numbers(arguments[attribute.place].value);
    if (!found) return std::nullopt;
    if (attribute.take == Take::Length) {
      json[attribute.name] = found->size();
    } else if (found->empty()) {
      if (json.contains("kernel") && std::string_view(attribute.name) == "stride") {
        json[attribute.name] = json["kernel"];
      }
    } else if (attribute.take == Take::Not) {
      json[attribute.name] = found->front() == 0 ? 1 : 0;
    } else {
      json[attribute.name] = *found;
    }
  }
  return json_text(json);
}

std::optional<std::string> dtype_of(const std::string& type) {
  static const std::map<std::string, std::string> kTypes{
      {"float", "f32"}, {"c10::Half", "f16"}, {"c10::BFloat16", "bf16"}};
  const auto found = kTypes.find(type);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

// The floating-point type of the tensors.
std::optional<std::string> dtype_of(const Rule& rule, const std::vector<AtenArgument>& arguments) {
  for (const std::size_t place : rule.tensors) {
    if (place >= arguments.size()) break;
    if (const auto found = dtype_of(arguments[place].type)) return found;
  }
  return std::nullopt;
}

// A convolution's gradients: of input and weight both, and of the bias where it has one.
bool add_bias(const std::vector<AtenArgument>& arguments, std::string& shapes) {
  constexpr std::size_t kBias = 3;
  constexpr std::size_t kWanted = 10;
  if (arguments.size() <= kWanted) return false;
  const std::string& wanted = arguments[kWanted].value;
  if (!wanted.starts_with("[True, True")) return false;
  if (!wanted.ends_with("True]")) return true;
  const auto bias = numbers(arguments[kBias].value);
  if (!bias || bias->size() != 1) return false;
  shapes += ";" + joined(*bias);
  return true;
}

}  // namespace

bool AtenCall::operator<(const AtenCall& other) const {
  return std::tie(kind, shapes, attributes, dtype, direction) <
         std::tie(other.kind, other.shapes, other.attributes, other.dtype, other.direction);
}

bool is_known_aten(std::string_view name) { return find_rule(name) != nullptr; }

std::optional<AtenCall> aten_call(std::string_view name,
                                  const std::vector<AtenArgument>& arguments) {
  const Rule* rule = find_rule(name);
  if (rule == nullptr) return std::nullopt;
  auto shapes = shapes_of(*rule, arguments);
  const auto attributes = attributes_of(*rule, arguments);
  const auto dtype = dtype_of(*rule, arguments);
  if (!shapes || !attributes || !dtype) return std::nullopt;
  if (name == "aten::convolution_backward" && !add_bias(arguments, *shapes)) return std::nullopt;
  return AtenCall{rule->kind, *shapes, *attributes, *dtype, rule->direction};
}

}  // namespace foretrain::measured
