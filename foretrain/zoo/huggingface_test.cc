// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/huggingface.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/zoo/test_counts.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::zoo {
namespace {

struct Config {
  const char* name;
  const char* text;
  std::int64_t parameters;  // of the class that the checkpoint's page counts
};

void PrintTo(const Config& config, std::ostream* stream) { *stream << config.name; }

class Configs : public testing::TestWithParam<Config> {};

TEST_P(Configs, GiveThePublishedNumberOfParameters) {
  const graph::Graph model = build_huggingface(GetParam().text, "", "config.json");
  EXPECT_EQ(graph::parameter_count(model), GetParam().parameters);
  EXPECT_TRUE(model.loss.has_value());
}

// The fields of the published files that matter.
INSTANTIATE_TEST_SUITE_P(
    HuggingFace, Configs,
    testing::Values(
        Config{"bert-base-uncased",
               R"({"architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 768,
                   "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
                   "max_position_embeddings": 512, "type_vocab_size": 2, "vocab_size": 30522,
                   "hidden_act": "gelu", "layer_norm_eps": 1e-12})",
               109514298},
        Config{"roberta-base",
               R"({"model_type": "roberta", "hidden_size": 768, "num_hidden_layers": 12,
                   "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 50265,
                   "max_position_embeddings": 514, "type_vocab_size": 1})",
               124697433},
        Config{"distilbert-base-uncased",
               R"({"model_type": "distilbert", "dim": 768, "n_layers": 6, "n_heads": 12,
                   "hidden_dim": 3072, "vocab_size": 30522, "max_position_embeddings": 512,
                   "activation": "gelu", "tie_weights_": true})",
               66985530},
        Config{"gpt2",
               R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
                   "n_positions": 1024, "n_ctx": 1024, "n_inner": null, "vocab_size": 50257,
                   "activation_function": "gelu_new"})",
               124439808},
        Config{"opt-350m",
               R"({"model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 24,
                   "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272,
                   "max_position_embeddings": 2048, "word_embed_proj_dim": 512,
                   "do_layer_norm_before": false, "_remove_final_layer_norm": false})",
               331196416},
        Config{"opt-125m",
               R"({"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12,
                   "num_attention_heads": 12, "ffn_dim": 3072, "vocab_size": 50272,
                   "max_position_embeddings": 2048, "word_embed_proj_dim": 768})",
               125239296},
        Config{"llama2-7b",
               R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
                   "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000,
                   "max_position_embeddings": 4096, "tie_word_embeddings": false})",
               6738415616},
        Config{"llama3.2-1b",
               R"({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
                   "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
                   "intermediate_size": 8192, "vocab_size": 128256, "hidden_act": "silu",
                   "max_position_embeddings": 131072, "tie_word_embeddings": true,
                   "rope_scaling": {"factor": 32.0}, "attention_bias": false})",
               1235814400},
        Config{"mistral-7b",
               R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
                   "num_attention_heads": 32, "num_key_value_heads": 8,
                   "intermediate_size": 14336, "vocab_size": 32000,
                   "max_position_embeddings": 32768, "sliding_window": 4096})",
               7241732096},
        Config{"mixtral-8x7b",
               R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
                   "num_attention_heads": 32, "num_key_value_heads": 8,
                   "intermediate_size": 14336, "vocab_size": 32000, "num_local_experts": 8,
                   "num_experts_per_tok": 2, "max_position_embeddings": 32768,
                   "sliding_window": null})",
               46702792704},
        Config{"qwen2-0.5b",
               R"({"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24,
                   "num_attention_heads": 14, "num_key_value_heads": 2,
                   "intermediate_size": 4864, "vocab_size": 151936, "tie_word_embeddings": true,
                   "max_position_embeddings": 131072, "use_sliding_window": false,
                   "sliding_window": 131072})",
               494032768},
        Config{"qwen3-8b",
               R"({"model_type": "qwen3", "hidden_size": 4096, "num_hidden_layers": 36,
                   "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
                   "intermediate_size": 12288, "vocab_size": 151936,
                   "max_position_embeddings": 40960})",
               8190735360},
        Config{"pythia-70m",
               R"({"model_type": "gpt_neox", "hidden_size": 512, "num_hidden_layers": 6,
                   "num_attention_heads": 8, "intermediate_size": 2048, "vocab_size": 50304,
                   "max_position_embeddings": 2048, "rotary_pct": 0.25})",
               70426624},
        Config{"t5-small",
               R"({"model_type": "t5", "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6,
                   "num_heads": 8, "vocab_size": 32128, "n_positions": 512,
                   "relative_attention_num_buckets": 32})",
               60506624},
        Config{"flan-t5-small",
               R"({"model_type": "t5", "d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 8,
                   "num_decoder_layers": 8, "num_heads": 6, "vocab_size": 32128,
                   "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})",
               76961152},
        Config{"bart-large",
               R"({"model_type": "bart", "d_model": 1024, "encoder_layers": 12,
                   "decoder_layers": 12, "encoder_attention_heads": 16,
                   "decoder_attention_heads": 16, "encoder_ffn_dim": 4096,
                   "decoder_ffn_dim": 4096, "vocab_size": 50265,
                   "max_position_embeddings": 1024, "activation_function": "gelu"})",
               406291456},
        Config{"vit-base-patch16-224",
               R"({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12,
                   "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224,
                   "patch_size": 16, "num_channels": 3, "num_labels": 1000})",
               86567656}));

