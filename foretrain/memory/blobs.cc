// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/detail/blobs.h"

#include <algorithm>
#include <optional>

namespace foretrain::memory {
namespace {

using graph::NodeId;

// A shared buffer: which storage stands for it, and until when it is taken.
struct Buffer {
  std::size_t storage = 0;
  NodeId taken_until = 0;
};

// The one that was given back last, of those that are free when node `born` runs.
Buffer* free_buffer(std::vector<Buffer>& buffers, NodeId born) {
  Buffer* found = nullptr;
  for (Buffer& buffer : buffers) {
    if (buffer.taken_until >= born) continue;
    if (found == nullptr || buffer.taken_until > found->taken_until) found = &buffer;
  }
  return found;
}

}  // namespace

std::vector<Storage> keep_blobs(std::vector<Storage> storages, NodeId last_forward) {
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
    const bool shares = storage.part == Part::Activations && storage.born > last_forward &&
                        storage.last != kForever;
    if (!shares) {
      keep(storage);
      continue;
    }
    Buffer* buffer = free_buffer(buffers, storage.born);
    if (buffer == nullptr) buffer = &buffers.emplace_back(Buffer{keep(storage), 0});
    grow(buffer->storage, storage.bytes);
    buffer->taken_until = storage.last;
  }
  return blobs;
}

}  // namespace foretrain::memory
