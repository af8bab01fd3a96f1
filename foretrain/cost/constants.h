// SPDX-License-Identifier: Apache-2.0
// The numbers of the operator model that measurements decide. data/predictors/operators.json has
// those in use, `foretrain fit operators` finds them, docs/models.md says what each one means.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/cost/smooth_max.h"

namespace foretrain::cost {

// Watts per TFLOP/s at the power limit.
struct PowerConstants {
  double vector_old = 0;  // fp32 products, up to Turing
  double vector_ga100 = 0;
  double vector_ga10x = 0;
  double vector_new = 0;  // from Ada on
  double vector_cdna = 0;
  double conv = 0;        // convolutions against products
  double tensor_old = 0;  // 16-bit products on matrix units
  double tensor_ga100 = 0;
  double tensor_ga10x = 0;
  double tensor_new = 0;
  double fp8 = 0;     // against 16 bits
  double tf32 = 0;    // likewise
  double stream = 0;  // what kernels that stream memory draw, as a share of the limit
};

// Shares of the peak that kernels reach with power to spare.
struct CapConstants {
  double cores_64 = 0;  // fp32 products, by cores per multiprocessor
  double cores_128 = 0;
  double kepler = 0;
  double maxwell = 0;
  double cdna = 0;
  double conv = 0;         // fp32 convolutions
  double tensor = 0;       // products on matrix units
  double tensor_conv = 0;  // convolutions on matrix units
  double converted = 0;    // 16-bit convolutions without units for them, of the fp32 rate
  // Where 16-bit arithmetic is slower than fp32's: values that kernels read or write per second,
  // against that peak. Each has to be converted.
  double short_values = 0;
};

// Shares of the datasheet's bandwidth.
struct BandwidthConstants {
  double hbm = 0;
  double volta = 0;
  double pascal = 0;
  double gddr = 0;
  double cdna = 0;
  double cpu = 0;
  double products = 0;  // fp32 products
  double tensor = 0;    // products on matrix units, against `long streams`
  double conv = 0;      // fp32 convolutions, likewise
  double conv_short = 0;
  double conv_channels_last = 0;
};

// Busy time that a small kernel adds, s.
struct LaunchConstants {
  double stream = 0;
  double conv = 0;
  double vector = 0;
  double tensor = 0;
};

struct VectorProductConstants {
  std::array<double, 5> tiles{};  // rates of 128x128, 128x64, 64x64, 128x32, 32x32
  double tail = 0;                // share of the last wave's idle rest that is lost
  double reread = 0;              // share of the tiles' re-reads that miss the L2
  double split = 0;               // rate of split sums
  double exponent = 0;            // of the overlap of arithmetic and memory
  double pascal = 0;              // rate of Pascal's plain products
  double pascal_length = 0;       // sums beyond this length collapse there
  double pascal_exponent = 0;
};

struct TensorProductConstants {
  std::array<double, 4> tiles{};  // rates of 256x128, 128x128, 128x64, 64x64
  double tail = 0;
  double start = 0;  // steps of k that filling the pipeline costs
  double split = 0;
  double exponent = 0;
};

struct VectorConvConstants {
  std::array<double, 3> tiles{};  // implicit product: rates of 128, 64, 32 channels
  double tail = 0;
  double start = 0;       // steps of the sum
  double fused_tail = 0;  // F(2,3)
  double fused_start = 0;
  double fused_rate = 0;
  double unfused_tail = 0;  // F(4,3)
  double unfused_start = 0;
  double unfused_rate = 0;
  double cache = 0;             // share of the L2 that its intermediate values may fill
  double transform = 0;         // bandwidth of its transforms
  double weight_transform = 0;  // likewise, of the weights
  double exponent = 0;
  double weight_grad = 0;          // rate against forward
  double weight_grad_unfused = 0;  // likewise, of F(4,3)
  double grouped = 0;              // likewise
  double untuned = 0;    // rate of algorithms chosen by rule against the best of those tried
  double depthwise = 0;  // cycles of a multiprocessor for each product, forward and input gradient
  double depthwise_grad = 0;  // likewise, weight gradient
  double bias = 0;            // passes over the output
};

struct TensorConvConstants {
  std::array<double, 5> tiles{};  // rates of 256x128, 128x128, 128x64, 64x64, 64x32
  double tail = 0;
  double start = 0;
  double least_wave = 0;
  double weight_grad = 0;
  double grouped = 0;
  double exponent = 0;
  double transposes = 0;  // passes over input and output where they are not channels last
  double transposes_tf32 = 0;
};

// Shares of the 16-bit peak forward and backward, and keys per row that starting costs.
struct AttentionConstants {
  std::array<double, 4> one{};  // first generation of kernels, up to Ada
  std::array<double, 4> one_new{};
  std::array<double, 4> two{};
  std::array<double, 4> two_new{};
  std::array<double, 4> three{};
  std::array<double, 4> vector{};  // of the fp32 rate
  double power_share = 0;          // below this share of the peak, power limits attention too
  double small_head = 0;           // rate for heads up to 64
  double wide_head = 0;            // above 128
  double exponent = 0;
};

struct StreamConstants {
  double miss = 0;          // of the L2 that rows may fill before they are read twice
  double norm_rows = 0;     // rows per multiprocessor at once
  double softmax_rows = 0;  // likewise
  double softmax_cdna = 0;  // traffic against NVIDIA's
  double norm_cdna = 0;
  double norm_short = 0;  // layer norm in 16 bits
  double norm_short_grad = 0;
  double rms = 0;  // bytes per element of an eager RMS norm
  double rms_grad = 0;
  double batch_norm_short = 0;
  // ns that a channel's block of threads takes for each of its values: cuDNN's kernels, and
  // PyTorch's own for short weights.
  double batch_norm = 0;
  double batch_norm_grad = 0;
  double batch_norm_own = 0;
  double batch_norm_own_grad = 0;
  double max_pool = 0;
  double loss_grad = 0;
  double gelu_short = 0;
  double gelu_short_grad = 0;
  double pow_grad = 0;
  double maximum_grad = 0;
};

// Host time to issue an operator from eager PyTorch, microseconds.
struct HostConstants {
  double conv = 0;
  double batch_norm = 0;
  double norm = 0;
  double linear = 0;
  double matmul = 0;
  double attention = 0;
  double recurrent = 0;
  double embedding = 0;
  double concat = 0;
  double pool = 0;
  double softmax = 0;  // also dropout and GELU
  double loss = 0;
  double cast = 0;
  double other = 0;
  double view = 0;
  double conv_grad = 0;
  double batch_norm_grad = 0;
  double norm_grad = 0;
  double pointwise_grad = 0;
  double accumulate = 0;  // into a parameter's gradient
  double branch = 0;      // sum of two branches' gradients
  double matmul_grad = 0;
  double attention_grad = 0;
  double recurrent_grad = 0;
  double embedding_grad = 0;
  double loss_grad = 0;
  double sum_grad = 0;
  double other_grad = 0;
  double view_grad = 0;
  double zero = 0;           // per launch
  double update = 0;         // per launch
  double update_tensor = 0;  // per parameter
  double update_step = 0;
};

// PyTorch's operators on a CPU: {microseconds of a call at 2.65 GHz, share of the fp32 peak, share
// of the bandwidth}. Counts that the shares are of: cpu.cc.
using CpuClass = std::array<double, 3>;

struct CpuConstants {
  CpuClass product{};
  CpuClass conv{};       // oneDNN's, which change layouts first
  CpuClass conv_grad{};  // each of the two gradients
  CpuClass grouped{};
  CpuClass grouped_grad{};
  CpuClass depthwise{};
  CpuClass depthwise_grad{};
  CpuClass depthwise_wide_grad{};  // windows above 3
  CpuClass plain_conv{};           // 1x1 as a product per image
  CpuClass plain_conv_grad{};
  CpuClass attention{};
  CpuClass attention_grad{};
  CpuClass recurrent{};  // each time step of a layer
  CpuClass recurrent_grad{};
  CpuClass lstm{};  // oneDNN's: the same with less around it
  CpuClass lstm_grad{};
  CpuClass stream{};
  CpuClass concat{};     // a call per tensor
  CpuClass broadcast{};  // of operands of different shapes
  CpuClass function{};   // exponentials and the like
  CpuClass function_grad{};
  CpuClass random{};  // a random number per element
  CpuClass norm{};
  CpuClass norm_grad{};
  CpuClass batch_norm{};
  CpuClass batch_norm_grad{};
  CpuClass max_pool{};  // each value of each window
  CpuClass avg_pool{};
  CpuClass pool_grad{};
  CpuClass reduction{};
  CpuClass loss{};
  CpuClass loss_grad{};
  CpuClass embedding_grad{};
  CpuClass update{};
  double view = 0;              // us of a call
  double recurrent_vector = 0;  // share of the peak, what a recurrent layer does besides products
  double row = 0;               // ns for each image and channel that a norm or a pool visits
  double row_grad = 0;          // likewise, of a batch norm's gradient, where planes are small
  double reference = 0;         // likewise, of depthwise convolutions without a kernel of their own
  double cache_speed = 0;       // bandwidth of the last private cache against memory's
  double fresh = 0;             // ns per byte of a large result: its pages are new each time
};

struct Constants {
  PowerConstants power;
  CapConstants cap;
  BandwidthConstants bandwidth;
  LaunchConstants launch;
  VectorProductConstants vector_products;
  TensorProductConstants tensor_products;
  VectorConvConstants vector_conv;
  TensorConvConstants tensor_conv;
  AttentionConstants attention;
  StreamConstants streams;
  HostConstants host;
  CpuConstants cpu;
  double recurrent_step = 0;  // s, besides a time step's product
};

// One constant, or one of an array's: "vector_products.tiles.2".
struct NamedConstant {
  std::string name;
  double* value;
};

// Every constant in the order of the file. Pointers into `constants`.
std::vector<NamedConstant> named_constants(Constants& constants);

// The operator model ready for use.
struct OperatorModel {
  Constants constants;
  SmoothMax vector_products;
  SmoothMax tensor_products;
  SmoothMax vector_conv;
  SmoothMax tensor_conv;
  SmoothMax attention;
};

OperatorModel make_operator_model(const Constants& constants);

// Reads a file as `write_constants` writes it. Throws Error(BadInput) naming `where` for a constant
// that is missing, unknown or not a positive number.
Constants read_constants(std::string_view text, const std::string& where);

// `notes` are lines of text that say where the numbers come from.
std::string write_constants(const Constants& constants, std::span<const std::string> notes);

// What is shipped.
const OperatorModel& shipped_operator_model();

}  // namespace foretrain::cost
