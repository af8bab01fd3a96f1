// SPDX-License-Identifier: Apache-2.0
// For tests: what must hold of every graph that was read from a file; ends the program where it
// does not.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/ftg.h"

namespace foretrain::importer {

inline void require(bool holds) {
  if (!holds) std::abort();
}

// It passes the checks and can be written and read again.
inline void require_well_formed(const graph::Graph& graph) {
  try {
    verify(graph);
    const std::string text = write_ftg(graph);
    require(write_ftg(read_ftg(text, "again")) == text);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
}

// Counts of every node are finite.
inline void require_counts(const graph::Graph& graph) {
  graph::Binding binding;
  for (const std::string& symbol : graph.symbols) binding.emplace_back(symbol, 2);
  const graph::Bound bound = graph::bind(graph, binding);
  for (const graph::Node& node : graph.nodes) {
    const graph::Work work = graph::work({bound, node});
    require(std::isfinite(work.flops) && std::isfinite(work.vector_flops));
    require(std::isfinite(work.read_bytes) && std::isfinite(work.written_bytes));
    require(work.flops >= 0 && work.read_bytes >= 0 && work.written_bytes >= 0);
  }
}

}  // namespace foretrain::importer
