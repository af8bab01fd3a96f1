// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/usual_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "foretrain/base/near.h"

namespace foretrain {
namespace {

constexpr std::array kFields{
    UsualWord{"gpu", "device"},
    UsualWord{"gpu_type", "device"},
    UsualWord{"accelerator", "device"},
    UsualWord{"gpus", "workers"},
    UsualWord{"num_gpus", "workers"},
    UsualWord{"ngpus", "workers"},
    UsualWord{"n_gpus", "workers"},
    UsualWord{"world_size", "workers"},
    UsualWord{"gpus_per_node", "workers_per_node"},
    UsualWord{"nproc_per_node", "workers_per_node"},
    UsualWord{"nodes", "workers_per_node"},
    UsualWord{"num_nodes", "workers_per_node"},
    UsualWord{"nnodes", "workers_per_node"},
    UsualWord{"interconnect", "network"},
    UsualWord{"bandwidth", "network"},
    UsualWord{"instance", "cloud"},
    UsualWord{"instance_type", "cloud"},
    UsualWord{"per_device_train_batch_size", "batch"},
    UsualWord{"bs", "batch"},
    UsualWord{"gradient_accumulation_steps", "micro_batch"},
    UsualWord{"gradient_accumulation", "micro_batch"},
    UsualWord{"accumulate", "micro_batch"},
    UsualWord{"dtype", "precision"},
    UsualWord{"amp", "precision", "fp16"},
    UsualWord{"mixed_precision", "precision", "bf16"},
    UsualWord{"fp16", "precision", "fp16"},
    UsualWord{"bf16", "precision", "bf16"},
    UsualWord{"half", "precision", "fp16"},
    UsualWord{"quantization", "weights", "nf4"},
    UsualWord{"quantize", "weights", "nf4"},
    UsualWord{"load_in_4bit", "weights", "nf4"},
    UsualWord{"load_in_8bit", "weights", "int8"},
    UsualWord{"qlora", "trainable", "lora:rank=16"},
    UsualWord{"lora", "trainable", "lora:rank=16"},
    UsualWord{"peft", "trainable", "lora:rank=16"},
    UsualWord{"adapter", "trainable", "lora:rank=16"},
    UsualWord{"seq", "model", "NAME:seq=4096"},
    UsualWord{"seq_len", "model", "NAME:seq=4096"},
    UsualWord{"seq_length", "model", "NAME:seq=4096"},
    UsualWord{"sequence_length", "model", "NAME:seq=4096"},
    UsualWord{"max_length", "model", "NAME:seq=4096"},
    UsualWord{"max_seq_length", "model", "NAME:seq=4096"},
    UsualWord{"compile", "framework", "pytorch-compile"},
    UsualWord{"torch_compile", "framework", "pytorch-compile"},
    UsualWord{"flash_attention", "attention", "flash"},
    UsualWord{"parallelism", "strategy"},
    UsualWord{"fsdp", "strategy", "fsdp"},
    UsualWord{"ddp", "strategy", "ddp"},
    UsualWord{"horovod", "strategy", "horovod"},
    UsualWord{"zero", "strategy", "zero3"},
    UsualWord{"zero_stage", "strategy", "zero3"},
    UsualWord{"deepspeed", "strategy", "zero3"},
    UsualWord{"tp", "tensor"},
    UsualWord{"tp_size", "tensor"},
    UsualWord{"pp", "pipeline"},
    UsualWord{"pp_size", "pipeline"},
    UsualWord{"stages", "pipeline"},
    UsualWord{"cp", "context"},
    UsualWord{"cp_size", "context"},
    UsualWord{"ring_attention", "context"},
    UsualWord{"ep", "expert"},
    UsualWord{"ep_size", "expert"},
    UsualWord{"gradient_checkpointing", "recompute", "full"},
    UsualWord{"activation_checkpointing", "recompute", "full"},
    UsualWord{"checkpointing", "recompute", "full"},
    UsualWord{"cpu_offload", "offload", "optimizer"},
    UsualWord{"max_steps", "steps"},
    UsualWord{"mtbf", "mtbf_s"},
};

constexpr std::array kValues{
    std::pair<std::string_view, std::string_view>{"half", "fp16"},
    std::pair<std::string_view, std::string_view>{"float16", "fp16"},
    std::pair<std::string_view, std::string_view>{"amp", "fp16"},
    std::pair<std::string_view, std::string_view>{"bfloat16", "bf16"},
    std::pair<std::string_view, std::string_view>{"float32", "fp32"},
    std::pair<std::string_view, std::string_view>{"float", "fp32"},
    std::pair<std::string_view, std::string_view>{"single", "fp32"},
    std::pair<std::string_view, std::string_view>{"float64", "fp64"},
    std::pair<std::string_view, std::string_view>{"double", "fp64"},
    std::pair<std::string_view, std::string_view>{"float8", "fp8"},
    std::pair<std::string_view, std::string_view>{"int4", "nf4"},
    std::pair<std::string_view, std::string_view>{"4bit", "nf4"},
    std::pair<std::string_view, std::string_view>{"8bit", "int8"},
    std::pair<std::string_view, std::string_view>{"sdpa", "flash"},
    std::pair<std::string_view, std::string_view>{"eager", "math"},
    std::pair<std::string_view, std::string_view>{"true", "full"},
    std::pair<std::string_view, std::string_view>{"false", "none"},
    std::pair<std::string_view, std::string_view>{"nhwc", "channels_last"},
    std::pair<std::string_view, std::string_view>{"nchw", "contiguous"},
    std::pair<std::string_view, std::string_view>{"dp", "dataparallel"},
    std::pair<std::string_view, std::string_view>{"parameter_server", "ps"},
    std::pair<std::string_view, std::string_view>{"parameter_servers", "ps"},
    std::pair<std::string_view, std::string_view>{"deepspeed", "zero3"},
    std::pair<std::string_view, std::string_view>{"cpu", "optimizer"},
};

std::string folded(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-' || c == ' ') c = '_';
  }
  return result;
}

bool contains(const std::vector<std::string>& known, std::string_view name) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

std::string asked(const std::string& name) { return "; did you mean '" + name + "'?"; }

}  // namespace

std::optional<UsualWord> find_usual_word(std::string_view word) {
  const std::string wanted = folded(word);
  for (const UsualWord& usual : kFields) {
    if (usual.word == wanted) return usual;
  }
  return std::nullopt;
}

std::string did_you_mean_field(std::string_view name, const std::vector<std::string>& known) {
  if (const std::optional<UsualWord> usual = find_usual_word(name)) {
    const std::string field(usual->field);
    for (const std::string& candidate : {field, "strategy." + field}) {
      if (contains(known, candidate)) return asked(candidate);
    }
  }
  return did_you_mean(name, known);
}

std::string did_you_mean_value(std::string_view value, const std::vector<std::string>& known) {
  const std::string wanted = folded(value);
  for (const auto& [word, meant] : kValues) {
    if (word == wanted && contains(known, meant)) return asked(std::string(meant));
  }
  return did_you_mean(value, known);
}

}  // namespace foretrain