constexpr const char* kSmall =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100,
        "max_position_embeddings": 8192})";

// The number of tokens in the first input.
std::int64_t tokens(const graph::Graph& model) { return model.tensors[0].shape[1].factor; }

TEST(HuggingFace, SequencesAreAsLongAsAllowedButNotAbsurd) {
  const graph::Graph model = build_huggingface(kSmall, "", "config.json");
  EXPECT_EQ(tokens(model), 4096);
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_EQ(model.notes[0],
            "sequences have 4096 tokens of at most 8192; write FILE:seq=N for others");
  EXPECT_EQ(model.name, "llama");
}

TEST(HuggingFace, ParametersComeBeforeTheFile) {
  const graph::Graph model = build_huggingface(kSmall, "seq=16,vocab=50", "config.json");
  EXPECT_EQ(tokens(model), 16);
  EXPECT_TRUE(model.notes.empty());
  EXPECT_EQ(model.tensors[1].shape, (graph::Shape{50, 64}));
  EXPECT_EQ(model_from_huggingface(kSmall, "seq=16,vocab=50", "c").model,
            "llama:seq=16,vocab=50,layers=2,hidden=64,heads=4,ffn=96,act=silu,tied=0,qkv_bias=0,"
            "out_bias=0,mlp_bias=0");
}

// The same graph as the built-in model of that size.
TEST(HuggingFace, ComputesWhatTheBuiltInModelComputes) {
  const graph::Graph model = build_huggingface(kSmall, "seq=16", "config.json");
  const graph::Graph built = build("llama:layers=2,hidden=64,heads=4,ffn=96,vocab=100,seq=16");
  EXPECT_EQ(model.nodes.size(), built.nodes.size());
  EXPECT_DOUBLE_EQ(gemm_flops(model, 3), gemm_flops(built, 3));
}

TEST(HuggingFace, NotesASlidingWindow) {
  const std::string text = R"({"model_type": "mistral", "hidden_size": 64, "vocab_size": 100,
      "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 96,
      "max_position_embeddings": 4096, "sliding_window": 1024})";
  const HuggingFaceModel model = model_from_huggingface(text, "", "c");
  ASSERT_EQ(model.notes.size(), 2U);
  EXPECT_NE(model.notes[1].find("1024 tokens of the sliding window"), std::string::npos);
}

// Three labels: 3 (64 + 1) in the head.
TEST(HuggingFace, ClassesAreTheLabelsOfTheFile) {
  const auto parameters = [](const std::string& labels) {
    return graph::parameter_count(build_huggingface(
        R"({"model_type": "vit", "hidden_size": 64, "num_hidden_layers": 1, "image_size": 32,
            "num_attention_heads": 4, "intermediate_size": 96, "patch_size": 16)" +
            labels + "}",
        "", "c"));
  };
  EXPECT_EQ(parameters(R"(, "id2label": {"0": "a", "1": "b", "2": "c"})") - parameters(""), 64 + 1);
}

