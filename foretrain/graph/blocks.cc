// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/blocks.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "foretrain/graph/op.h"

namespace foretrain::graph {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Every number becomes a star, with the letter that ends a name after it: "inception4b" is the
// second of the fourth stage.
std::string pattern_of(std::string_view scope) {
  std::string pattern;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    if (!is_digit(scope[i])) {
      pattern += scope[i];
      continue;
    }
    while (i + 1 < scope.size() && is_digit(scope[i + 1])) ++i;
    const bool letter = i + 1 < scope.size() && is_letter(scope[i + 1]) &&
                        (i + 2 == scope.size() || scope[i + 2] == '.');
    if (letter) ++i;
    pattern += '*';
  }
  return pattern;
}

std::string_view parent_of(std::string_view scope) {
  const std::size_t dot = scope.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : scope.substr(0, dot);
}

// Whether the last name has a number.
bool is_numbered(std::string_view scope) {
  const std::size_t dot = scope.rfind('.');
  const auto name = scope.substr(dot == std::string_view::npos ? 0 : dot + 1);
  return std::any_of(name.begin(), name.end(), is_digit);
}

bool is_gemm(const Node& node) {
  const Family family = op(node).family;
  return family == Family::Matrix || family == Family::Convolution;
}

// A numbered scope of the forward pass.
struct Candidate {
  std::string_view scope;
  std::set<std::string_view> layers;  // scopes below it, without its own
  std::set<std::string_view> gemms;   // those of them that multiply matrices
  std::size_t first = 0;              // node
  std::size_t last = 0;
};

// Half of the layers of both are the same.
bool alike(const Candidate& a, const Candidate& b) {
  std::vector<std::string_view> both;
  std::set_intersection(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                        std::back_inserter(both));
  return 3 * both.size() >= a.layers.size() + b.layers.size();  // |a and b| / |a or b| >= 1/2
}

bool lies_in(std::string_view scope, std::string_view outer) {
  return scope.size() > outer.size() && scope[outer.size()] == '.' && scope.starts_with(outer);
}

bool is_or_lies_in(std::string_view scope, std::string_view outer) {
  return scope == outer || lies_in(scope, outer);
}

// Whether something in `second` is computed from what `first` computed.
bool depends(const Graph& graph, const Candidate& first, const Candidate& second) {
  std::set<TensorId> derived;
  for (std::size_t n = first.first; n <= second.last; ++n) {
    const Node& node = graph.nodes[n];
    if (node.phase != Phase::Forward) continue;
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](TensorId id) { return derived.contains(id); });
    if (reads && is_or_lies_in(node.scope, second.scope)) return true;
    if (reads || is_or_lies_in(node.scope, first.scope)) {
      derived.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  return false;
}

// The numbered scopes of the forward pass that hold at least two layers of GEMMs, by pattern; those
// of one pattern in the order of execution.
std::map<std::string, std::vector<Candidate>> find_candidates(const Graph& graph) {
  std::map<std::string_view, Candidate> found;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.phase != Phase::Forward) continue;
    for (std::string_view scope = node.scope; !scope.empty(); scope = parent_of(scope)) {
      if (!is_numbered(scope)) continue;
      const auto [place, is_new] = found.try_emplace(scope);
      Candidate& candidate = place->second;
      if (is_new) candidate.first = n;
      candidate.scope = scope;
      candidate.last = n;
      candidate.layers.insert(std::string_view(node.scope).substr(scope.size()));
      if (is_gemm(node)) candidate.gemms.insert(node.scope);
    }
  }
  std::map<std::string, std::vector<Candidate>> patterns;
  for (auto& [scope, candidate] : found) {
    if (candidate.gemms.size() >= 2) patterns[pattern_of(scope)].push_back(std::move(candidate));
  }
  for (auto& [pattern, candidates] : patterns) {
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.first < b.first; });
  }
  return patterns;
}

bool repeats(const Graph& graph, const std::vector<Candidate>& candidates) {
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const Candidate& a = candidates[i - 1];
    const Candidate& b = candidates[i];
    if (parent_of(a.scope) == parent_of(b.scope) && alike(a, b) && depends(graph, a, b)) {
      return true;
    }
  }
  return false;
}

// Deeper patterns first; a scope around a block is none.
std::vector<Candidate> choose(const Graph& graph) {
  std::vector<std::pair<std::ptrdiff_t, std::vector<Candidate>>> by_depth;
  for (auto& [pattern, candidates] : find_candidates(graph)) {
    if (!repeats(graph, candidates)) continue;
    const auto depth = std::count(pattern.begin(), pattern.end(), '.');
    by_depth.emplace_back(depth, candidates);
  }
  std::stable_sort(by_depth.begin(), by_depth.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Candidate> chosen;
  std::set<std::string_view> around;  // scopes that hold a block
  for (auto& [depth, candidates] : by_depth) {
    for (Candidate& candidate : candidates) {
      if (around.contains(candidate.scope)) continue;
      for (auto scope = parent_of(candidate.scope); !scope.empty(); scope = parent_of(scope)) {
        around.insert(scope);
      }
      chosen.push_back(std::move(candidate));
    }
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const Candidate& a, const Candidate& b) { return a.first < b.first; });
  return chosen;
}

std::vector<std::optional<BlockId>> blocks_of_nodes(const Graph& graph,
                                                    const std::vector<std::string>& scopes) {
  std::map<std::string_view, BlockId> ids;
  for (BlockId b = 0; b < scopes.size(); ++b) ids.emplace(scopes[b], b);
  std::vector<std::optional<BlockId>> of_node(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    std::string_view scope = graph.nodes[n].scope;
    for (; !scope.empty() && !of_node[n]; scope = parent_of(scope)) {
      const auto found = ids.find(scope);
      if (found != ids.end()) of_node[n] = found->second;
    }
  }
  return of_node;
}

std::vector<std::optional<BlockId>> blocks_of_tensors(
    const Graph& graph, const std::vector<std::optional<BlockId>>& of_node) {
  std::vector<std::optional<BlockId>> of_tensor(graph.tensors.size());
  std::vector<bool> read(graph.tensors.size(), false);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].phase != Phase::Forward) continue;
    for (const TensorId id : graph.nodes[n].inputs) {
      const Role role = graph.tensor(id).role;
      if (role != Role::Parameter && role != Role::Buffer) continue;
      if (!read[at(id)]) {
        of_tensor[at(id)] = of_node[n];
      } else if (of_tensor[at(id)] != of_node[n]) {
        of_tensor[at(id)].reset();
      }
      read[at(id)] = true;
    }
  }
  return of_tensor;
}

}  // namespace

Blocks find_blocks(const Graph& graph) {
  Blocks blocks;
  for (const Candidate& candidate : choose(graph)) blocks.scopes.emplace_back(candidate.scope);
  blocks.of_node = blocks_of_nodes(graph, blocks.scopes);
  blocks.of_tensor = blocks_of_tensors(graph, blocks.of_node);
  return blocks;
}

Blocks blocks_named(const Graph& graph, const std::vector<std::string>& scopes) {
  std::vector<bool> present(scopes.size(), false);
  for (const auto& block : blocks_of_nodes(graph, scopes)) {
    if (block) present[*block] = true;
  }
  Blocks blocks;
  for (std::size_t b = 0; b < scopes.size(); ++b) {
    if (present[b]) blocks.scopes.push_back(scopes[b]);
  }
  blocks.of_node = blocks_of_nodes(graph, blocks.scopes);
  blocks.of_tensor = blocks_of_tensors(graph, blocks.of_node);
  return blocks;
}

}  // namespace foretrain::graph
