// SPDX-License-Identifier: Apache-2.0
// The numbers of the operator model that measurements decide. data/predictors/operators.json has
// those in use, `foretrain fit operators` finds them. The comments beside the numbers, [unit]
// first, become the tables of docs/models/ (tools/write_models.py); no unit: a share, a factor or a
// count.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/cost/smooth_max.h"

namespace foretrain::cost {

// [W per TFLOP/s] Power that arithmetic draws: the sustained rate is at most the power limit over
// it.
struct PowerConstants {
  double vector_old = 0;        // fp32 GEMM on vector units, up to Turing
  double vector_ga100 = 0;      // the same, GA100 (A100, A30)
  double vector_ga10x = 0;      // the same, the other Ampere chips
  double vector_new = 0;        // the same, from Ada on
  double vector_cdna = 0;       // the same, AMD CDNA
  double conv = 0;              // [-] fp32 convolutions against fp32 GEMM
  double tensor_old = 0;        // 16-bit GEMM on tensor cores, up to Turing
  double tensor_ga100 = 0;      // the same, GA100 and AMD CDNA up to the second
  double tensor_ga10x = 0;      // the same, the other Ampere chips
  double tensor_new = 0;        // the same, Ada and Hopper
  double tensor_blackwell = 0;  // the same, from Blackwell on
  double tensor_cdna3 = 0;      // the same, AMD CDNA from the third on
  double fp8 = 0;               // [-] FP8 on tensor cores against 16-bit
  double tf32 = 0;              // [-] TF32 on tensor cores against 16-bit
  double memory_bound = 0;      // [-] what memory-bound kernels draw, as a share of the limit
};

// Shares of the peak that kernels reach with power to spare.
struct CapConstants {
  double cores_64 = 0;     // fp32 GEMM, 64 fp32 cores per multiprocessor
  double cores_128 = 0;    // fp32 GEMM, 128 fp32 cores per multiprocessor
  double kepler = 0;       // fp32 GEMM and convolutions, Kepler
  double maxwell = 0;      // fp32 GEMM and convolutions, Maxwell; GEMM, Pascal but GP100
  double cdna = 0;         // fp32 GEMM, AMD CDNA
  double conv = 0;         // fp32 convolutions from Pascal on
  double rdna = 0;         // fp32 and 16-bit GEMM and convolutions, AMD RDNA
  double tensor = 0;       // GEMM on tensor cores
  double tensor_conv = 0;  // convolutions on tensor cores
  // Both, GeForce boards from Ampere on, whose tensor cores add in fp32 at half their rate: what
  // feeds them has room to spare, and clocks exceed the datasheet's.
  double tensor_half_rate = 0;
  double tf32 = 0;       // TF32, of the two above: its operands take twice the bytes per flop
  double fp64 = 0;       // fp64 against fp32 where the datasheet has no rate
  double fp64_conv = 0;  // convolutions in fp64, of its peak
  double converted = 0;  // 16-bit convolutions without tensor cores, of the fp32 rate
  // Where 16-bit arithmetic is slower than fp32: values that kernels read or write per second, each
  // of which has to be converted, as a share of the 16-bit peak.
  double half_values = 0;
};

// Shares of the datasheet's bandwidth.
struct BandwidthConstants {
  double hbm = 0;                 // HBM2e, HBM3 and later
  double volta = 0;               // Volta's HBM2
  double pascal = 0;              // Pascal's HBM2
  double gddr = 0;                // GDDR up to GDDR6
  double gddr6x = 0;              // GDDR6X; GDDR from GA10x on without ECC
  double cdna = 0;                // HBM of AMD CDNA
  double cpu = 0;                 // main memory of a CPU
  double gemm = 0;                // fp32 GEMM
  double tensor = 0;              // GEMM on tensor cores, against the sustained bandwidth
  double conv = 0;                // fp32 convolutions, against the sustained bandwidth
  double conv_nchw = 0;           // convolutions on tensor cores in NCHW, likewise
  double conv_channels_last = 0;  // convolutions on tensor cores in NHWC, likewise
  double conv_gddr6x = 0;         // times these two, GDDR6X
};

// [s] Time that the device is busy with a kernel however small it is.
struct LaunchConstants {
  double memory_bound = 0;  // memory-bound kernels and attention
  double conv = 0;          // convolutions, and sums of a GEMM that are split
  double vector = 0;        // fp32 GEMM
  double tensor = 0;        // GEMM on tensor cores
};

// GEMM on vector units: fp32, fp64.
struct GemmConstants {
  std::array<double, 5> tiles{};  // rates with tiles of 128x128, 128x64, 64x64, 128x32, 32x32
  double tail = 0;                // share of the last wave's idle rest that is lost
  double reread = 0;              // share of the tiles' re-reads that miss the L2
  double split = 0;               // rate where sums are split (split-K)
  double exponent = 0;            // of the overlap of arithmetic and memory
  double pascal = 0;              // rate of GP100's GEMM that is not batched
  double pascal_length = 0;       // sums longer than this collapse there
  double pascal_exponent = 0;     // how fast they collapse
};

// GEMM on tensor cores: 16-bit, TF32, FP8.
struct TensorGemmConstants {
  std::array<double, 4> tiles{};  // rates with tiles of 256x128, 128x128, 128x64, 64x64
  double tail = 0;                // share of the last wave's idle rest that is lost
  double start = 0;               // steps of k that filling the pipeline costs
  double split = 0;               // rate where sums are split (split-K)
  double exponent = 0;            // of the overlap of arithmetic and memory
};

// Convolutions on vector units: fp32, fp64.
struct ConvConstants {
  std::array<double, 3> tiles{};  // implicit GEMM: rates with tiles of 128, 64, 32 channels
  double tail = 0;                // implicit GEMM: share of the last wave's idle rest that is lost
  double start = 0;               // implicit GEMM: steps of the sum that starting costs
  double fused_tail = 0;          // Winograd F(2,3), fused: share of the last wave that is lost
  double fused_start = 0;         // Winograd F(2,3): steps of the sum that starting costs
  double fused_rate = 0;          // Winograd F(2,3): rate
  double unfused_tail = 0;        // Winograd F(4,3), not fused: share of the last wave that is lost
  double unfused_start = 0;       // Winograd F(4,3): steps of the sum that starting costs
  double unfused_rate = 0;        // Winograd F(4,3): rate
  double cache = 0;               // share of the L2 that its intermediate values may fill
  double transform = 0;           // Winograd F(4,3): bandwidth of its transforms
  double weight_transform = 0;    // Winograd F(4,3): bandwidth of its transforms of weights
  double exponent = 0;            // of the overlap of arithmetic and memory
  double weight_grad = 0;         // rate of the weight gradient against forward
  double weight_grad_unfused = 0;  // the same, Winograd F(4,3)
  double grouped = 0;              // rate of grouped convolutions
  double untuned = 0;    // rate of algorithms chosen by rule against the best of those tried
  double depthwise = 0;  // [cycles] of a multiprocessor per multiplication, forward, input gradient
  double depthwise_grad = 0;       // [cycles] the same, weight gradient
  double depthwise_grad_last = 0;  // [cycles] the same, 16-bit in NHWC
  double depthwise_large = 0;   // times these, windows above 7x7, which have no kernel of their own
  double bias = 0;              // [passes] over the output to add a bias
  double rdna_weight_grad = 0;  // AMD RDNA: rate of weight gradients against cuDNN's
  double rdna_weight_grad_half = 0;  // the same, 16 bits
  double rdna_grouped = 0;           // AMD RDNA: rate of grouped convolutions against cuDNN's
  double rdna_depthwise = 0;         // AMD RDNA: rate of depthwise kernels against cuDNN's
  double rdna_depthwise_grad = 0;    // the same, weight gradient
  double rdna_no_dot = 0;            // 16 bits without dot products (RDNA 1), of the others' rate
  double rdna_no_dot_grad = 0;       // the same, gradients
};

// Convolutions on tensor cores: 16-bit, TF32.
struct TensorConvConstants {
  std::array<double, 5> tiles{};  // rates with tiles of 256x128, 128x128, 128x64, 64x64, 64x32
  double tail = 0;                // share of the last wave's idle rest that is lost
  double start = 0;               // steps of the sum that starting costs
  double least_wave = 0;   // less than one wave runs faster, down to this share of a wave's time
  double weight_grad = 0;  // rate of the weight gradient against forward
  double weight_grad_half_rate = 0;  // the same, tensor cores of halved rate
  double grouped = 0;                // rate of grouped convolutions
  double grouped_wide = 0;           // the same, 16-bit, NCHW, from GA10x on
  double grouped_narrow = 0;         // the same, NHWC, groups that have kernels of their own
  double grouped_last = 0;           // the same, NHWC, other groups
  double grouped_last_grad = 0;      // the same, NHWC, other groups, weight gradient
  double exponent = 0;               // of the overlap of arithmetic and memory
  double transposes = 0;       // [passes] over input and output where they are not NHWC, 16-bit
  double transposes_tf32 = 0;  // [passes] the same, TF32
};

// Fused attention. Each kernel has four numbers: share of the 16-bit peak forward, backward, keys
// per row that starting costs forward, backward.
struct AttentionConstants {
  std::array<double, 4> one{};      // first generation of kernels, up to Ada
  std::array<double, 4> one_new{};  // first generation, from Hopper on
  std::array<double, 4> two{};      // second generation, up to Ada
  std::array<double, 4> two_new{};  // second generation, from Hopper on
  std::array<double, 4> three{};    // third generation and cuDNN, from Hopper on
  std::array<double, 4> vector{};   // on vector units, of the rate of fp32 GEMM
  double power_share = 0;           // below this share of the peak, power limits attention too
  double small_head = 0;            // rate for heads up to 64
  double wide_head = 0;             // rate for heads above 128
  double exponent = 0;              // of the overlap of arithmetic and memory
};

// Memory-bound operators: factors of the bytes that an operator reads and writes, unless a unit is
// given.
struct MemoryBoundConstants {
  double miss = 0;            // share of the L2 that rows may fill before they are read twice
  double norm_rows = 0;       // [rows] of a layer norm that a multiprocessor holds at once
  double softmax_rows = 0;    // [rows] of a softmax that a multiprocessor holds at once
  double softmax_cdna = 0;    // softmax on AMD CDNA
  double norm_cdna = 0;       // layer norm on AMD CDNA
  double norm_half = 0;       // layer norm in 16 bits
  double norm_half_grad = 0;  // gradient of a layer norm in 16 bits, before Hopper
  // [us] Time of a multiprocessor per row of a layer norm, its gradient likewise, with
  // `slow_layer_norm`.
  double norm_row_us = 0;
  double rms = 0;                   // [B per element] eager RMS norm
  double rms_grad = 0;              // [B per element] gradient of an eager RMS norm
  double batch_norm_half = 0;       // batch norm in 16 bits, NCHW, cuDNN
  double batch_norm_last = 0;       // batch norm in 16 bits, NHWC
  double batch_norm_last_grad = 0;  // gradient of a batch norm in 16 bits, NHWC
  // [ns] Time of a channel's block of threads per value of the channel, batch norm by cuDNN.
  double batch_norm = 0;
  double batch_norm_grad = 0;        // [ns] the same, gradient
  double batch_norm_own = 0;         // [ns] the same, PyTorch's own kernel for 16-bit weights
  double batch_norm_own_grad = 0;    // [ns] the same, gradient of PyTorch's own kernel
  double max_pool = 0;               // max-pool and its gradient
  double loss_grad = 0;              // gradient of a loss
  double gelu_half = 0;              // GELU in 16 bits
  double gelu_half_grad = 0;         // gradient of GELU in 16 bits
  double pow_grad = 0;               // gradient of a power
  double maximum_grad = 0;           // gradient of a maximum or minimum
  double dequantize_4bit = 0;        // 4-bit weights by a kernel that finds each value in a tree
  double scatter_grad = 0;           // gradients of gathering and upsampling: atomics read the sum
  double top_k = 0;                  // top-k selection
  double composed_gelu = 0;          // [passes] over a tensor: GELU from elementary operators
  double composed_gelu_grad = 0;     // [passes] its gradient
  double composed_norm = 0;          // [passes] layer norm from elementary operators
  double composed_norm_grad = 0;     // [passes] its gradient
  double composed_dropout = 0;       // [passes] dropout from elementary operators
  double composed_dropout_grad = 0;  // [passes] its gradient
  double unsorted = 0;      // [indices] up to which the gradient of an embedding does not sort them
  double sort_kernels = 0;  // kernels of that sort
  double sort_passes = 0;   // [passes] of that sort over pairs of key and position
};

// [us] Host time to issue an operator from eager PyTorch on the reference machine.
struct HostConstants {
  double conv = 0;             // convolution
  double batch_norm = 0;       // batch norm
  double norm = 0;             // layer, RMS and group norm
  double linear = 0;           // linear layer
  double matmul = 0;           // matrix multiplication without weights
  double attention = 0;        // fused attention
  double recurrent = 0;        // recurrent layers
  double embedding = 0;        // embedding
  double concat = 0;           // concatenation
  double pool = 0;             // pooling
  double softmax = 0;          // softmax, dropout, GELU
  double loss = 0;             // loss
  double cast = 0;             // cast
  double other = 0;            // ReLU, addition and any other operator
  double view = 0;             // view
  double conv_grad = 0;        // each of a convolution's two gradients
  double batch_norm_grad = 0;  // gradient of a batch norm
  double norm_grad = 0;        // gradient of another norm
  double pointwise_grad = 0;   // gradient of an element-wise operator
  double accumulate = 0;       // addition into a parameter's gradient
  double branch = 0;           // sum of two branches' gradients
  double matmul_grad = 0;      // matrix multiplication in backward
  double attention_grad = 0;   // gradient of fused attention
  double recurrent_grad = 0;   // gradient of recurrent layers
  double embedding_grad = 0;   // gradient of an embedding
  double loss_grad = 0;        // gradient of a loss or a softmax
  double sum_grad = 0;         // sum over broadcast axes in backward
  double other_grad = 0;       // any other gradient
  double view_grad = 0;        // view in backward
  double zero = 0;             // zeroing of gradients, per kernel launch
  double update = 0;           // optimizer, per kernel launch
  double update_tensor = 0;    // optimizer, per parameter tensor
  double update_step = 0;      // optimizer, per step
};

// Microseconds of a call, share of the peak, share of the bandwidth; of which counts: cpu.cc.
using CpuClass = std::array<double, 3>;

// PyTorch's operators on a CPU. A class of operators has three numbers: microseconds of a call at
// the clock below, share of the fp32 peak, share of the bandwidth.
struct CpuConstants {
  CpuClass gemm{};                 // GEMM
  CpuClass conv{};                 // convolution by oneDNN, which changes layouts first
  CpuClass conv_grad{};            // each of its two gradients
  CpuClass grouped{};              // grouped convolution
  CpuClass grouped_grad{};         // each of its two gradients
  CpuClass depthwise{};            // depthwise convolution
  CpuClass depthwise_grad{};       // each of its two gradients
  CpuClass depthwise_wide_grad{};  // the same, without a fast kernel: windows above 3
  CpuClass plain_conv{};           // 1x1 convolution as a GEMM per image
  CpuClass plain_conv_grad{};      // each of its two gradients
  CpuClass attention{};            // fused attention
  CpuClass attention_grad{};       // gradient of fused attention
  CpuClass recurrent{};            // each time step of a recurrent layer
  CpuClass recurrent_grad{};       // each time step of its gradient
  CpuClass lstm{};                 // each time step of an LSTM, by oneDNN: less around it
  CpuClass lstm_grad{};            // each time step of its gradient
  CpuClass memory_bound{};         // element-wise and other memory-bound operators
  CpuClass concat{};               // concatenation, a call per tensor
  CpuClass broadcast{};            // element-wise, of operands of different shapes
  CpuClass function{};             // element-wise exponentials and the like
  CpuClass function_grad{};        // their gradients
  CpuClass random{};               // dropout: a random number per element
  CpuClass norm{};                 // layer, RMS and group norm
  CpuClass norm_grad{};            // their gradients
  CpuClass batch_norm{};           // batch norm
  CpuClass batch_norm_grad{};      // gradient of a batch norm
  CpuClass max_pool{};             // max-pool: each value of each window
  CpuClass avg_pool{};             // average pool and its gradient
  CpuClass pool_grad{};            // gradient of a max-pool
  CpuClass reduction{};            // reductions and adaptive pools
  CpuClass loss{};                 // loss
  CpuClass loss_grad{};            // gradient of a loss
  CpuClass embedding_grad{};       // gradient of an embedding
  CpuClass update{};               // optimizer
  double view = 0;                 // [us] of a call of a view
  double recurrent_vector = 0;  // share of the peak, what a recurrent layer does besides its GEMMs
  double row = 0;          // [ns] for each image and channel that a batch norm or a pool visits
  double row_grad = 0;     // [ns] the same, gradient of a batch norm, where planes are small
  double reference = 0;    // [ns] the same, depthwise convolutions without a fast kernel
  double cache_speed = 0;  // bandwidth of the last private cache against memory's
  double fresh = 0;        // [ns per byte] of a large result: its pages are new each time
  double fresh_bytes = 0;  // [B] from here on a result is large
  double clock = 0;        // [GHz] at which calls were counted
  double lanes = 0;        // channels that oneDNN computes at once: fewer cost as many
  double fast_side = 0;    // widest window of a depthwise convolution with a fast kernel
  double plain_batch = 0;  // [images] from which on oneDNN computes 1x1 convolutions
};

struct Constants {
  PowerConstants power;
  CapConstants cap;
  BandwidthConstants bandwidth;
  LaunchConstants launch;
  GemmConstants gemm;
  TensorGemmConstants tensor_gemm;
  ConvConstants conv;
  TensorConvConstants tensor_conv;
  AttentionConstants attention;
  MemoryBoundConstants memory_bound;
  HostConstants host;
  CpuConstants cpu;
  double recurrent_step = 0;  // [s] of a time step besides its GEMM: gates and gaps
};

// One constant, or one of an array's: "gemm.tiles.2".
struct NamedConstant {
  std::string name;
  double* value;
};

// Every constant in the order of the file. Pointers into `constants`.
std::vector<NamedConstant> named_constants(Constants& constants);

// The operator model ready for use.
struct OperatorModel {
  Constants constants;
  SmoothMax gemm;
  SmoothMax tensor_gemm;
  SmoothMax conv;
  SmoothMax tensor_conv;
  SmoothMax attention;
};

OperatorModel make_operator_model(const Constants& constants);

inline constexpr std::string_view kOperatorsFormat = "foretrain-operators";

// Reads a file as `write_constants` writes it. Throws Error(BadInput) naming `where` for a constant
// that is missing, unknown or not a positive number.
Constants read_constants(std::string_view text, const std::string& where);

// `notes` are lines of text that say where the numbers come from.
std::string write_constants(const Constants& constants, std::span<const std::string> notes);

}  // namespace foretrain::cost