std::string problem(const std::string& text, const std::string& parameters = "") {
  try {
    build_huggingface(text, parameters, "file 'c.json'");
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_TRUE(what.starts_with("file 'c.json': ")) << what;
    return std::string(to_string(error.kind())) + what.substr(what.find(": "));
  }
  return "none";
}

// kSmall with one field replaced.
std::string with(const std::string& field, const std::string& value) {
  std::string text = kSmall;
  const std::size_t at = text.find("\"" + field + "\": ");
  if (at == std::string::npos) return "{\"" + field + "\": " + value + "," + text.substr(1);
  const std::size_t begin = at + field.size() + 4;
  return text.replace(begin, text.find_first_of(",}", begin) - begin, value);
}

TEST(HuggingFace, RefusesUnknownTypes) {
  EXPECT_EQ(
      problem(R"({"model_type": "whisper"})"),
      "Unsupported: the model_type 'whisper' is not one of bart, bert, distilbert, gpt2, gpt_neox, "
      "llama, mistral, mixtral, opt, qwen2, qwen3, roberta, t5, vit");
  EXPECT_EQ(problem(R"({"hidden_size": 3})"), "BadInput: the field 'model_type' is missing");
  EXPECT_EQ(problem(with("model_type", "7")),
            "BadInput: the field 'model_type' must be a string, not number");
}

TEST(HuggingFace, RefusesSizesThatAreNone) {
  EXPECT_EQ(problem(with("hidden_size", "null")), "BadInput: the field 'hidden_size' is missing");
  EXPECT_EQ(problem(with("hidden_size", "-64")),
            "BadInput: the field 'hidden_size' is -64, not within 1 to 16777216");
  EXPECT_EQ(problem(with("vocab_size", "1e15")),
            "BadInput: the field 'vocab_size' is 1000000000000000, not within 1 to 16777216");
  for (const char* value : {"NaN", "1.5", "\"many\"", "[1]", "true", "1e400", "{}"}) {
    EXPECT_TRUE(problem(with("num_hidden_layers", value)).starts_with("BadInput: ")) << value;
  }
  EXPECT_TRUE(problem(with("num_hidden_layers", "20000")).starts_with("BadInput: model 'llama': "));
}

TEST(HuggingFace, RefusesSizesThatDoNotFit) {
  EXPECT_EQ(problem(with("num_attention_heads", "5")),
            "BadInput: model 'llama': hidden=64 is not an even multiple of heads=5");
  // Projections of 2^26 rows by 2^24 columns.
  EXPECT_TRUE(problem(with("head_dim", "16777216"), "hidden=16777216").starts_with("BadInput: "));
  EXPECT_EQ(problem(kSmall, "seqq=3"),
            "BadInput: model 'llama': has no parameter 'seqq'; did you mean 'seq'?");
}

TEST(HuggingFace, RefusesVariantsThatAreNotBuilt) {
  EXPECT_EQ(problem(with("hidden_act", "\"geglu\"")).substr(0, 66),
            "Unsupported: the activation 'geglu' in 'hidden_act' is not known; ");
  const std::string opt = R"({"model_type": "opt", "hidden_size": 64, "num_hidden_layers": 1,
      "num_attention_heads": 4, "ffn_dim": 96, "vocab_size": 100, "enable_bias": false,
      "max_position_embeddings": 32})";
  EXPECT_EQ(problem(opt), "Unsupported: 'enable_bias' is false, a variant that is not built here");
}

TEST(HuggingFace, KnowsAConfigurationByItsModelType) {
  EXPECT_TRUE(looks_like_huggingface(kSmall));
  EXPECT_FALSE(looks_like_huggingface(""));
  EXPECT_FALSE(looks_like_huggingface("\"model_type\""));
  EXPECT_FALSE(looks_like_huggingface(R"({"format": "foretrain-graph", "x": "model_type"})"));
}

}  // namespace
}  // namespace foretrain::zoo
