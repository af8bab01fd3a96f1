// SPDX-License-Identifier: Apache-2.0
// Tacotron 2, speech synthesis from characters, as NVIDIA's DeepLearningExamples train it: the
// decoder makes one frame after the other, so its step is in the graph once per frame. Its LSTM
// cells are recurrent layers of one step.
// Source: Shen et al., ICASSP 2018; NVIDIA DeepLearningExamples, tacotron2/model.py.
#include <string>
#include <vector>

#include "foretrain/zoo/detail/recurrent_layers.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/transformer_layers.h"
#include "foretrain/zoo/speech/speech_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Dim;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

constexpr std::int64_t kSymbols = 148;
constexpr std::int64_t kMels = 80;    // channels of a frame
constexpr std::int64_t kWidth = 512;  // of the encoder
constexpr std::int64_t kPrenet = 256;
constexpr std::int64_t kHidden = 1024;  // of both cells
constexpr std::int64_t kAttention = 128;
constexpr std::int64_t kLocationFilters = 32;
constexpr std::int64_t kLocationKernel = 31;

TensorId reshape(Builder& builder, TensorId x, std::vector<Dim> shape) {
  return builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, std::move(shape)}});
}

TensorId transpose(Builder& builder, TensorId x, std::vector<Dim> axes) {
  return builder.add(Kind::Transpose, {x}, Attributes{{Attr::Axes, std::move(axes)}});
}

TensorId concat_at(Builder& builder, std::int64_t axis, const std::vector<TensorId>& parts) {
  return builder.add(Kind::Concat, parts, Attributes{{Attr::Axis, {axis}}});
}

TensorId conv_norm(Builder& builder, int index, TensorId x, std::int64_t channels) {
  const Scope scope(builder, "convolutions." + std::to_string(index));
  x = conv1d(builder, "0.conv", x, {.channels = channels, .kernel = 5, .bias = true});
  return batch_norm(builder, "1", x);
}

// Characters [batch, text] to [batch, text, width].
TensorId encode(Builder& builder, TensorId characters) {
  const TensorId words = embed(builder, "embedding", characters, kSymbols, kWidth);
  const Scope scope(builder, "encoder");
  TensorId x = transpose(builder, words, {0, 2, 1});
  for (int i = 0; i < 3; ++i) {
    x = dropout(builder, "", builder.add(Kind::Relu, {conv_norm(builder, i, x, kWidth)}));
  }
  x = builder.add(Kind::Contiguous, {transpose(builder, x, {2, 0, 1})});
  x = recurrent(builder, "lstm", x, {.hidden = kWidth / 2, .bidirectional = true});
  return builder.add(Kind::Contiguous, {transpose(builder, x, {1, 0, 2})});
}

// The frames before, through two layers: [frames, batch, prenet].
TensorId prenet(Builder& builder, TensorId frames) {
  const Scope scope(builder, "prenet");
  for (int i = 0; i < 2; ++i) {
    const std::string name = "layers." + std::to_string(i) + ".linear_layer";
    frames = builder.add(Kind::Relu, {linear_unbiased(builder, name, frames, kPrenet)});
    frames = dropout(builder, "", frames);
  }
  return frames;
}

TensorId postnet(Builder& builder, TensorId x) {
  const Scope scope(builder, "postnet");
  for (int i = 0; i < 4; ++i) {
    x = dropout(builder, "", builder.add(Kind::Tanh, {conv_norm(builder, i, x, kWidth)}));
  }
  return dropout(builder, "", conv_norm(builder, 4, x, kMels));
}

// A cell's weights; PyTorch's LSTMCell.
class LstmCell {
 public:
  LstmCell(Builder& builder, const std::string& name, std::int64_t in) : builder_(builder) {
    const Scope scope(builder, name);
    weights_ = {builder.parameter("weight_ih", {4 * kHidden, in}),
                builder.parameter("weight_hh", {4 * kHidden, kHidden}),
                builder.parameter("bias_ih", {4 * kHidden}),
                builder.parameter("bias_hh", {4 * kHidden})};
  }

  // x [batch, in] to the hidden state [batch, hidden], with dropout.
  TensorId step(TensorId x) {
    std::vector<TensorId> inputs{reshape(builder_, x, {1, builder_.batch(), -1})};
    inputs.insert(inputs.end(), weights_.begin(), weights_.end());
    const TensorId y = builder_.add(Kind::Recurrent, inputs,
                                    Attributes{{Attr::Gates, {4}}, {Attr::Hidden, {kHidden}}});
    return dropout(builder_, "", reshape(builder_, y, {builder_.batch(), kHidden}));
  }

 private:
  Builder& builder_;
  std::vector<TensorId> weights_;
};

// Attention that also sees where it looked before.
class LocationAttention {
 public:
  LocationAttention(Builder& builder, TensorId memory) : builder_(builder), memory_(memory) {
    const Scope scope(builder, "attention_layer");
    const graph::Shape& shape = builder.shape(memory);
    text_ = shape[1].factor;
    query_ = builder.parameter("query_layer.linear_layer.weight", {kAttention, kHidden});
    processed_ = linear_unbiased(builder, "memory_layer.linear_layer", memory, kAttention);
    vector_ = builder.parameter("v.linear_layer.weight", {1, kAttention});
    filters_ = builder.parameter("location_layer.location_conv.conv.weight",
                                 {kLocationFilters, 2, kLocationKernel});
    dense_ = builder.parameter("location_layer.location_dense.linear_layer.weight",
                               {kAttention, kLocationFilters});
    mask_ = builder.buffer("mask", {builder.batch(), text_}, DType::Bool);
    weights_ = builder.buffer("first_weights", {builder.batch(), text_});
    sum_ = weights_;
  }

