// SPDX-License-Identifier: Apache-2.0
// Jasper and QuartzNet, speech recognition by convolutions over 64 filter banks, as NVIDIA's
// DeepLearningExamples run them: frames beyond an utterance's end are masked before every
// convolution.
// Source: Li et al., Interspeech 2019; Kriman et al., ICASSP 2020; NVIDIA DeepLearningExamples,
// jasper10x5dr and quartznet15x5.
#include <string>
#include <vector>

#include "foretrain/zoo/detail/layers.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/speech/speech_layers.h"

namespace foretrain::zoo {
namespace {

using graph::Attr;
using graph::Attributes;
using graph::Builder;
using graph::Kind;
using graph::Scope;
using graph::TensorId;

enum class Shortcut : std::uint8_t { None, Last, Dense };  // from nothing, the block before, all

struct Block {
  std::int64_t filters;
  std::int64_t repeat;
  std::int64_t kernel;
  Shortcut residual = Shortcut::None;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  bool separable = false;
};

struct Design {
  const char* name;
  std::vector<Block> blocks;
  bool dropout;  // QuartzNet's has rate 0, which runs nothing
};

constexpr std::int64_t kFilterBanks = 64;
constexpr std::int64_t kCharacters = 29;  // with the blank

Design jasper() {
  Design design{"jasper", {{256, 1, 11, Shortcut::None, 2}}, true};
  const std::int64_t sizes[][2]{{256, 11}, {384, 13}, {512, 17}, {640, 21}, {768, 25}};
  for (const auto& [filters, kernel] : sizes) {
    design.blocks.insert(design.blocks.end(), 2, {filters, 5, kernel, Shortcut::Dense});
  }
  design.blocks.push_back({896, 1, 29, Shortcut::None, 1, 2});
  design.blocks.push_back({1024, 1, 1});
  return design;
}

Design quartznet() {
  Design design{"quartznet", {{256, 1, 33, Shortcut::None, 2, 1, true}}, false};
  const std::int64_t sizes[][2]{{256, 33}, {256, 39}, {512, 51}, {512, 63}, {512, 75}};
  for (const auto& [filters, kernel] : sizes) {
    design.blocks.insert(design.blocks.end(), 3, {filters, 5, kernel, Shortcut::Last, 1, 1, true});
  }
  design.blocks.push_back({512, 1, 87, Shortcut::None, 1, 2, true});
  design.blocks.push_back({1024, 1, 1});
  return design;
}

// Builds the encoder block by block.
class Encoder {
 public:
  Encoder(Builder& builder, const Design& design) : builder_(builder), design_(design) {}

  TensorId run(TensorId x) {
    const Scope scope(builder_, "encoder");
    for (std::size_t i = 0; i < design_.blocks.size(); ++i) {
      const Scope inner(builder_, "layers." + std::to_string(i));
      x = run_block(design_.blocks[i], x);
    }
    return x;
  }

 private:
  TensorId run_block(const Block& block, TensorId x) {
    if (block.residual == Shortcut::Last) before_.clear();
    if (block.residual != Shortcut::None) before_.push_back(x);
    TensorId y = x;
    int module = 0;
    for (std::int64_t i = 0; i < block.repeat; ++i) {
      if (i > 0) {
        y = activate_and_drop(y);
        module += 2;
      }
      y = conv_norm(block, "conv.", module, y);
    }
    if (block.residual != Shortcut::None) {
      for (std::size_t i = 0; i < before_.size(); ++i) {
        int first = 0;
        const Scope scope(builder_, "res." + std::to_string(i));
        const TensorId side = conv_norm({block.filters, 1, 1}, "", first, before_[i]);
        y = builder_.add(Kind::Add, {y, side}, Attributes{{Attr::Inplace, {1}}});
      }
    }
    return activate_and_drop(y);
  }

  // Modules are numbered through; `module` becomes the next one's number.
  TensorId conv_norm(const Block& block, const std::string& prefix, int& module, TensorId x) {
    const auto next = [&] { return prefix + std::to_string(module++); };
    Conv1d conv{.channels = block.filters,
                .kernel = block.kernel,
                .stride = block.stride,
                .dilation = block.dilation};
    if (block.separable) {
      Conv1d depthwise = conv;
      depthwise.channels = builder_.shape(x)[1].factor;
      depthwise.groups = depthwise.channels;
      x = masked_conv(next(), x, depthwise);
      conv = {.channels = block.filters};
    }
    x = masked_conv(next(), x, conv);
    return batch_norm(builder_, next(), x);
  }

  TensorId masked_conv(const std::string& name, TensorId x, const Conv1d& conv) {
    const std::int64_t frames = builder_.shape(x)[2].factor;
    if (frames != frames_) {
      frames_ = frames;
      mask_ = builder_.buffer("mask." + std::to_string(frames), {builder_.batch(), 1, frames},
                              DType::Bool);
    }
    return conv1d(builder_, name, builder_.add(Kind::Where, {mask_, x}), conv);
  }

  TensorId activate_and_drop(TensorId x) {
    x = builder_.add(Kind::Relu, {x});
    return design_.dropout ? builder_.add(Kind::Dropout, {x}) : x;
  }

  Builder& builder_;
  const Design& design_;
  std::int64_t frames_ = 0;       // of the mask
  TensorId mask_{};               // of the frames beyond an utterance's end
  std::vector<TensorId> before_;  // outputs of blocks that residual connections start from
};

graph::Graph build_speech(Spec& spec, const Design& design) {
  const std::int64_t frames = spec.take("frames", 1680, 2, 1 << 20);
  Builder builder(spec.name());
  const TensorId sound = builder.input("audio", {builder.batch(), kFilterBanks, frames});
  TensorId x = Encoder(builder, design).run(sound);
  x = conv1d(builder, "decoder.layers.0", x, {.channels = kCharacters, .bias = true});
  x = builder.add(Kind::Transpose, {x}, Attributes{{Attr::Axes, {0, 2, 1}}});
  x = builder.add(Kind::Contiguous, {x});
  x = builder.add(Kind::Reshape, {x}, Attributes{{Attr::Shape, {-1, kCharacters}}});
  builder.output(x);
  builder.loss(ctc_loss(builder, x));
  return builder.finish();
}

graph::Graph build_jasper(Spec& spec) { return build_speech(spec, jasper()); }
graph::Graph build_quartznet(Spec& spec) { return build_speech(spec, quartznet()); }

}  // namespace

// 16.7 s of LibriSpeech, the longest utterance that training keeps, in frames of 10 ms, padded
// to a multiple of 16: what batches of random utterances come to.
std::vector<Entry> jasper_entries() {
  return {{{"jasper", "Jasper", "speech recognition, 10 blocks of 5 convolutions, dense residual",
            "frames=1680"},
           build_jasper},
          {{"quartznet", "Jasper", "speech recognition, 15 blocks of 5 separable convolutions",
            "frames=1680"},
           build_quartznet}};
}

}  // namespace foretrain::zoo
