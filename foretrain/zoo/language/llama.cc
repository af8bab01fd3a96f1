// SPDX-License-Identifier: Apache-2.0
// The sizes of Llama, Mistral, Qwen, Mixtral, Yi, Baichuan, Phi-3 and Gemma, as Hugging Face's
// ...ForCausalLM run them, and `llama` of any size.
#include <string>

#include "foretrain/zoo/detail/activation.h"
#include "foretrain/zoo/detail/registry.h"
#include "foretrain/zoo/language/rotary_decoder.h"
#include "foretrain/zoo/language/transformer_size.h"

namespace foretrain::zoo {
namespace {

using Size = RotaryDecoder;

// The published sizes; `seq` is the length that they were pretrained with, for Qwen and Mixtral
// one that fits training, for they allow far longer ones.
struct Named {
  const char* name;
  const char* family;
  Size size;
};

// Biases of queries, keys and values. The published ffn counts both halves of the gated layer.
Size qwen(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t ffn,
          std::int64_t vocab) {
  Size size{layers, hidden, heads, heads, ffn, vocab, 2048};
  size.qkv_bias = true;
  return size;
}

// Heads of 256; the head that predicts tokens is the embedding's table.
Size gemma(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads,
           std::int64_t ffn) {
  Size size{layers, hidden, heads, kv_heads, ffn, 256000, 8192, 256};
  size.tied = true;
  size.activation = "gelu";
  return size;
}

// Biases of queries, keys and values; the small ones tie the head to the embedding.
Size qwen2(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads,
           std::int64_t ffn, bool small) {
  Size size{layers, hidden, heads, kv_heads, ffn, small ? 151936 : 152064, 4096};
  size.tied = small;
  size.qkv_bias = true;
  return size;
}

// Heads of 128 that are normalized, 8 for the keys.
Size qwen3(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t ffn,
           bool small) {
  Size size{layers, hidden, heads, 8, ffn, 151936, 4096, 128};
  size.tied = small;
  size.qk_norm = true;
  return size;
}

Size tied(Size size) {
  size.tied = true;
  return size;
}

// Of 8 experts each token goes through 2.
Size sparse(Size size) {
  size.experts = {8, 2};
  return size;
}

const Named kNamed[] = {
    {"llama-7b", "Llama", {32, 4096, 32, 32, 11008, 32000, 2048}},
    {"llama-13b", "Llama", {40, 5120, 40, 40, 13824, 32000, 2048}},
    {"llama-30b", "Llama", {60, 6656, 52, 52, 17920, 32000, 2048}},
    {"llama-65b", "Llama", {80, 8192, 64, 64, 22016, 32000, 2048}},
    {"llama2-7b", "Llama", {32, 4096, 32, 32, 11008, 32000, 4096}},
    {"llama2-13b", "Llama", {40, 5120, 40, 40, 13824, 32000, 4096}},
    {"llama2-70b", "Llama", {80, 8192, 64, 8, 28672, 32000, 4096}},
    {"llama3-8b", "Llama", {32, 4096, 32, 8, 14336, 128256, 8192}},
    {"llama3-70b", "Llama", {80, 8192, 64, 8, 28672, 128256, 8192}},
    {"llama3.1-405b", "Llama", {126, 16384, 128, 8, 53248, 128256, 8192}},
    {"llama3.2-1b", "Llama", tied({16, 2048, 32, 8, 8192, 128256, 8192})},
    {"llama3.2-3b", "Llama", tied({28, 3072, 24, 8, 8192, 128256, 8192})},
    {"tinyllama-1.1b", "Llama", {22, 2048, 32, 4, 5632, 32000, 2048}},
    {"mistral-7b", "Mistral", {32, 4096, 32, 8, 14336, 32000, 8192}},
    {"qwen-1.8b", "Qwen", qwen(24, 2048, 16, 5504, 151936)},
    {"qwen-7b", "Qwen", qwen(32, 4096, 32, 11008, 151936)},
    {"qwen-14b", "Qwen", qwen(40, 5120, 40, 13696, 152064)},
    {"qwen-72b", "Qwen", qwen(80, 8192, 64, 24576, 152064)},
    {"qwen2-0.5b", "Qwen", qwen2(24, 896, 14, 2, 4864, true)},
    {"qwen2-1.5b", "Qwen", qwen2(28, 1536, 12, 2, 8960, true)},
    {"qwen2-7b", "Qwen", qwen2(28, 3584, 28, 4, 18944, false)},
    {"qwen2-72b", "Qwen", qwen2(80, 8192, 64, 8, 29568, false)},
    {"qwen2.5-14b", "Qwen", qwen2(48, 5120, 40, 8, 13824, false)},
    {"qwen2.5-32b", "Qwen", qwen2(64, 5120, 40, 8, 27648, false)},
    {"qwen3-0.6b", "Qwen", qwen3(28, 1024, 16, 3072, true)},
    {"qwen3-8b", "Qwen", qwen3(36, 4096, 32, 12288, false)},
    {"qwen3-32b", "Qwen", qwen3(64, 5120, 64, 25600, false)},
    {"yi-6b", "Yi", {32, 4096, 32, 4, 11008, 64000, 4096}},
    {"yi-34b", "Yi", {60, 7168, 56, 8, 20480, 64000, 4096}},
    {"baichuan2-7b", "Baichuan", {32, 4096, 32, 32, 11008, 125696, 4096}},
    {"phi3-mini", "Phi", {32, 3072, 32, 32, 8192, 32064, 4096}},
    {"gemma-2b", "Gemma", gemma(18, 2048, 8, 1, 16384)},
    {"gemma-7b", "Gemma", gemma(28, 3072, 16, 16, 24576)},
    {"mixtral-8x7b", "Mixtral", sparse({32, 4096, 32, 8, 14336, 32000, 4096})},
    {"mixtral-8x22b", "Mixtral", sparse({56, 6144, 48, 8, 16384, 32000, 4096})},
};

graph::Graph build_named(Spec& spec) {
  Size size = row_of(kNamed, spec).size;
  size.seq = spec.take("seq", size.seq);
  size.vocab = spec.take("vocab", size.vocab);
  size.tied = spec.take("tied", size.tied ? 1 : 0, 0, 1) != 0;
  return build_rotary_decoder(spec.name(), size);
}

graph::Graph build_llama(Spec& spec) {
  const auto flag = [&spec](const char* key) { return spec.take(key, 0, 0, 1) != 0; };
  Size size;
  size.layers = spec.take("layers", 32, 1, kMostLayers);
  size.hidden = spec.take("hidden", 4096);
  size.heads = spec.take("heads", 32);
  size.kv_heads = spec.take("kv_heads", size.heads);
  size.ffn = spec.take("ffn", 11008);
  size.seq = spec.take("seq", 4096);
  size.vocab = spec.take("vocab", 32000);
  size.head_size = spec.take("head_size", 0, 2);
  size.tied = flag("tied");
  size.qkv_bias = flag("qkv_bias");
  size.out_bias = flag("out_bias");
  size.mlp_bias = flag("mlp_bias");
  size.qk_norm = flag("qk_norm");
  size.experts.count = spec.take("experts", 0, 0, 65536);
  if (size.experts.count > 0) size.experts.active = spec.take("active", 2, 1, 65536);
  size.activation = spec.take_text("act", size.activation, activation_names());
  return build_rotary_decoder(spec.name(), size);
}

std::string about(const Size& size) {
  std::string text = decoder_of(size.layers, size.hidden);
  if (size.kv_heads != size.heads) text += ", " + std::to_string(size.kv_heads) + " key heads";
  if (size.experts.count > 0) {
    text += ", " + std::to_string(size.experts.active) + " of " +
            std::to_string(size.experts.count) + " experts per token";
  }
  return text;
}

}  // namespace

std::vector<Entry> llama_entries() {
  std::vector<Entry> entries;
  for (const Named& named : kNamed) {
    entries.push_back(
        {{named.name, named.family, about(named.size),
          "seq=" + std::to_string(named.size.seq) + ", vocab=" + std::to_string(named.size.vocab) +
              ", tied=" + (named.size.tied ? "1" : "0")},
         build_named});
  }
  entries.push_back({{"llama", "Llama", "of any size, as Hugging Face runs it",
                      "layers=32, hidden=4096, heads=32, kv_heads=heads, ffn=11008, seq=4096, "
                      "vocab=32000, head_size=hidden/heads, tied=0, qkv_bias=0, out_bias=0, "
                      "mlp_bias=0, qk_norm=0, experts=0, active=2, act=silu"},
                     build_llama});
  return entries;
}

}  // namespace foretrain::zoo
