// SPDX-License-Identifier: Apache-2.0
// One function per model_type says which field is which parameter. Defaults are those of the
// configuration classes of transformers; sizes have none, so that a file that lost them is
// refused.
#include <algorithm>
#include <array>
#include <cmath>

#include "foretrain/base/near.h"
#include "foretrain/zoo/language/huggingface_translation.h"

namespace foretrain::zoo {
namespace {

// What most families call their sizes.
void take_sizes(Translation& t) {
  t.take("layers", "num_hidden_layers");
  t.take("hidden", "hidden_size");
  t.take("heads", "num_attention_heads");
  t.take("vocab", "vocab_size");
}

void translate_bert(Translation& t, std::int64_t unused_positions) {
  take_sizes(t);
  t.take("ffn", "intermediate_size");
  const std::int64_t positions = t.size("max_position_embeddings") - unused_positions;
  if (positions < 1) t.fail("the field 'max_position_embeddings' leaves no position for a token");
  t.set("positions", positions);
  t.set_length(positions);
  t.take("segments", "type_vocab_size", 2);
  t.take_activation("hidden_act", "gelu");
  t.require_flag("tie_word_embeddings", true);
  if (t.text("position_embedding_type", "absolute") != "absolute") {
    t.fail("relative positions are not built here", ErrorKind::Unsupported);
  }
}

void bert(Translation& t) {
  t.set("head", "mlm");
  translate_bert(t, 0);
}

// The first two rows of the position table belong to padding.
void roberta(Translation& t) { translate_bert(t, 2); }

void distilbert(Translation& t) {
  t.take("layers", "n_layers");
  t.take("hidden", "dim");
  t.take("heads", "n_heads");
  t.take("ffn", "hidden_dim");
  t.take("vocab", "vocab_size");
  t.take("positions", "max_position_embeddings");
  t.set_length(t.size("max_position_embeddings"));
  t.take_activation("activation", "gelu");
  t.require_flag("tie_word_embeddings", true);
}

void gpt2(Translation& t) {
  t.take("layers", "n_layer");
  t.take("hidden", "n_embd");
  t.take("heads", "n_head");
  t.take("vocab", "vocab_size");
  if (t.has("n_inner")) t.take("ffn", "n_inner");
  const std::int64_t positions = t.size(t.has("n_positions") ? "n_positions" : "n_ctx");
  t.set("positions", positions);
  t.set_length(positions);
  t.take_activation("activation_function", "gelu_new");
  t.take_flag("tied", "tie_word_embeddings", true);
}

void opt(Translation& t) {
  take_sizes(t);
  t.take("ffn", "ffn_dim");
  t.take("positions", "max_position_embeddings");
  t.set_length(t.size("max_position_embeddings"));
  if (t.has("word_embed_proj_dim")) t.take("embedding", "word_embed_proj_dim");
  t.take_flag("norm_first", "do_layer_norm_before", true);
  t.take_activation("activation_function", "relu");
  t.take_flag("tied", "tie_word_embeddings", true);
  t.require_flag("enable_bias", true);
  t.require_flag("layer_norm_elementwise_affine", true);
  t.require_flag("_remove_final_layer_norm", false);
}

void rotary(Translation& t) {
  take_sizes(t);
  if (t.has("num_key_value_heads")) t.take("kv_heads", "num_key_value_heads");
  t.take("ffn", "intermediate_size");
  t.take_activation("hidden_act", "silu");
  t.take_flag("tied", "tie_word_embeddings", false);
  t.set_length(t.size("max_position_embeddings", 2048));
}

void llama(Translation& t) {
  rotary(t);
  if (t.has("head_dim")) t.take("head_size", "head_dim");
  t.take_flag("qkv_bias", "attention_bias", false);
  t.take_flag("out_bias", "attention_bias", false);
  t.take_flag("mlp_bias", "mlp_bias", false);
}

void mistral(Translation& t) {
  rotary(t);
  if (t.has("head_dim")) t.take("head_size", "head_dim");
}

void mixtral(Translation& t) {
  mistral(t);
  t.take("experts", "num_local_experts", 8);
  t.take("active", "num_experts_per_tok", 2);
}

void qwen2(Translation& t) {
  rotary(t);
  t.set("qkv_bias", 1);
}

void qwen3(Translation& t) {
  rotary(t);
  t.take("head_size", "head_dim", 128);
  t.take_flag("qkv_bias", "attention_bias", false);
  t.take_flag("out_bias", "attention_bias", false);
  t.set("qk_norm", 1);
}

void gpt_neox(Translation& t) {
  take_sizes(t);
  t.take("ffn", "intermediate_size");
  const double part = t.number("rotary_pct", 0.25);
  if (!(part > 0 && part <= 1)) t.fail("the field 'rotary_pct' is not within 0 to 1");
  t.set("rotary_percent", std::llround(100 * part));
  t.take_flag("parallel", "use_parallel_residual", true);
  t.take_activation("hidden_act", "gelu");
  t.take_flag("tied", "tie_word_embeddings", false);
  t.require_flag("attention_bias", true);
  t.set_length(t.size("max_position_embeddings", 2048));
}

void t5(Translation& t) {
  t.take("hidden", "d_model");
  t.take("head_size", "d_kv");
  t.take("ffn", "d_ff");
  t.take("layers", "num_layers");
  if (t.has("num_decoder_layers")) t.take("decoder_layers", "num_decoder_layers");
  t.take("heads", "num_heads");
  t.take("vocab", "vocab_size");
  t.take("buckets", "relative_attention_num_buckets", 32);
  t.take_flag("tied", "tie_word_embeddings", true);
  const std::string form = t.text("feed_forward_proj", "relu");
  const bool gated = form.starts_with("gated-");
  t.set("gated", gated ? 1 : 0);
  // transformers reads "gated-gelu" as this, for the sake of the first checkpoints.
  const std::string name = form == "gated-gelu" ? "gelu_new" : gated ? form.substr(6) : form;
  t.set_activation("feed_forward_proj", name);
  t.set_length(t.size("n_positions", 512));
}

void bart(Translation& t) {
  const auto same = [&t](const std::string& what) {
    const std::int64_t size = t.size("encoder_" + what);
    if (t.size("decoder_" + what) != size) {
      t.fail("'encoder_" + what + "' and 'decoder_" + what +
                 "' differ, a variant that is not built here",
             ErrorKind::Unsupported);
    }
    return size;
  };
  t.take("layers", "encoder_layers");
  t.take("decoder_layers", "decoder_layers");
  t.take("hidden", "d_model");
  t.set("heads", same("attention_heads"));
  t.set("ffn", same("ffn_dim"));
  t.take("vocab", "vocab_size");
  t.take("positions", "max_position_embeddings");
  t.set_length(t.size("max_position_embeddings"));
  t.take_activation("activation_function", "gelu");
  t.require_flag("tie_word_embeddings", true);
}

void vit(Translation& t) {
  t.take("layers", "num_hidden_layers");
  t.take("hidden", "hidden_size");
  t.take("heads", "num_attention_heads");
  t.take("ffn", "intermediate_size");
  t.take("image", "image_size");
  t.take("patch", "patch_size");
  t.take("channels", "num_channels", 3);
  t.take_flag("qkv_bias", "qkv_bias", true);
  t.take_activation("hidden_act", "gelu");
  const std::int64_t names = t.entries("id2label");
  t.set("classes", names > 0 ? names : t.size("num_labels", 2));
}

struct Type {
  const char* name;   // the model_type
  const char* model;  // of the catalog
  void (*translate)(Translation&);
};

constexpr std::array kTypes{
    Type{"bart", "bart-base", bart},
    Type{"bert", "bert-base", bert},
    Type{"distilbert", "distilbert-base", distilbert},
    Type{"gpt2", "gpt2", gpt2},
    Type{"gpt_neox", "pythia-70m", gpt_neox},
    Type{"llama", "llama", llama},
    Type{"mistral", "llama", mistral},
    Type{"mixtral", "llama", mixtral},
    Type{"opt", "opt-125m", opt},
    Type{"qwen2", "llama", qwen2},
    Type{"qwen3", "llama", qwen3},
    Type{"roberta", "roberta-base", roberta},
    Type{"t5", "t5-small", t5},
    Type{"vit", "vit-base-patch16-224", vit},
};

}  // namespace

std::string translate(const std::string& model_type, Translation& translation) {
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const Type& t) { return model_type == t.name; });
  if (type == kTypes.end()) {
    std::string known;
    for (const Type& each : kTypes) known += (known.empty() ? "" : ", ") + std::string(each.name);
    translation.fail("the model_type '" + printable(model_type) + "' is not one of " + known,
                     ErrorKind::Unsupported);
  }
  type->translate(translation);
  return type->model;
}

}  // namespace foretrain::zoo
