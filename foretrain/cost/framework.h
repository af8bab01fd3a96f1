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
  std::string execution = "eager";  // how operators are run, in the field's words
  // How half precision is used: casts around operators, or the whole model in 16 bits.
  graph::Casting casting = graph::Casting::Automatic;
  graph::Fusion fusion = graph::Fusion::None;  // which chains of operators become one kernel
  // Of parameters: new in each step, or zeroed and accumulated into.
  graph::GradientHandling gradients = graph::GradientHandling::Fresh;
  bool flash_fp32 = false;   // fp32 attention is one fused kernel unless the request says otherwise
  bool flash_half = true;    // the same in half precision and FP8
  Flash flash = Flash::Two;  // generation of that kernel
  Tf32 tf32 = Tf32::Never;   // what it does of itself
  bool tf32_convolutions = false;  // fp32 convolutions are in TF32: decided for a request
  bool autotunes = false;          // convolutions try several algorithms first
  bool channels_last = false;      // 16-bit convolutions run in NHWC: no transposes
  bool slow_groups = false;        // 16-bit groups in NHWC are slow but for narrow ones
  bool keeps_blobs = false;    // tensors are named blobs that stay; gradients share static buffers
  double workspace_mib = 0;    // most that a convolution may use for its algorithm; 0: no limit
  bool copies_heads = true;    // GEMMs of transposed 4-D operands copy them first
  bool fused_update = false;   // one kernel reads and writes each optimizer value once
  bool fused_softmax = false;  // softmax gradient in one kernel
  bool recomputes_to_the_end = false;  // checkpoints run again wholly, not as far as backward needs
  bool composed = false;               // GELU, layer norm and dropout run as elementary operators
  bool loops_recurrent = false;        // recurrent layers run as loops of elementary operators
  bool loss_in_half = false;           // of a model in 16 bits the loss reads logits as they are
  bool fused_loss =
      false;  // a kernel of its own for cross entropy, which autocast leaves in 16 bits
  double loss_metrics = 0;  // of a training step, each a cross entropy of PyTorch's over the logits
  bool quantises_head = false;         // with quantised weights the last layer, too
  bool dequantises_in_fp16 = false;    // those, before a cast to what is computed in
  bool single_scales = false;          // 4-bit weights' scales stay in fp32: no double quantisation
  bool elementary_dequantise = false;  // operators unpack them one after the other (AutoGPTQ)
  bool autocasts_adapters = false;     // in fp32 beside 16 bits, they are multiplied in 16
  bool keeps_quantised_inputs = false;  // what quantised layers read stays until the next loss
  bool relu_keeps_input = false;        // a ReLU that is not in place does, not its output
  bool joint_attention = false;         // queries, keys and values are one layer, adapters likewise
  double host_scale = 1;                // host time per operator against eager PyTorch
  double update_passes = 1;  // memory traffic of the optimizer, times that of its kernels
  double update_tensors_per_launch = 1;  // parameters that one launch of the optimizer updates
  GradientStatistics statistics{};       // of gradients, beside the update
  GradientStatistics preconditioned{};   // in addition, of Adam and AdamW
  bool waits_for_device = false;         // the host begins the update when the device is done
  bool gradients_together = false;       // all of them are handed out when backward has ended
  bool flat_shards = false;              // ZeRO-1 and 2 divide flat buffers, not whole parameters
  bool blocking_launches = false;        // the host waits for each kernel: CUDA_LAUNCH_BLOCKING=1
  double blocking_launch_s = 0;          // until it has noticed that, beside the kernel's own time
  bool partitioned_sends = false;     // of a pipeline: each rank sends its part, which are gathered
  bool blocking_sends = false;        // of a pipeline: a stage computes nothing while it sends
  bool blocking_receives = false;     // nor while it receives
  bool main_gradients = false;        // 16-bit ones are added into fp32 ones where they are bf16
  bool keeps_half_gradients = false;  // those then stay beside the fp32 ones
  bool copies_gradient_shards = false;  // fp16 ones of a shard: flattened, then cast to fp32
  bool second_groups = false;           // of ranks, which DeepSpeed makes beside Megatron's
  double hook_s = 0;                    // host time per gradient of a parameter, during backward
  double host_per_tensor_s = 0;         // likewise per parameter tensor and step, in the update
  double host_per_step_s = 0;           // likewise per step
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
