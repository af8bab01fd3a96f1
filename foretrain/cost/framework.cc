// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework.h"

#include <algorithm>
#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::cost {
namespace {

using graph::Casting;
using graph::Fusion;
using graph::GradientHandling;

// Sources: docs/models.md, "Frameworks".
const std::array kFrameworks{
    // 2.x eager: gradients are set to none; optimizers in foreach form, about 36 tensors a launch.
    Framework{.name = "pytorch", .update_tensors_per_launch = 36},
    // 1.x eager: gradients are zeroed and added to, one launch per tensor and operator; no fused
    // attention.
    Framework{.name = "pytorch-1", .gradients = GradientHandling::Accumulate, .flash_short = false},
    // The same with the whole model converted by .half() instead of automatic mixed precision.
    Framework{.name = "pytorch-1-half",
              .casting = Casting::WholeModel,
              .gradients = GradientHandling::Accumulate,
              .flash_short = false},
    // torch.compile: element-wise chains merged, two thirds of the host's time gone (assumed).
    Framework{.name = "pytorch-compile",
              .fusion = Fusion::Pointwise,
              .copies_heads = false,
              .fused_update = true,
              .fused_softmax = true,
              .host_scale = 0.35,
              .update_tensors_per_launch = 36},
    // PyTorch 1.x with AdaptDL (AdaScale), counted in its source as Pollux used it: a hook squares
    // and sums each gradient, which DDP copies into its bucket and back (4 values); afterwards
    // each is scaled twice, summed, compared three times and squared; one worker compares it with
    // the last step's. Adam's preconditioner is computed in both places. Its times are fitted
    // (docs/models.md): 20 us of Python per hook, 25 us for each of the three comparisons, which
    // wait for the device, 1 ms per step.
    Framework{.name = "adaptdl",
              .gradients = GradientHandling::Accumulate,
              .flash_short = false,
              .statistics = {.hook = {5, 9}, .after = {9, 8}, .lone = {9, 13}},
              .preconditioned = {.hook = {5, 11}, .after = {5, 11}, .lone = {2, 6}},
              .waits_for_device = true,
              .hook_s = 20e-6,
              .host_per_tensor_s = 75e-6,
              .host_per_step_s = 1e-3},
    // Graph mode: an executor in C++ issues operators (host time assumed); Adam moves 35 values
    // per parameter. A step is a call that returns its results: 5 ms of Python between two.
    Framework{.name = "tensorflow",
              .flash_short = false,
              .autotunes = true,
              .copies_heads = true,
              .composed = true,
              .host_scale = 0.5,
              .update_passes = 1.8,
              .call_s = 5e-3},
    // Fuses batch norm, addition and activation; fused optimizer kernels, one per tensor. Its
    // engine issues operators from C++: half of eager PyTorch's host time (assumed), but its
    // store of parameters takes 150 us per tensor (batches of 1 in its own performance tables).
    Framework{.name = "mxnet",
              .fusion = Fusion::NormActivation,
              .flash_short = false,
              .autotunes = true,
              .copies_heads = false,
              .fused_update = true,
              .fused_softmax = true,
              .host_scale = 0.5,
              .host_per_tensor_s = 300e-6},
    // The same in the vendor's containers, where 16-bit convolutions run in NHWC.
    Framework{.name = "mxnet-nvidia",
              .fusion = Fusion::NormActivation,
              .flash_short = false,
              .autotunes = true,
              .channels_last = true,
              .copies_heads = false,
              .fused_update = true,
              .fused_softmax = true,
              .host_scale = 0.5},
    // Operators and optimizers in C++; its vision models run NHWC in 16 bits and fuse batch norm,
    // addition and activation. Host time assumed between PyTorch's and MXNet's.
    Framework{.name = "paddle",
              .fusion = Fusion::NormActivation,
              .flash_short = false,
              .autotunes = true,
              .channels_last = true,
              .copies_heads = false,
              .fused_update = true,
              .fused_softmax = true,
              .host_scale = 0.6},
    // Short weights with fp32 masters in a fused optimizer; fused softmax and element-wise chains.
    // Layers in Python: about 2.4 ms of host time each with math attention (vTrain's profiles).
    Framework{.name = "megatron",
              .casting = Casting::WholeModel,
              .fusion = Fusion::Pointwise,
              .flash = Flash::Two,
              .copies_heads = false,
              .fused_update = true,
              .fused_softmax = true,
              .host_scale = 1.6,
              .update_tensors_per_launch = 100},
    // Megatron's core with Transformer Engine: cuDNN's attention. Host time assumed.
    Framework{.name = "nemo",
              .casting = Casting::WholeModel,
              .fusion = Fusion::Pointwise,
              .flash = Flash::Three,
              .copies_heads = false,
              .fused_update = true,
              .fused_softmax = true,
              .host_scale = 1,
              .update_tensors_per_launch = 100},
    // Eager PyTorch layers in short weights, one fused Adam. Host time assumed.
    Framework{.name = "deepspeed",
              .casting = Casting::WholeModel,
              .fused_update = true,
              .fused_softmax = true,
              .update_tensors_per_launch = 100},
    // Eager PyTorch 1.x in the vendor's containers: NHWC and apex' fused optimizers.
    Framework{.name = "nvidia",
              .flash_short = false,
              .autotunes = true,
              .channels_last = true,
              .fused_update = true,
              .update_tensors_per_launch = 100},
    // TensorFlow with XLA in the vendor's containers: what plain TensorFlow composes are single
    // kernels, norms are fused with what follows, updates are one kernel per variable. One call
    // issues a cluster of operators (host time assumed), whose results come when it ends.
    Framework{.name = "tensorflow-xla",
              .fusion = Fusion::NormActivation,
              .flash_short = false,
              .autotunes = true,
              .channels_last = true,
              .copies_heads = true,
              .fused_update = true,
              .fused_softmax = true,
              .host_scale = 0.35,
              .gradients_together = true,
              .call_s = 5e-3},
    // XLA compiles the whole step; one call issues it. Assumed.
    Framework{.name = "jax",
              .fusion = Fusion::Pointwise,
              .autotunes = true,
              .channels_last = true,
              .copies_heads = false,
              .fused_update = true,
              .fused_softmax = true,
              .host_scale = 0.1,
              .update_tensors_per_launch = 1,
              .gradients_together = true},
};

void add(const TensorWork& more, TensorWork& work) {
  work.operators += more.operators;
  work.values += more.values;
}

}  // namespace

GradientStatistics statistics_of(const Framework& framework, graph::Optimizer optimizer,
                                 int workers) {
  GradientStatistics sum = framework.statistics;
  if (optimizer == graph::Optimizer::Adam || optimizer == graph::Optimizer::AdamW) {
    add(framework.preconditioned.hook, sum.hook);
    add(framework.preconditioned.after, sum.after);
    add(framework.preconditioned.lone, sum.lone);
  }
  if (workers == 1) add(sum.lone, sum.after);
  return sum;
}

const Framework& framework_named(const std::string& name) {
  const auto found = std::find_if(kFrameworks.begin(), kFrameworks.end(),
                                  [&](const Framework& row) { return row.name == name; });
  if (found != kFrameworks.end()) return *found;
  throw Error(ErrorKind::NotFound, "unknown framework '" + printable(name) + "'" +
                                       did_you_mean(name, framework_names()));
}

std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  names.reserve(kFrameworks.size());
  for (const Framework& row : kFrameworks) names.emplace_back(row.name);
  return names;
}

}  // namespace foretrain::cost
