// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/cost/detail/context.h"

namespace foretrain::cost {

Generation generation_of(const hw::Device& device);

// What a peak of `peak_flops_per_s` sustains when a card may draw `tdp_w` and each flop/s costs
// `w_per_flops` watts:
//
//   ((cap F)^-10 + (tdp / e)^-10)^-0.1      F: peak, e: watts per flop/s
//
// so the lower of both limits decides, and neither more peak nor more power ever lowers it.
// Without a known power (0) the cap alone holds. Source: docs/models/sustained_rates.md.
double power_limited(double peak_flops_per_s, double cap, double tdp_w, double w_per_flops);

// fp32 GEMMs on vector units; a measured rate of the device takes its place.
double sustained_fp32(const hw::Device& device, const Constants& constants);
// Convolutions on vector units, fp32; `choice` scales what the kernels reach with power to spare.
double sustained_conv_fp32(const hw::Device& device, double choice, const Constants& constants);
// The same, fp64: on boards with few units for it neither power nor what feeds them limits.
double sustained_conv_fp64(const hw::Device& device, double choice, const Constants& constants);
// GEMMs on tensor cores; 0 where the device has none for `precision`. `cap` is the share of
// the peak that the kernels reach with power to spare.
double sustained_tensor(const hw::Device& device, Precision precision, double cap,
                        const Constants& constants);
// Whether multiprocessors have 128 fp32 cores: NVIDIA's from GA10x on, but for GA100.
bool wide_multiprocessors(const hw::Device& device);
// Share of the tensor peak that kernels reach at half the rate of full tensor cores, to which
// GeForce boards limit sums in fp32; 0 before GA10x. What feeds the cores has room to spare there.
double half_rate_cap(const hw::Device& device, const Constants& constants);
// Share of the tensor peak that kernels reach with power to spare: `usual`, or at half the rate.
double tensor_cap(const hw::Device& device, double usual, const Constants& constants);
// The power law's share of the 16-bit tensor peak.
double tensor_share(const hw::Device& device, const Constants& constants);
// Share of the datasheet's bandwidth that long transfers reach, by memory type.
double bandwidth_share(const hw::Device& device, const Constants& constants);

// Peak of vector units in fp64 against fp32.
double fp64_share(const hw::Device& device, const Constants& constants);

}  // namespace foretrain::cost
