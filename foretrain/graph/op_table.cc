// SPDX-License-Identifier: Apache-2.0
// The table of operators. To add one: a Kind, a row, and whatever rule no other row has yet.
#include <array>

#include "foretrain/graph/op.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

using enum Family;
using enum Autocast;
using K = Kind;

// clang-format off
const std::array<Op, kKinds> kOps{{
    {K::Reshape, "reshape", "~->~", View, Follow, infer_reshape, work_none, grad_reshape},
    {K::Transpose, "transpose", "*->^", View, Follow, infer_transpose, work_none, grad_transpose},
    {K::Slice, "slice", "*@*->*@*", View, Follow, infer_slice, work_none, grad_slice},
    {K::Split, "split", "*@*->*@*", View, Follow, infer_split, work_none, grad_split},
    {K::Expand, "expand", "*->*", View, Follow, infer_expand, work_none, grad_broadcast_view},
    {K::Identity, "identity", "*->*", View, Follow, infer_same, work_none, grad_identity},
    {K::Detach, "detach", "*->*", View, Follow, infer_same, work_none, nullptr},

    {K::Contiguous, "contiguous", "*->*", Copy, Follow, infer_same, work_copy, grad_pass},
    {K::Concat, "concat", "*@*->*@*", Copy, Follow, infer_concat, work_copy, grad_concat},
    {K::Pad, "pad", "*->*", Copy, Follow, infer_pad, work_copy, grad_pad},
    {K::Cast, "cast", "*->*", Copy, Follow, infer_same, work_copy, grad_cast},
    {K::Dequantize, "dequantize", "*->*", Copy, Follow, infer_dequantize, work_dequantize, nullptr},
    {K::Gather, "gather", "*@!*,i->*i*", Copy, Follow, infer_gather, work_lookup, grad_gather},
    {K::Upsample, "upsample", "bcHW->bcHW", Copy, Follow, infer_upsample, work_pointwise, grad_upsample},
    {K::Roll, "roll", "*!->*!", Copy, Follow, infer_same, work_copy, grad_roll},

    {K::Linear, "linear", "*k,nk,n->*n", Matrix, Half, infer_linear, work_linear, grad_linear},
    {K::MatMul, "matmul", "*mk,*kn->*mn", Matrix, Half, infer_matmul, work_matmul, grad_matmul},
    {K::Conv, "conv", "bcHW,kcHW,k->bkHW", Convolution, Half, infer_conv, work_conv, grad_conv},
    {K::Attention, "attention", "bhsd!,bht!d!,bht!d!,bhst!->bhsd!,bhs", Family::Attention, Half, infer_attention, work_attention, grad_attention},
    {K::Recurrent, "recurrent", "t!bi!->t!bh!", Family::Recurrent, Half, infer_recurrent, work_recurrent, grad_recurrent},

    {K::Embedding, "embedding", "*,vh->*h", Lookup, Follow, infer_embedding, work_lookup, grad_embedding},

    {K::Relu, "relu", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_output},
    {K::Relu6, "relu6", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::LeakyRelu, "leaky_relu", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Gelu, "gelu", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Silu, "silu", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Mish, "mish", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Sigmoid, "sigmoid", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_output},
    {K::HardSigmoid, "hard_sigmoid", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::HardSwish, "hard_swish", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Tanh, "tanh", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_output},
    {K::Softplus, "softplus", "*->*", Pointwise, Full, infer_same, work_pointwise, grad_from_input},
    {K::Elu, "elu", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_output},
    {K::Exp, "exp", "*->*", Pointwise, Full, infer_same, work_pointwise, grad_from_output},
    {K::Log, "log", "*->*", Pointwise, Full, infer_same, work_pointwise, grad_from_input},
    {K::Sqrt, "sqrt", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_output},
    {K::Rsqrt, "rsqrt", "*->*", Pointwise, Full, infer_same, work_pointwise, grad_from_output},
    {K::Pow, "pow", "*->*", Pointwise, Full, infer_same, work_pointwise, grad_from_input},
    {K::Neg, "neg", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_linear_unary},
    {K::Abs, "abs", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Erf, "erf", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Sin, "sin", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Cos, "cos", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},
    {K::Scale, "scale", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_linear_unary},
    {K::Shift, "shift", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_pass},
    {K::Clip, "clip", "*->*", Pointwise, Follow, infer_same, work_pointwise, grad_from_input},

    {K::Add, "add", "*,*->*", Pointwise, Follow, infer_broadcast, work_pointwise, grad_add},
    {K::Sub, "sub", "*,*->*", Pointwise, Follow, infer_broadcast, work_pointwise, grad_sub},
    {K::Mul, "mul", "*,*->*", Pointwise, Follow, infer_broadcast, work_pointwise, grad_mul},
    {K::Div, "div", "*,*->*", Pointwise, Follow, infer_broadcast, work_pointwise, grad_div},
    {K::Maximum, "maximum", "*,*->*", Pointwise, Follow, infer_broadcast, work_pointwise, grad_select},
    {K::Minimum, "minimum", "*,*->*", Pointwise, Follow, infer_broadcast, work_pointwise, grad_select},
    {K::Where, "where", "*,*,*->*", Pointwise, Follow, infer_broadcast, work_pointwise, grad_select},
    {K::Compare, "compare", "*,*->*", Pointwise, Follow, infer_broadcast, work_pointwise, nullptr},
    {K::Dropout, "dropout", "*->*,*", Pointwise, Follow, infer_dropout, work_pointwise, grad_dropout},

    {K::Softmax, "softmax", "*@!*->*@!*", Normalization, Full, infer_same, work_pointwise, grad_softmax},
    {K::LogSoftmax, "log_softmax", "*@!*->*@!*", Normalization, Full, infer_same, work_pointwise, grad_softmax},
    {K::BatchNorm, "batch_norm", "b!ch!w!,c,c->b!ch!w!", Normalization, Follow, infer_norm, work_norm, grad_norm},
    {K::LayerNorm, "layer_norm", "*h!,h!,h!->*h!", Normalization, Full, infer_norm, work_norm, grad_norm},
    {K::RmsNorm, "rms_norm", "*h!,h!->*h!", Normalization, Full, infer_norm, work_norm, grad_norm},
    {K::GroupNorm, "group_norm", "bc!h!w!,c!,c!->bc!h!w!", Normalization, Full, infer_norm, work_norm, grad_norm},
    {K::Sum, "sum", "*->/", Reduction, Full, infer_reduce, work_pointwise, grad_reduce},
    {K::Mean, "mean", "*->/", Reduction, Follow, infer_reduce, work_pointwise, grad_reduce},
    {K::ArgMax, "arg_max", "*->/", Reduction, Follow, infer_reduce, work_pointwise, nullptr},
    {K::TopK, "top_k", "*@!*->*@!*,*@!*", Reduction, Follow, infer_top_k, work_pointwise, grad_gather},
    {K::CumSum, "cum_sum", "*@!*->*@!*", Reduction, Full, infer_same, work_pointwise, grad_linear_unary},
    {K::MaxPool, "max_pool", "bcHW->bcHW,bcHW", Pool, Follow, infer_pool, work_pointwise, grad_pool},
    {K::AvgPool, "avg_pool", "bcHW->bcHW", Pool, Follow, infer_pool, work_pointwise, grad_pool},
    {K::AdaptiveAvgPool, "adaptive_avg_pool", "bcHW->bcHW", Pool, Follow, infer_adaptive_pool, work_pointwise, grad_pool},

    {K::CrossEntropy, "cross_entropy", "*v,*->,*v", Loss, Full, infer_loss, work_pointwise, grad_loss},
    {K::PointwiseLoss, "pointwise_loss", "*,*->", Loss, Full, infer_loss, work_pointwise, grad_loss},

    {K::ConvInputGrad, "conv_input_grad", "bkHW,kcHW->bcHW", Convolution, Half, infer_given, work_conv_grad, nullptr},
    {K::ConvWeightGrad, "conv_weight_grad", "bkHW,bcHW->kcHW", Convolution, Half, infer_given, work_conv_grad, nullptr},
    {K::AttentionGrad, "attention_grad", "bhsd->bhsd,bhtd,bhtd", Family::Attention, Half, infer_given, work_attention_grad, nullptr},
    {K::RecurrentGrad, "recurrent_grad", "tbh->tbi", Family::Recurrent, Half, infer_given, work_recurrent_grad, nullptr},
    {K::EmbeddingGrad, "embedding_grad", "*h,*->vh", Lookup, Follow, infer_given, work_lookup_grad, nullptr},
    {K::PointwiseGrad, "pointwise_grad", "*,*->*", Pointwise, Follow, infer_given, work_pointwise, nullptr},
    {K::SoftmaxGrad, "softmax_grad", "*@!*,*@!*->*@!*", Normalization, Full, infer_given, work_pointwise, nullptr},
    {K::NormGrad, "norm_grad", "*h!,*h!->*h!", Normalization, Follow, infer_given, work_norm_grad, nullptr},
    {K::PoolGrad, "pool_grad", "bcHW->bcHW", Pool, Follow, infer_given, work_pointwise, nullptr},
    {K::UpsampleGrad, "upsample_grad", "bcHW->bcHW", Copy, Follow, infer_given, work_pointwise, nullptr},
    {K::GatherGrad, "gather_grad", "*i*,i->*@!*", Copy, Follow, infer_given, work_lookup_grad, nullptr},
    {K::SliceGrad, "slice_grad", "*@*->*@*", Copy, Follow, infer_given, work_copy, nullptr},
    {K::LossGrad, "loss_grad", ",*v,*->*v", Loss, Full, infer_given, work_pointwise, nullptr},
    {K::SumTo, "sum_to", "*->*", Reduction, Follow, infer_given, work_pointwise, nullptr},
    {K::Fill, "fill", "->*", Copy, Follow, infer_given, work_fill, nullptr},

    {K::Update, "update", "*,*->", Family::Update, Follow, infer_given, work_update, nullptr},
    {K::ZeroGrad, "zero_grad", "*->", Family::Update, Follow, infer_given, work_fill, nullptr},

    {K::AllReduce, "all_reduce", "*->*", Collective, Follow, infer_given, work_none, grad_pass},
    {K::AllGather, "all_gather", "*->*", Collective, Follow, infer_given, work_none, grad_all_gather},
    {K::ReduceScatter, "reduce_scatter", "*->*", Collective, Follow, infer_given, work_none, grad_reduce_scatter},
    {K::AllToAll, "all_to_all", "*->*", Collective, Follow, infer_given, work_none, grad_all_to_all},
    {K::Broadcast, "broadcast", "*->", Collective, Follow, infer_given, work_none, nullptr},
    {K::Reduce, "reduce", "*->", Collective, Follow, infer_given, work_none, nullptr},
    {K::Pull, "pull", "*->", Collective, Follow, infer_given, work_none, nullptr},
    {K::Push, "push", "*->", Collective, Follow, infer_given, work_none, nullptr},
    {K::ServerUpdate, "server_update", "*->", Server, Follow, infer_given, work_none, nullptr},
    {K::Send, "send", "*->", Collective, Follow, infer_given, work_none, grad_send},
    {K::Receive, "receive", "->*", Collective, Follow, infer_given, work_none, grad_receive},

    {K::Fused, "fused", "?", Pointwise, Follow, infer_given, work_fused, nullptr},
    {K::Opaque, "opaque", "?", Family::Opaque, Follow, infer_given, work_pointwise, grad_opaque},
    {K::CollectivePermute, "collective_permute", "*->*", Collective, Follow, infer_given, work_none, nullptr},
}};
// clang-format on

}  // namespace

