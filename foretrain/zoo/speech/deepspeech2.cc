// SPDX-License-Identifier: Apache-2.0
// DeepSpeech 2, speech recognition from spectrograms by two convolutions and five bidirectional
// GRU layers of 800, as the public PyTorch code ran it and Pollux measured it: 41.2 M
// parameters. Its third version has LSTM layers of 1024.
// Source: Amodei et al., ICML 2016; SeanNaren/deepspeech.pytorch, model.py; Qiao et al., OSDI
// 2021.
#include <string>

#include "foretrain/zoo/detail/recurrent_layers.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/speech/speech_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr std::int64_t kFrequencies = 161;  // 20 ms at 16 kHz: 320 / 2 + 1
constexpr std::int64_t kCharacters = 29;    // with the blank

struct Window {
  Pair kernel;
  std::int64_t along_frames;  // stride; along the frequencies it is 2
  Pair padding;
};

// Zeros beyond the end of each utterance, after every module.
TensorId masked(Builder& builder, TensorId x) {
  const TensorId mask = builder.buffer("mask", builder.shape(x), DType::Bool);
  return builder.add(Kind::Where, {mask, x});
}

// Convolution, norm and a clip to 0 to 20, modules `first` to `first` + 2.
TensorId conv_block(Builder& builder, int first, TensorId x, const Window& window) {
  const auto module = [first](int i) { return "seq_module." + std::to_string(first + i); };
  const std::int64_t in = channels(builder, x);
  {
    const Scope scope(builder, module(0));
    const TensorId weight =
        builder.parameter("weight", {32, in, window.kernel.height, window.kernel.width});
    const TensorId bias = builder.parameter("bias", {32});
    x = masked(
        builder,
        builder.add(Kind::Conv, {x, weight, bias},
                    Attributes{{Attr::Stride, {2, window.along_frames}},
                               {Attr::Padding, {window.padding.height, window.padding.width}}}));
  }
  x = batch_norm(builder, module(1), x);
  {
    const Scope scope(builder, module(1));
    x = masked(builder, x);
  }
  const Scope scope(builder, module(2));
  return masked(builder, builder.add(Kind::Clip, {x}, Attributes{{Attr::Inplace, {1}}}));
}

// Norm over all frames of all samples: x [time, batch, features].
TensorId sequence_norm(Builder& builder, const std::string& name, TensorId x) {
  const graph::Shape shape = builder.shape(x);
  const TensorId rows = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {-1, shape[2]}}});
  const TensorId y = batch_norm(builder, name, rows);
  return builder.add(Kind::Reshape, {y}, Attributes{{Attr::Shape, {shape[0], shape[1], shape[2]}}});
}

// A layer in both directions, whose outputs are added.
TensorId both_ways(Builder& builder, std::int64_t index, TensorId x, Cell cell,
                   std::int64_t hidden) {
  const Scope scope(builder, "rnns." + std::to_string(index));
  if (index > 0) x = sequence_norm(builder, "batch_norm.module", x);
  x = recurrent(builder, "rnn", x, {.cell = cell, .hidden = hidden, .bidirectional = true});
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {0, 0, 2, -1}}});
  return builder.add(Kind::Sum, {x}, Attributes{{Attr::Axes, {2}}});
}

// [batch, channels, frequencies, time] to [time, batch, features].
TensorId as_sequence(Builder& builder, TensorId x) {
  const graph::Shape shape = builder.shape(x);
  x = builder.add(Kind::Reshape, {x},
                  Attributes{{Attr::Shape, {0, shape[1] * shape[2], shape[3]}}});
  x = builder.add(Kind::Transpose, {x}, Attributes{{Attr::Axes, {2, 0, 1}}});
  return builder.add(Kind::Contiguous, {x});
}

graph::Graph build_deepspeech2(Spec& spec) {
  const std::int64_t frames = spec.take("frames", 480, 2, 1 << 20);
  const std::int64_t hidden = spec.take("hidden", 800, 1, 65536);
  const std::int64_t layers = spec.take("layers", 5, 1, kMostLayers);
  const Cell cell =
      spec.take_text("cell", "gru", {"gru", "lstm"}) == "lstm" ? Cell::Lstm : Cell::Gru;
  Builder builder(spec.name());
  TensorId x = builder.input("spectrogram", {builder.batch(), 1, kFrequencies, frames});
  builder.enter("conv");
  x = conv_block(builder, 0, x, {{41, 11}, 2, {20, 5}});
  x = conv_block(builder, 3, x, {{21, 11}, 1, {10, 5}});
  builder.leave();
  x = as_sequence(builder, x);
  for (std::int64_t i = 0; i < layers; ++i) x = both_ways(builder, i, x, cell, hidden);
  builder.enter("fc.0.module");
  x = sequence_norm(builder, "0", x);
  x = linear_unbiased(builder, "1", x, kCharacters);
  builder.leave();
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {-1, kCharacters}}});
  builder.output(x);
  builder.loss(ctc_loss(builder, x));
  return builder.finish();
}

}  // namespace

// Utterances of CMU-ARCTIC last 2.6 s on average with a deviation of 1.17 s; batches are padded
// to their longest, for 20 utterances about 2.6 + 1.87 * 1.17 = 4.8 s, in frames of 10 ms.
std::vector<Entry> deepspeech2_entries() {
  return {{{"deepspeech2", "DeepSpeech", "speech recognition, 5 bidirectional GRU layers of 800",
            "frames=480, hidden=800, layers=5, cell=gru|lstm"},
           build_deepspeech2}};
}

}  // namespace foretrain::zoo
