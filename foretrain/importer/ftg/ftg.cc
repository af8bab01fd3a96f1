// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/ftg.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/builder.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/rules.h"
#include "foretrain/importer/ftg/ftg_file.h"

namespace foretrain::importer {
namespace {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Tensor;
using graph::TensorId;

constexpr TensorId kAmbiguous = -1;
constexpr std::size_t kMostListed = 20;      // operators in the note
constexpr std::size_t kMostSearched = 1000;  // names for near matches

[[noreturn]] void fail(const std::string& place, const std::string& what) {
  throw Error(ErrorKind::BadInput, printable(place, 200) + ": " + what);
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  names.reserve(graph::kKinds);
  for (int k = 0; k < graph::kKinds; ++k) names.emplace_back(graph::op(static_cast<Kind>(k)).name);
  return names;
}

// Follows the references of a file and infers what it leaves out.
class Linker {
 public:
  Linker(FtgFile file, std::string where) : file_(std::move(file)), where_(std::move(where)) {}

  Graph link() {
    graph_.name = std::move(file_.name);
    graph_.symbols = std::move(file_.symbols);
    graph_.tensors = std::move(file_.tensors);
    graph_.notes = std::move(file_.notes);
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const bool state = graph_.tensors[t].role == graph::Role::OptimizerState;
      if (!state) remember(graph_.tensors[t].name, static_cast<TensorId>(t));
    }
    graph_.nodes.reserve(file_.nodes.size());
    for (FtgNode& node : file_.nodes) add(node);
    for (const Reference& output : file_.outputs) {
      graph_.outputs.push_back(follow(output, where_ + ": outputs"));
    }
    if (file_.loss) graph_.loss = follow(*file_.loss, where_ + ": loss");
    for (const auto& [parameter, gradient] : file_.gradients) {
      graph_.gradients.emplace_back(follow(parameter, where_ + ": gradients"),
                                    follow(gradient, where_ + ": gradients"));
    }
    note_opaque();
    return std::move(graph_);
  }

 private:
  std::string place() const { return where_ + ": node " + std::to_string(graph_.nodes.size()); }

  void remember(const std::string& name, TensorId id) {
    if (name.empty()) return;
    const auto [entry, added] = ids_.try_emplace(name, id);
    if (!added) entry->second = kAmbiguous;
  }

  TensorId follow(const Reference& reference, const std::string& place) const {
    if (const auto* number = std::get_if<std::int64_t>(&reference)) {
      if (*number < 0 || std::cmp_greater_equal(*number, graph_.tensors.size())) {
        fail(place, "there is no tensor " + std::to_string(*number) + "; there are " +
                        std::to_string(graph_.tensors.size()) + ", counted from 0");
      }
      return static_cast<TensorId>(*number);
    }
    const std::string& name = std::get<std::string>(reference);
    const auto found = ids_.find(name);
    if (found == ids_.end()) {
      fail(place, "no tensor named '" + printable(name) +
                      "' is declared or written by an earlier node" + did_you_mean(name, names()));
    }
    if (found->second == kAmbiguous) {
      fail(place, "several tensors are named '" + printable(name) + "'; use the tensor's number");
    }
    return found->second;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Tensor& tensor : graph_.tensors) {
      if (!tensor.name.empty()) names.push_back(tensor.name);
      if (names.size() == kMostSearched) break;
    }
    return names;
  }

  // A name that no tensor has yet.
  bool is_new(const Reference& output) const {
    const auto* name = std::get_if<std::string>(&output);
    return name != nullptr && !ids_.contains(*name);
  }

  // Either all outputs of a node are declared tensors, or none is and the operator says what
  // they are.
  void add(FtgNode& from) {
    const std::optional<Kind> kind = graph::kind_named(from.op);
    Node node = std::move(from.node);
    node.kind = kind.value_or(Kind::Opaque);
    if (!kind) {
      ++opaque_[from.op];
      if (node.label.empty()) node.label = from.op;
    }
    for (const Reference& input : from.inputs) node.inputs.push_back(follow(input, place()));
    const bool some_new = std::any_of(from.outputs.begin(), from.outputs.end(),
                                      [this](const Reference& r) { return is_new(r); });
    const bool inferable =
        graph::op(node).infer != graph::infer_given && node.phase == graph::Phase::Forward;
    if (inferable && (some_new || from.outputs.empty())) {
      infer(std::move(node), from.outputs);
      return;
    }
    if (some_new || (!kind && from.outputs.empty())) fail_unknown_shape(node, kind.has_value());
    for (const Reference& output : from.outputs) node.outputs.push_back(follow(output, place()));
    graph_.nodes.push_back(std::move(node));
  }

  void infer(Node node, const std::vector<Reference>& outputs) {
    const std::string here = place();
    for (const Reference& output : outputs) {
      if (!is_new(output)) {
        fail(here, "the outputs of a node are either all declared under 'tensors' or all new");
      }
    }
    std::vector<TensorId> ids;
    try {
      ids = append(graph_, std::move(node));
    } catch (const Error& error) {
      throw Error(error.kind(), printable(here, 200) + ": " + error.what());
    }
    if (graph_.tensors.size() > kMostTensors)
      fail(here, "the graph has more than 2,000,000 tensors");
    if (outputs.size() > ids.size()) {
      fail(here, "names " + std::to_string(outputs.size()) + " outputs, but there are " +
                     std::to_string(ids.size()));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = std::get<std::string>(outputs[i]);
      graph_.tensor(ids[i]).name = name;
      remember(name, ids[i]);
    }
  }

  [[noreturn]] void fail_unknown_shape(const Node& node, bool known) const {
    if (known) {
      fail(place(), "the shapes of the outputs of '" + std::string(op(node).name) +
                        "' cannot be inferred; list the outputs under 'tensors'");
    }
    throw Error(ErrorKind::Unsupported,
                printable(place(), 200) + ": the operator '" + printable(node.label) +
                    "' is not known and the shapes of its outputs are not given; list them under "
                    "'tensors'" +
                    did_you_mean(node.label, operator_names()));
  }

  void note_opaque() {
    if (opaque_.empty()) return;
    std::string note = "opaque operators: ";
    std::size_t listed = 0;
    for (const auto& [name, count] : opaque_) {
      if (listed == kMostListed) break;
      if (listed++ > 0) note += ", ";
      note += printable(name) + " x" + std::to_string(count);
    }
    if (listed < opaque_.size())
      note += " and " + std::to_string(opaque_.size() - listed) + " more";
    graph_.notes.push_back(note);
  }

  FtgFile file_;
  std::string where_;
  Graph graph_;
  std::unordered_map<std::string, TensorId> ids_;  // by name
  std::map<std::string, int> opaque_;              // how many nodes of each operator not known
};

}  // namespace

Graph read_ftg(std::string_view text, const std::string& where) {
  Graph graph = Linker(parse_ftg(text, where), where).link();
  try {
    verify(graph);
  } catch (const Error& error) {
    throw Error(error.kind(), printable(where, 200) + ": " + error.what());
  }
  return graph;
}

}  // namespace foretrain::importer
