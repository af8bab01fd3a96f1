// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/graph/backward.h"
#include "foretrain/graph/optimizer.h"
#include "foretrain/graph/passes.h"

namespace foretrain::cost {

// Generation of the fused attention kernels that a framework ships.
enum class Flash : std::uint8_t { One, Two, Three };

// Where fp32 is computed in TF32 unless a request says otherwise, on devices that have it.
enum class Tf32 : std::uint8_t { Never, Convolutions, Always };

// Element-wise operators on each parameter tensor, and values per parameter that they move.
struct TensorWork {
  double operators = 0;
  double values = 0;
};

// What is found out about gradients beside the optimizer's update.
struct GradientStatistics {
  TensorWork hook{};    // when a gradient is there, during backward
  TensorWork after{};   // when all are there, before the update
  TensorWork single{};  // more of that, of a worker without others
};

// What a framework does to a step besides the model's own arithmetic; the defaults are those of
// eager PyTorch with one launch per tensor. data/predictors/frameworks.json has those in use.
struct Framework {
  std::string name{};               // by which a request asks for it
  std::string source{};             // where the row comes from
  std::string execution = "eager";  // how operators are run: eager, graph, compiled, ...
  // How half precision is used: casts around operators, or the whole model in 16 bits.
  graph::Casting casting = graph::Casting::Automatic;
  graph::Fusion fusion = graph::Fusion::None;  // which chains of operators become one kernel
  // Gradients of parameters: new in each step, or zeroed and accumulated into.
  graph::GradientHandling gradients = graph::GradientHandling::Fresh;
  bool flash_fp32 = false;   // fp32 attention is one fused kernel unless the request says otherwise
  bool flash_half = true;    // the same of attention in half precision and FP8
  Flash flash = Flash::Two;  // generation of FlashAttention that the fused kernel is of
  Tf32 tf32 = Tf32::Never;   // which fp32 operators run in TF32 where the device has it
  bool tf32_convolutions = false;  // set for one request: its fp32 convolutions run in TF32
  bool autotunes = false;      // convolutions try several algorithms first, as cudnn.benchmark does
  bool channels_last = false;  // 16-bit convolutions run in NHWC: no transposes
  bool slow_groups = false;  // 16-bit grouped convolutions in NHWC are slow, narrow groups excepted
  bool slow_narrow_groups = false;  // so are weight gradients of narrow groups in odd tensors
  bool slow_layer_norm = false;     // a layer norm takes a time for each row, however short it is
  bool keeps_blobs = false;    // tensors are named blobs that stay; gradients share static buffers
  double workspace_mib = 0;    // most that a convolution may use for its algorithm; 0: no limit
  bool copies_heads = true;    // GEMMs of transposed 4-D operands copy them first
  bool fused_update = false;   // one kernel reads and writes each optimizer value once
  bool fused_softmax = false;  // softmax gradient in one kernel
  bool recomputes_to_the_end = false;  // checkpoints run again wholly, not as far as backward needs
  bool composed = false;               // GELU, layer norm and dropout run as elementary operators
  bool loops_recurrent = false;        // recurrent layers run as loops of elementary operators
  bool loss_in_half = false;  // of a model in 16 bits the loss reads 16-bit logits, without a cast
  bool fused_loss = false;    // cross entropy is one kernel that autocast leaves in 16 bits
  double loss_metrics = 0;    // metrics of each training step, cross entropies over the logits
  bool quantises_head = false;       // quantised weights include the last layer (the head)
  bool dequantises_in_fp16 = false;  // quantised weights become fp16, then the precision asked for
  bool single_scales = false;        // 4-bit weights' scales stay in fp32: no double quantisation
  bool elementary_dequantise = false;   // plain operators unpack a quantised weight (AutoGPTQ)
  bool autocasts_adapters = false;      // fp32 adapters beside 16-bit weights compute in 16 bits
  bool keeps_quantised_inputs = false;  // inputs of quantised layers stay until the next loss
  bool relu_keeps_input = false;  // a ReLU that is not in place keeps its input, not its output
  bool joint_attention = false;   // queries, keys and values are one layer; adapters likewise
  double host_scale = 1;          // host time per operator against eager PyTorch
  double update_passes = 1;       // memory traffic of the optimizer, times that of its kernels
  double update_tensors_per_launch = 1;  // parameters that one launch of the optimizer updates
  GradientStatistics statistics{};       // statistics of gradients that are taken beside the update
  GradientStatistics preconditioned{};   // what these take in addition for Adam and AdamW
  bool waits_for_device = false;         // the host begins the update when the device is done
  bool gradients_together = false;  // gradients are handed to the exchange when backward has ended
  bool flat_shards = false;         // ZeRO-1 and 2 divide flat buffers, not whole parameters
  bool blocking_launches = false;   // the host waits for each kernel: CUDA_LAUNCH_BLOCKING=1
  double blocking_launch_s = 0;     // time until the host notices the end of such a kernel
  bool partitioned_sends = false;   // pipeline: tensor-parallel ranks each send a part, then gather
  bool blocking_sends = false;      // pipeline: a stage computes nothing while it sends
  bool blocking_receives = false;   // pipeline: a stage computes nothing while it receives
  bool main_gradients = false;      // bf16 gradients are added into fp32 ones (main gradients)
  bool keeps_half_gradients = false;    // the 16-bit gradients then stay beside the fp32 ones
  bool copies_gradient_shards = false;  // fp16 gradients of a shard: flattened, then cast to fp32
  bool second_groups = false;           // DeepSpeed makes groups of ranks beside Megatron's
  double hook_s = 0;                    // host time per parameter's gradient, during backward
  double host_per_tensor_s = 0;         // host time per parameter tensor and step, in the update
  double host_per_step_s = 0;           // host time per step
  double call_s = 0;  // host time of a pass before its first operator, for which the device waits
};

// A framework's statistics for an optimizer and that many workers: those of Adam and of a single
// worker are in `hook` and `after`.
GradientStatistics statistics_of(const Framework& framework, graph::Optimizer optimizer,
                                 int workers);

// Throws Error(NotFound) with near matches.
const Framework& framework_named(std::span<const Framework> frameworks, std::string_view name);

// Adds the framework, in place of one of the same name.
void put(Framework framework, std::vector<Framework>& frameworks);

}  // namespace foretrain::cost
