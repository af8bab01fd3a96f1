// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/detail/joint_adapter.h"
#include "foretrain/graph/detail/rewrite.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {
namespace {

void freeze(Graph& model) {
  for (Tensor& tensor : model.tensors) tensor.trainable = false;
}

bool multiplies(const Node& node) {
  const Family family = op(node).family;
  return family == Family::Matrix || family == Family::Convolution || family == Family::Recurrent;
}

// Whether the node reads weights, which then train: parameters, or rows looked up in them.
bool train_weights(Graph& model, const std::vector<const Node*>& producers, const Node& node) {
  bool found = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    TensorId id = node.inputs[i];
    const Node* producer = i == 0 ? nullptr : producers[static_cast<std::size_t>(id)];
    if (producer != nullptr && producer->kind == Kind::Embedding) id = producer->inputs[1];
    if (producer != nullptr && producer->kind == Kind::Gather) id = producer->inputs[0];
    Tensor& tensor = model.tensor(id);
    if (tensor.role != Role::Parameter || !is_floating(tensor.type)) continue;
    tensor.trainable = true;
    found = true;
  }
  return found;
}

Graph only_head(Graph model) {
  freeze(model);
  std::vector<const Node*> producers(model.tensors.size(), nullptr);
  for (const Node& node : model.nodes) {
    for (const TensorId id : node.outputs) producers[static_cast<std::size_t>(id)] = &node;
  }
  for (std::size_t n = model.nodes.size(); n-- > 0;) {
    const Node& node = model.nodes[n];
    if (multiplies(node) && train_weights(model, producers, node)) return model;
  }
  throw Error(ErrorKind::BadInput,
              "trainable=head: model '" + model.name +
                  "' has no GEMM, convolution or recurrent layer with parameters");
}

TensorId parameter(Graph& graph, const std::string& name, const Shape& shape) {
  graph.tensors.push_back({name, shape, DType::F32, Role::Parameter, true});
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

bool of_attention(const std::string& path) {
  return path.find("attn") != std::string::npos || path.find("attention") != std::string::npos;
}

bool ends_in(const std::string& path, const std::string& name) {
  return path == name || path.ends_with("." + name);
}

// Linear layers that get an adapter, by the index of their node. Throws Error(BadInput) naming a
// target that there is none of.
std::vector<bool> adapted(const Graph& model, const std::vector<std::string>& targets,
                          bool joint_attention) {
  std::vector<bool> chosen(model.nodes.size(), false);
  std::size_t head = model.nodes.size();
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    if (model.nodes[n].kind == Kind::Linear) head = n;
  }
  std::vector<std::string> known;
  for (const Node& node : model.nodes) {
    if (node.kind == Kind::Linear) known.push_back(last_part(node.scope));
  }
  for (const std::string& target : targets) {
    bool found = false;
    for (std::size_t n = 0; n < model.nodes.size(); ++n) {
      const Node& node = model.nodes[n];
      if (node.kind != Kind::Linear) continue;
      const bool wanted = target == "blocks"      ? n != head
                          : target == "attention" ? of_attention(node.scope)
                          : joint_attention && is_part(target)
                              ? is_joint(node) || ends_in(node.scope, target)
                              : ends_in(node.scope, target);
      chosen[n] = chosen[n] || wanted;
      found = found || wanted;
    }
    if (found) continue;
    throw Error(ErrorKind::BadInput, "trainable: model '" + model.name + "' has no linear layer '" +
                                         printable(target) + "'" + did_you_mean(target, known));
  }
  if (targets.empty()) chosen.assign(chosen.size(), true);
  return chosen;
}