const Op& op(Kind kind) { return kOps[static_cast<std::size_t>(kind)]; }

std::optional<Kind> kind_named(std::string_view name) {
  for (const Op& row : kOps) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

std::string operator_name(const Node& node) {
  if (!node.label.empty()) return node.label;
  const bool gradient = node.kind != Kind::Fused && !is_communication(node);
  const std::int64_t of = gradient ? node.attributes.number(Attr::Of, -1) : -1;
  if (of >= 0 && of < kKinds) return std::string(op(static_cast<Kind>(of)).name) + "_grad";
  return std::string(op(node).name);
}

std::string describe(const Node& node) {
  return operator_name(node) + (node.phase == Phase::Recompute ? " (recomputed)" : "");
}

bool is_view(const Node& node) { return op(node).family == Family::View; }

bool is_communication(const Node& node) {
  const Family family = op(node).family;
  return family == Family::Collective || family == Family::Server;
}

Among among(const Node& node) { return static_cast<Among>(node.attributes.number(Attr::Among, 0)); }

bool is_activation_exchange(const Node& node) {
  return is_communication(node) && among(node) >= Among::Tensor;
}

bool is_transfer(const Node& node) { return node.kind == Kind::Send || node.kind == Kind::Receive; }

Work work(const NodeView& node) { return op(node.node).work(node); }

}  // namespace foretrain::graph