  // What `hidden` attends to: [batch, width].
  TensorId step(TensorId hidden) {
    const TensorId before =
        concat_at(builder_, 1,
                  {reshape(builder_, weights_, {0, 1, -1}), reshape(builder_, sum_, {0, 1, -1})});
    TensorId location = builder_.add(Kind::Conv, {before, filters_},
                                     Attributes{{Attr::Padding, {kLocationKernel / 2}}});
    location = builder_.add(Kind::Linear, {transpose(builder_, location, {0, 2, 1}), dense_});
    const TensorId query =
        builder_.add(Kind::Linear, {reshape(builder_, hidden, {0, 1, -1}), query_});
    const TensorId both = builder_.add(Kind::Add, {query, location});
    const TensorId all = builder_.add(Kind::Tanh, {builder_.add(Kind::Add, {both, processed_})});
    TensorId energies = builder_.add(Kind::Linear, {all, vector_});
    energies = builder_.add(Kind::Where, {mask_, reshape(builder_, energies, {0, -1})});
    weights_ = builder_.add(Kind::Softmax, {energies}, Attributes{{Attr::Axis, {1}}});
    sum_ = builder_.add(Kind::Add, {sum_, weights_});
    const TensorId context =
        builder_.add(Kind::MatMul, {reshape(builder_, weights_, {0, 1, -1}), memory_});
    return reshape(builder_, context, {0, -1});
  }

 private:
  Builder& builder_;
  TensorId memory_;
  std::int64_t text_ = 0;
  TensorId query_{}, processed_{}, vector_{}, filters_{}, dense_{}, mask_{};
  TensorId weights_{};  // of the last step
  TensorId sum_{};      // of all steps so far
};

struct Decoded {
  TensorId mels;   // [batch, channels, frames]
  TensorId gates;  // [batch, frames]: whether the end is reached
};

Decoded decode(Builder& builder, TensorId memory, TensorId mels, std::int64_t frames) {
  const Scope scope(builder, "decoder");
  const TensorId inputs =
      prenet(builder, builder.add(Kind::Contiguous, {transpose(builder, mels, {2, 0, 1})}));
  LstmCell attention_rnn(builder, "attention_rnn", kPrenet + kWidth);
  LocationAttention attention(builder, memory);
  LstmCell decoder_rnn(builder, "decoder_rnn", kHidden + kWidth);
  const std::int64_t wide = kHidden + kWidth;
  const std::vector<TensorId> project{
      builder.parameter("linear_projection.linear_layer.weight", {kMels, wide}),
      builder.parameter("linear_projection.linear_layer.bias", {kMels})};
  const std::vector<TensorId> gate{builder.parameter("gate_layer.linear_layer.weight", {1, wide}),
                                   builder.parameter("gate_layer.linear_layer.bias", {1})};
  TensorId context = builder.buffer("first_context", {builder.batch(), kWidth});
  std::vector<TensorId> made;
  std::vector<TensorId> ends;
  for (std::int64_t i = 0; i < frames; ++i) {
    const TensorId slice =
        builder.add(Kind::Slice, {inputs},
                    Attributes{{Attr::Axis, {0}}, {Attr::Start, {i}}, {Attr::End, {i + 1}}});
    const TensorId frame = reshape(builder, slice, {builder.batch(), kPrenet});
    const TensorId hidden = attention_rnn.step(concat_at(builder, 1, {frame, context}));
    context = attention.step(hidden);
    const TensorId state = decoder_rnn.step(concat_at(builder, 1, {hidden, context}));
    const TensorId both = concat_at(builder, 1, {state, context});
    const TensorId mel = builder.add(Kind::Linear, {both, project[0], project[1]});
    made.push_back(reshape(builder, mel, {0, -1, 1}));
    ends.push_back(builder.add(Kind::Linear, {both, gate[0], gate[1]}));
  }
  return {concat_at(builder, 2, made), concat_at(builder, 1, ends)};
}

graph::Graph build_tacotron2(Spec& spec) {
  const std::int64_t text = spec.take("text", 180, 1, 65536);
  const std::int64_t frames = spec.take("frames", 860, 1, 8192);
  Builder builder(spec.name());
  const TensorId characters = builder.input("text", {builder.batch(), text}, DType::I64);
  const TensorId mels = builder.input("mels", {builder.batch(), kMels, frames});
  const TensorId memory = encode(builder, characters);
  const Decoded decoded = decode(builder, memory, mels, frames);
  const TensorId refined = builder.add(Kind::Add, {decoded.mels, postnet(builder, decoded.mels)});
  builder.output(refined);
  builder.output(decoded.gates);
  const TensorId ends = builder.input("gate_target", {builder.batch(), frames});
  const Scope scope(builder, "loss");
  const TensorId first = builder.add(Kind::PointwiseLoss, {decoded.mels, mels});
  const TensorId second = builder.add(Kind::PointwiseLoss, {refined, mels});
  const TensorId third = builder.add(Kind::PointwiseLoss, {decoded.gates, ends});
  builder.loss(builder.add(Kind::Add, {builder.add(Kind::Add, {first, second}), third}));
  return builder.finish();
}

}  // namespace

// Clips of LJ Speech last up to 10.1 s; batches are padded to their longest, near that, in
// frames of 256 samples at 22050 Hz. They read up to 187 characters.
std::vector<Entry> tacotron2_entries() {
  return {{{"tacotron2", "Tacotron", "speech synthesis, one decoder step per frame",
            "text=180, frames=860"},
           build_tacotron2}};
}

}  // namespace foretrain::zoo
