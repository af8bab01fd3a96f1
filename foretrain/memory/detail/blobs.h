// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "foretrain/memory/lifetimes.h"

namespace foretrain::memory {

// Memory as Caffe2 has it, from `storages` as they would come and go in `step`. A blob has a name
// and stays from its first run on, and so does the memory behind it. What the forward pass writes,
// the gradients of parameters and the convolutions' one workspace are blobs of their own. Other
// gradients share: one that nobody needs any more gives its buffer to a later one, whatever their
// sizes are, so a buffer becomes as large as the largest that it ever holds. Operators run as soon
// as their inputs are there, so the later one must come from the last that read the buffer.
// Source: caffe2/python/memonger.py (share_grad_blobs without shapes), caffe2/core/memonger.cc.
std::vector<Storage> keep_blobs(const std::vector<Storage>& storages, const graph::Graph& step);

}  // namespace foretrain::memory
