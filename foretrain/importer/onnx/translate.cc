// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/near.h"
#include "foretrain/importer/onnx/control.h"
#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

// An error that names its node already.
class PlacedError : public Error {
 public:
  using Error::Error;
};

// A body may be gone through very often without adding nodes.
void spend(OnnxTranslation& all, std::size_t names) {
  all.budget.spend(names * OnnxBudget::kLookUp);
}

std::size_t names_of(const OnnxNode& node) {
  return 1 + node.inputs.size() + node.outputs.size() + node.attributes.size();
}

// What a rule may read of its node again and again.
std::size_t text_bytes(const OnnxNode& node) {
  std::size_t bytes = node.name.size() + node.module_path.size();
  for (const OnnxAttribute& attribute : node.attributes) {
    bytes += attribute.text.value_or("").size() +
             8 * (attribute.integers.size() + attribute.reals.size());
  }
  return bytes;
}

// Nodes inside a node read the names around it too.
void count_uses(OnnxTranslation& all, const std::vector<OnnxNode>& nodes,
                std::unordered_map<std::string_view, int>& uses) {
  for (const OnnxNode& node : nodes) {
    spend(all, names_of(node));
    for (const std::string_view input : node.inputs) ++uses[input];
    for (const OnnxAttribute& attribute : node.attributes) {
      if (!attribute.graph) continue;
      count_uses(all, attribute.graph->nodes, uses);
      for (const OnnxValueInfo& output : attribute.graph->outputs) ++uses[output.name];
    }
  }
}

std::string place_of(const OnnxNode& node) {
  const std::string op = " (" + printable(node.op_type) + "): ";
  if (!node.name.empty()) return "node '" + printable(node.name, 100) + "'" + op;
  return "the node that writes '" + printable(node.outputs.front(), 100) + "'" + op;
}

// What to do, where an open size may be the cause.
std::string advice(const OnnxTranslation& all, const std::string& message) {
  if (all.symbols.names.size() < 2) return "";
  const bool about_sizes = message.find("symbol") != std::string::npos ||
                           message.find("broadcast") != std::string::npos ||
                           message.find("differ") != std::string::npos;
  if (!about_sizes) return "";
  return " (open sizes besides the batch can be fixed: model.onnx:" + all.symbols.names[1] +
         "=NUMBER)";
}

void translate(const OnnxCall& call) {
  const OnnxNode& node = call.node();
  if (const OnnxRule* rule = find_rule(node.domain, node.op_type)) {
    rule->apply(call, rule->kind);
  } else if (const OnnxFunction* function = find_function(call.all(), node)) {
    inline_function(call, *function);
  } else {
    translate_unknown(call);
  }
  for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
    if (!call.wants(i) || call.given(i)) continue;
    if (call.scope().uses.contains(node.outputs[static_cast<std::size_t>(i)])) {
      OnnxCall::fail_unsupported("its output " + std::to_string(i) + " is not understood");
    }
  }
}

}  // namespace

OnnxValue* find_value(const OnnxScope& scope, std::string_view name) {
  for (const OnnxScope* s = &scope; s != nullptr; s = s->outer) {
    const auto found = s->values.find(name);
    if (found != s->values.end()) return found->second;
  }
  return nullptr;
}

void open_scope(OnnxTranslation& all, OnnxScope& scope, const OnnxGraph& graph) {
  all.budget.spend(OnnxBudget::kScope);
  spend(all, graph.initializers.size() + graph.values.size() + graph.outputs.size());
  for (const OnnxTensor& tensor : graph.initializers) {
    OnnxValue* value = new_value(all, stored_value(all, tensor, false));
    if (!scope.values.try_emplace(tensor.name, value).second) {
      throw Error(ErrorKind::BadInput,
                  "two initializers are named '" + printable(tensor.name) + "'");
    }
  }
  for (const OnnxValueInfo& info : graph.values) scope.infos.try_emplace(info.name, &info);
  for (const OnnxValueInfo& info : graph.outputs) {
    scope.infos.try_emplace(info.name, &info);
    ++scope.uses[info.name];
  }
  count_uses(all, graph.nodes, scope.uses);
}

void translate_nodes(OnnxTranslation& all, OnnxScope& scope, const std::vector<OnnxNode>& nodes) {
  for (const OnnxNode& node : nodes) {
    if (node.outputs.empty()) continue;
    try {
      spend(all, names_of(node));
      all.budget.spend(text_bytes(node));
      translate(OnnxCall(all, scope, node));
    } catch (const PlacedError&) {
      throw;
    } catch (const Error& error) {
      const std::string message = error.what();
      throw PlacedError(error.kind(), place_of(node) + message + advice(all, message));
    }
  }
}

}  // namespace foretrain::importer
