// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/blobs.h"

#include <algorithm>
#include <optional>

namespace foretrain::memory {
namespace {

using graph::NodeId;

const graph::Node& at(const graph::Graph& step, NodeId n) {
  return step.nodes[static_cast<std::size_t>(n)];
}

NodeId last_forward(const graph::Graph& step) {
  auto last = static_cast<NodeId>(step.nodes.size()) - 1;
  while (last >= 0 && at(step, last).phase != graph::Phase::Forward) --last;
  return last;
}

bool share_an_input(const graph::Node& a, const graph::Node& b) {
  return std::any_of(a.inputs.begin(), a.inputs.end(), [&](graph::TensorId id) {
    return std::find(b.inputs.begin(), b.inputs.end(), id) != b.inputs.end();
  });
}

// Which nodes from `first` on come from which, by the tensors that they pass on. All gradients of a
// layer are one operator: nodes side by side in its scope that read the same.
class Descent {
 public:
  Descent(const graph::Graph& step, NodeId first) : first_(first) {
    std::vector<NodeId> writer(step.tensors.size(), -1);
    const auto count = static_cast<NodeId>(step.nodes.size());
    for (NodeId n = first; n < count; ++n) {
      std::vector<bool> own(static_cast<std::size_t>(n - first), false);
      for (const graph::TensorId id : at(step, n).inputs) {
        const NodeId from = writer[static_cast<std::size_t>(id)];
        if (from >= first) add(from, own);
      }
      for (const graph::TensorId id : at(step, n).outputs) writer[static_cast<std::size_t>(id)] = n;
      before_.push_back(std::move(own));
      const bool joins = n > first && at(step, n).scope == at(step, n - 1).scope &&
                         share_an_input(at(step, n), at(step, n - 1));
      operator_.push_back(joins ? operator_.back() : n);
    }
  }

  // Whether `later` runs when `earlier` has, in every order.
  bool comes_from(NodeId later, NodeId earlier) const {
    const std::vector<bool>& before = before_[static_cast<std::size_t>(later - first_)];
    const NodeId whole = operator_[static_cast<std::size_t>(earlier - first_)];
    for (NodeId n = whole; n < later && operator_[static_cast<std::size_t>(n - first_)] == whole;
         ++n) {
      if (before[static_cast<std::size_t>(n - first_)]) return true;
    }
    return false;
  }

 private:
  void add(NodeId from, std::vector<bool>& own) const {
    const std::vector<bool>& theirs = before_[static_cast<std::size_t>(from - first_)];
    for (std::size_t i = 0; i < theirs.size(); ++i) own[i] = own[i] || theirs[i];
    own[static_cast<std::size_t>(from - first_)] = true;
  }

  NodeId first_;
  std::vector<NodeId> operator_;           // the first node of each node's operator
  std::vector<std::vector<bool>> before_;  // of each node, whether it comes from each before it
};

// A shared buffer: which storage stands for it, and until when it is taken.
struct Buffer {
  std::size_t storage = 0;
  NodeId taken_until = 0;
};

// The one that was given back last, of those that are free whenever node `born` runs.
Buffer* free_buffer(std::vector<Buffer>& buffers, NodeId born, const Descent& descent) {
  Buffer* found = nullptr;
  for (Buffer& buffer : buffers) {
    if (buffer.taken_until >= born || !descent.comes_from(born, buffer.taken_until)) continue;
    if (found == nullptr || buffer.taken_until > found->taken_until) found = &buffer;
  }
  return found;
}

}  // namespace

std::vector<Storage> keep_blobs(const std::vector<Storage>& storages, const graph::Graph& step) {
  const NodeId forward_end = last_forward(step);
  const Descent descent(step, forward_end + 1);
  std::vector<Storage> blobs;
  std::vector<Buffer> buffers;
  std::optional<std::size_t> workspace;
  const auto keep = [&](Storage storage) {
    storage.last = kForever;
    blobs.push_back(storage);
    return blobs.size() - 1;
  };
  const auto grow = [&](std::size_t blob, std::int64_t bytes) {
    blobs[blob].bytes = std::max(blobs[blob].bytes, bytes);
  };
  for (const Storage& storage : storages) {
    if (storage.part == Part::Workspace) {
      if (!workspace) workspace = keep(storage);
      grow(*workspace, storage.bytes);
      continue;
    }
    const bool shares =
        storage.part == Part::Activations && storage.born > forward_end && storage.last != kForever;
    if (!shares) {
      keep(storage);
      continue;
    }
    Buffer* buffer = free_buffer(buffers, storage.born, descent);
    if (buffer == nullptr) buffer = &buffers.emplace_back(Buffer{keep(storage), 0});
    grow(buffer->storage, storage.bytes);
    buffer->taken_until = storage.last;
  }
  return blobs;
}

}  // namespace foretrain::memory
