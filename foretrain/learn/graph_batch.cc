// SPDX-License-Identifier: Apache-2.0
#include "foretrain/learn/graph_batch.h"

#include <algorithm>
#include <cmath>

namespace foretrain::learn {
namespace {

// By node, in order.
using Lists = std::vector<std::vector<std::int32_t>>;

Lists lists_of(const GraphInput& graph, bool itself) {
  Lists lists(graph.nodes.rows);
  for (const auto& [a, b] : graph.edges) {
    if (a == b) continue;
    lists[static_cast<std::size_t>(a)].push_back(b);
    lists[static_cast<std::size_t>(b)].push_back(a);
  }
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (itself) lists[i].push_back(static_cast<std::int32_t>(i));
    std::sort(lists[i].begin(), lists[i].end());
    lists[i].erase(std::unique(lists[i].begin(), lists[i].end()), lists[i].end());
  }
  return lists;
}

void append(const Lists& lists, bool normalised, std::int32_t offset, Sparse& all) {
  for (const std::vector<std::int32_t>& row : lists) {
    for (const std::int32_t j : row) {
      const auto degrees = static_cast<double>(row.size()) *
                           static_cast<double>(lists[static_cast<std::size_t>(j)].size());
      all.column.push_back(offset + j);
      all.value.push_back(normalised ? static_cast<float>(1 / std::sqrt(degrees)) : 1.0F);
    }
    all.first.push_back(static_cast<std::int32_t>(all.column.size()));
  }
}

}  // namespace

GraphBatch make_batch(std::span<const GraphInput* const> graphs, Neighbours neighbours) {
  GraphBatch batch;
  std::size_t rows = 0;
  for (const GraphInput* graph : graphs) rows += graph->nodes.rows;
  batch.nodes = Matrix(rows, graphs.front()->nodes.columns);
  batch.whole = Matrix(graphs.size(), graphs.front()->whole.size());
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const GraphInput& graph = *graphs[g];
    const std::int32_t offset = batch.first.back();
    std::copy(graph.nodes.values.begin(), graph.nodes.values.end(),
              batch.nodes.row(static_cast<std::size_t>(offset)));
    std::copy(graph.whole.begin(), graph.whole.end(), batch.whole.row(g));
    append(lists_of(graph, neighbours != Neighbours::Plain), neighbours == Neighbours::Normalised,
           offset, batch.neighbours);
    batch.first.push_back(offset + static_cast<std::int32_t>(graph.nodes.rows));
  }
  return batch;
}

std::size_t graphs_at_once(std::span<const GraphInput* const> graphs) {
  constexpr std::size_t kMostNodes = 128;
  std::size_t nodes = graphs.front()->nodes.rows;
  std::size_t count = 1;
  while (count < graphs.size() && nodes + graphs[count]->nodes.rows <= kMostNodes) {
    nodes += graphs[count++]->nodes.rows;
  }
  return count;
}

}  // namespace foretrain::learn
