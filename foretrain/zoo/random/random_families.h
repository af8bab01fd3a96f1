// SPDX-License-Identifier: Apache-2.0
// The families of `random`. Each draws an architecture and builds it with a loss; the same
// draws give the same graph.
#pragma once

#include <cstdint>
#include <string>

#include "foretrain/graph/graph.h"
#include "foretrain/zoo/detail/spec.h"
#include "foretrain/zoo/random/random_draw.h"

namespace foretrain::zoo {

// Classifiers of images: 3 to 40 convolutions deep; plain, residual, bottleneck, separable and
// branching blocks. Takes image and classes.
graph::Graph build_random_cnn(Spec& spec, Draw& draw);

// Classifiers of vectors: 2 to 12 layers. Takes classes.
graph::Graph build_random_mlp(Spec& spec, Draw& draw);

// LSTM, GRU and plain recurrent layers over words or features. Takes seq and classes.
graph::Graph build_random_recurrent(Spec& spec, Draw& draw);

// Encoders that classify and decoders that predict words: 1 to 12 layers, width 64 to 768.
// Takes seq and classes.
graph::Graph build_random_transformer(Spec& spec, Draw& draw);

}  // namespace foretrain::zoo