// y = x w' + scale (x a') b', with a and b of `rank` rows and columns.
void add_adapter(Rewrite& rewrite, const Node& node, const Trainable& what) {
  Graph& graph = rewrite.graph();
  const std::int64_t rank = what.rank;
  TensorId x = rewrite.now(node.inputs[0]);
  const Shape weight = graph.tensor(rewrite.now(node.inputs[1])).shape;
  const TensorId a = parameter(graph, node.scope + ".lora_A.weight", Shape{Dim(rank), weight[1]});
  const TensorId b = parameter(graph, node.scope + ".lora_B.weight", Shape{weight[0], Dim(rank)});
  const std::string scope = node.scope + ".lora";
  if (what.dropout) x = append_one(graph, Kind::Dropout, {x}, scope);
  const TensorId thin = append_one(graph, Kind::Linear, {x, a}, scope);
  const TensorId wide =
      append_one(graph, Kind::Scale, {append_one(graph, Kind::Linear, {thin, b}, scope)}, scope);
  const TensorId base = rewrite.now(node.outputs[0]);
  rewrite.becomes(node.outputs[0], append_one(graph, Kind::Add, {base, wide}, scope));
}

Graph with_lora(Graph model, const Trainable& what, bool joint_attention) {
  freeze(model);
  const std::vector<bool> chosen = adapted(model, what.targets, joint_attention);
  Rewrite rewrite(model);
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    rewrite.keep(model.nodes[n]);
    if (model.nodes[n].kind != Kind::Linear || !chosen[n]) continue;
    if (joint_attention && is_joint(model.nodes[n])) {
      add_joint_adapter(rewrite, model, model.nodes[n], what);
    } else {
      add_adapter(rewrite, model.nodes[n], what);
    }
  }
  return rewrite.finish();
}

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorKind::BadInput,
              "trainable '" + printable(text) +
                  "' is not known; use all, head, lora:rank=16 or "
                  "lora:rank=16,targets=q_proj+v_proj,dtype=bf16,dropout=0.05");
}

std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end = 0; end != std::string::npos; start = end + 1) {
    end = text.find(between, start);
    parts.push_back(text.substr(start, end - start));
  }
  return parts;
}

// One of "rank=16", "targets=q_proj+v_proj", "dtype=bf16"; whether it is.
bool read_option(const std::string& option, Trainable& what) {
  const std::size_t equals = option.find('=');
  if (equals == std::string::npos) return false;
  const std::string key = option.substr(0, equals);
  const std::string value = option.substr(equals + 1);
  if (key == "targets") {
    what.targets = split(value, '+');
    return std::find(what.targets.begin(), what.targets.end(), "") == what.targets.end();
  }
  if (key == "dtype") {
    what.type = value == "bf16" ? DType::BF16 : value == "fp16" ? DType::F16 : DType::F32;
    return value == "bf16" || value == "fp16" || value == "fp32";
  }
  const char* end = value.data() + value.size();
  if (key == "dropout") {
    double share = 0;
    const auto parsed = std::from_chars(value.data(), end, share);
    what.dropout = share > 0;
    return parsed.ec == std::errc{} && parsed.ptr == end && share >= 0 && share < 1;
  }
  const auto parsed = std::from_chars(value.data(), end, what.rank);
  return key == "rank" && parsed.ec == std::errc{} && parsed.ptr == end && what.rank >= 1 &&
         what.rank <= 65536;
}

}  // namespace

Trainable parse_trainable(const std::string& text) {
  using enum Trainable::Part;
  const std::string lora = "lora:";
  if (text == "all") return {};
  if (text == "head") return {.part = Head};
  if (!text.starts_with(lora)) refuse(text);
  Trainable what{.part = Lora};
  for (const std::string& option : split(text.substr(lora.size()), ',')) {
    if (!read_option(option, what)) refuse(text);
  }
  if (what.rank == 0) refuse(text);
  return what;
}

Graph set_trainable(Graph model, const Trainable& what, bool joint_attention) {
  require_forward(model);
  switch (what.part) {
    case Trainable::Part::All:
      return model;
    case Trainable::Part::Head:
      return only_head(std::move(model));
    case Trainable::Part::Lora:
      break;
  }
  return with_lora(std::move(model), what, joint_attention);
}

}  // namespace foretrain::graph
