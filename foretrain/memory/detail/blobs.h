// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/memory/lifetimes.h"

namespace foretrain::memory {

// Memory as Caffe2 has it, from `storages` as they would come and go. A blob has a name and stays
// from its first run on, and so does the memory behind it. What the nodes up to `last_forward`
// write, the gradients of parameters and the convolutions' one workspace are blobs of their own.
// Other gradients share: one that nobody needs any more gives its buffer to the next, whatever
// their sizes are, so a buffer becomes as large as the largest that it ever holds. Source:
// caffe2/python/memonger.py, share_grad_blobs without shapes.
std::vector<Storage> keep_blobs(std::vector<Storage> storages, graph::NodeId last_forward);

}  // namespace foretrain::memory
