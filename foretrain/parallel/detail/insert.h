// SPDX-License-Identifier: Apache-2.0
// Communication nodes: made, put into a step, and looked at.
#pragma once

#include <vector>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/bind.h"
#include "foretrain/graph/buckets.h"

namespace foretrain::parallel {

// A node that communicates `tensors`.
graph::Node communication(graph::Kind kind, std::vector<graph::TensorId> tensors,
                          graph::Waiting waiting = graph::Waiting::Readers);

// Whether it is a collective of parameters or their gradients, which a strategy adds.
bool exchanges_parameters(const graph::Node& node);

// Puts the node at the end; the shapes of what it writes follow from those of what it reads.
void append_with_shapes(graph::Graph& step, graph::Node node);

// A node and the one that it stands behind; kFront: before all others.
inline constexpr graph::NodeId kFront = -1;
struct Insertion {
  graph::Node node;
  graph::NodeId after = kFront;
};

// Puts the nodes where they belong; `insertions` are ordered by their places.
void insert(graph::Graph& step, std::vector<Insertion> insertions);

// Adds a node of that kind for each bucket, when its gradients are complete.
void add_buckets(graph::Graph& step, graph::Kind kind, const std::vector<graph::Bucket>& buckets);

// Bytes of a communication node's tensors, and those of all nodes of a kind.
double bytes_of_node(const graph::Bound& step, const graph::Node& node);
double bytes_of_kind(const graph::Bound& step, graph::Kind kind);

}  // namespace foretrain::parallel
