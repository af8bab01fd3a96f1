// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/constants.h"

#include <cmath>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain::cost {

namespace {

constexpr int kVersion = 1;

// Calls visit(group, name, value) for every constant; value is a double or an array of them.
template <typename Visit>
void visit_rates(Constants& c, Visit visit) {
  auto& p = c.power;
  visit("power", "vector_old", p.vector_old);
  visit("power", "vector_ga100", p.vector_ga100);
  visit("power", "vector_ga10x", p.vector_ga10x);
  visit("power", "vector_new", p.vector_new);
  visit("power", "vector_cdna", p.vector_cdna);
  visit("power", "conv", p.conv);
  visit("power", "tensor_old", p.tensor_old);
  visit("power", "tensor_ga100", p.tensor_ga100);
  visit("power", "tensor_ga10x", p.tensor_ga10x);
  visit("power", "tensor_new", p.tensor_new);
  visit("power", "tensor_blackwell", p.tensor_blackwell);
  visit("power", "tensor_cdna3", p.tensor_cdna3);
  visit("power", "fp8", p.fp8);
  visit("power", "tf32", p.tf32);
  visit("power", "memory_bound", p.memory_bound);
  visit("cap", "cores_64", c.cap.cores_64);
  visit("cap", "cores_128", c.cap.cores_128);
  visit("cap", "kepler", c.cap.kepler);
  visit("cap", "maxwell", c.cap.maxwell);
  visit("cap", "cdna", c.cap.cdna);
  visit("cap", "conv", c.cap.conv);
  visit("cap", "rdna", c.cap.rdna);
  visit("cap", "tensor", c.cap.tensor);
  visit("cap", "tensor_conv", c.cap.tensor_conv);
  visit("cap", "tensor_half_rate", c.cap.tensor_half_rate);
  visit("cap", "tf32", c.cap.tf32);
  visit("cap", "fp64", c.cap.fp64);
  visit("cap", "fp64_conv", c.cap.fp64_conv);
  visit("cap", "converted", c.cap.converted);
  visit("cap", "half_values", c.cap.half_values);
  auto& b = c.bandwidth;
  visit("bandwidth", "hbm", b.hbm);
  visit("bandwidth", "volta", b.volta);
  visit("bandwidth", "pascal", b.pascal);
  visit("bandwidth", "gddr", b.gddr);
  visit("bandwidth", "gddr6x", b.gddr6x);
  visit("bandwidth", "cdna", b.cdna);
  visit("bandwidth", "cpu", b.cpu);
  visit("bandwidth", "gemm", b.gemm);
  visit("bandwidth", "tensor", b.tensor);
  visit("bandwidth", "conv", b.conv);
  visit("bandwidth", "conv_nchw", b.conv_nchw);
  visit("bandwidth", "conv_channels_last", b.conv_channels_last);
  visit("bandwidth", "conv_gddr6x", b.conv_gddr6x);
  visit("launch", "memory_bound", c.launch.memory_bound);
  visit("launch", "conv", c.launch.conv);
  visit("launch", "vector", c.launch.vector);
  visit("launch", "tensor", c.launch.tensor);
}

template <typename Visit>
void visit_gemm(Constants& c, Visit visit) {
  auto& v = c.gemm;
  visit("gemm", "tiles", v.tiles);
  visit("gemm", "tail", v.tail);
  visit("gemm", "reread", v.reread);
  visit("gemm", "split", v.split);
  visit("gemm", "exponent", v.exponent);
  visit("gemm", "pascal", v.pascal);
  visit("gemm", "pascal_length", v.pascal_length);
  visit("gemm", "pascal_exponent", v.pascal_exponent);
  auto& t = c.tensor_gemm;
  visit("tensor_gemm", "tiles", t.tiles);
  visit("tensor_gemm", "tail", t.tail);
  visit("tensor_gemm", "start", t.start);
  visit("tensor_gemm", "split", t.split);
  visit("tensor_gemm", "exponent", t.exponent);
  auto& a = c.attention;
  visit("attention", "one", a.one);
  visit("attention", "one_new", a.one_new);
  visit("attention", "two", a.two);
  visit("attention", "two_new", a.two_new);
  visit("attention", "three", a.three);
  visit("attention", "vector", a.vector);
  visit("attention", "power_share", a.power_share);
  visit("attention", "small_head", a.small_head);
  visit("attention", "wide_head", a.wide_head);
  visit("attention", "exponent", a.exponent);
  visit("recurrent", "step", c.recurrent_step);
}

template <typename Visit>
void visit_convolutions(Constants& c, Visit visit) {
  auto& v = c.conv;
  visit("conv", "tiles", v.tiles);
  visit("conv", "tail", v.tail);
  visit("conv", "start", v.start);
  visit("conv", "fused_tail", v.fused_tail);
  visit("conv", "fused_start", v.fused_start);
  visit("conv", "fused_rate", v.fused_rate);
  visit("conv", "unfused_tail", v.unfused_tail);
  visit("conv", "unfused_start", v.unfused_start);
  visit("conv", "unfused_rate", v.unfused_rate);
  visit("conv", "cache", v.cache);
  visit("conv", "transform", v.transform);
  visit("conv", "weight_transform", v.weight_transform);
  visit("conv", "exponent", v.exponent);
  visit("conv", "weight_grad", v.weight_grad);
  visit("conv", "weight_grad_unfused", v.weight_grad_unfused);
  visit("conv", "grouped", v.grouped);
  visit("conv", "untuned", v.untuned);
  visit("conv", "depthwise", v.depthwise);
  visit("conv", "depthwise_grad", v.depthwise_grad);
  visit("conv", "depthwise_grad_last", v.depthwise_grad_last);
  visit("conv", "depthwise_large", v.depthwise_large);
  visit("conv", "bias", v.bias);
  visit("conv", "rdna_weight_grad", v.rdna_weight_grad);
  visit("conv", "rdna_weight_grad_half", v.rdna_weight_grad_half);
  visit("conv", "rdna_grouped", v.rdna_grouped);
  visit("conv", "rdna_depthwise", v.rdna_depthwise);
  visit("conv", "rdna_depthwise_grad", v.rdna_depthwise_grad);
  visit("conv", "rdna_no_dot", v.rdna_no_dot);
  visit("conv", "rdna_no_dot_grad", v.rdna_no_dot_grad);
  auto& t = c.tensor_conv;
  visit("tensor_conv", "tiles", t.tiles);
  visit("tensor_conv", "tail", t.tail);
  visit("tensor_conv", "start", t.start);
  visit("tensor_conv", "least_wave", t.least_wave);
  visit("tensor_conv", "weight_grad", t.weight_grad);
  visit("tensor_conv", "weight_grad_half_rate", t.weight_grad_half_rate);
  visit("tensor_conv", "grouped", t.grouped);
  visit("tensor_conv", "grouped_wide", t.grouped_wide);
  visit("tensor_conv", "grouped_narrow", t.grouped_narrow);
  visit("tensor_conv", "grouped_last", t.grouped_last);
  visit("tensor_conv", "grouped_last_grad", t.grouped_last_grad);
  visit("tensor_conv", "exponent", t.exponent);
  visit("tensor_conv", "transposes", t.transposes);
  visit("tensor_conv", "transposes_tf32", t.transposes_tf32);
}

template <typename Visit>
void visit_memory_bound(Constants& c, Visit visit) {
  auto& s = c.memory_bound;
  visit("memory_bound", "miss", s.miss);
  visit("memory_bound", "norm_rows", s.norm_rows);
  visit("memory_bound", "softmax_rows", s.softmax_rows);
  visit("memory_bound", "softmax_cdna", s.softmax_cdna);
  visit("memory_bound", "norm_cdna", s.norm_cdna);
  visit("memory_bound", "norm_half", s.norm_half);
  visit("memory_bound", "norm_half_grad", s.norm_half_grad);
  visit("memory_bound", "norm_row_us", s.norm_row_us);
  visit("memory_bound", "rms", s.rms);
  visit("memory_bound", "rms_grad", s.rms_grad);
  visit("memory_bound", "batch_norm_half", s.batch_norm_half);
  visit("memory_bound", "batch_norm_last", s.batch_norm_last);
  visit("memory_bound", "batch_norm_last_grad", s.batch_norm_last_grad);
  visit("memory_bound", "batch_norm", s.batch_norm);
  visit("memory_bound", "batch_norm_grad", s.batch_norm_grad);
  visit("memory_bound", "batch_norm_own", s.batch_norm_own);
  visit("memory_bound", "batch_norm_own_grad", s.batch_norm_own_grad);
  visit("memory_bound", "max_pool", s.max_pool);
  visit("memory_bound", "loss_grad", s.loss_grad);
  visit("memory_bound", "gelu_half", s.gelu_half);
  visit("memory_bound", "gelu_half_grad", s.gelu_half_grad);
  visit("memory_bound", "pow_grad", s.pow_grad);
  visit("memory_bound", "maximum_grad", s.maximum_grad);
  visit("memory_bound", "dequantize_4bit", s.dequantize_4bit);
  visit("memory_bound", "scatter_grad", s.scatter_grad);
  visit("memory_bound", "top_k", s.top_k);
  visit("memory_bound", "composed_gelu", s.composed_gelu);
  visit("memory_bound", "composed_gelu_grad", s.composed_gelu_grad);
  visit("memory_bound", "composed_norm", s.composed_norm);
  visit("memory_bound", "composed_norm_grad", s.composed_norm_grad);
  visit("memory_bound", "composed_dropout", s.composed_dropout);
  visit("memory_bound", "composed_dropout_grad", s.composed_dropout_grad);
  visit("memory_bound", "unsorted", s.unsorted);
  visit("memory_bound", "sort_kernels", s.sort_kernels);
  visit("memory_bound", "sort_passes", s.sort_passes);
}

template <typename Visit>
void visit_host(Constants& c, Visit visit) {
  auto& h = c.host;
  visit("host", "conv", h.conv);
  visit("host", "batch_norm", h.batch_norm);
  visit("host", "norm", h.norm);
  visit("host", "linear", h.linear);
  visit("host", "matmul", h.matmul);
  visit("host", "attention", h.attention);
  visit("host", "recurrent", h.recurrent);
  visit("host", "embedding", h.embedding);
  visit("host", "concat", h.concat);
  visit("host", "pool", h.pool);
  visit("host", "softmax", h.softmax);
  visit("host", "loss", h.loss);
  visit("host", "cast", h.cast);
  visit("host", "other", h.other);
  visit("host", "view", h.view);
  visit("host", "conv_grad", h.conv_grad);
  visit("host", "batch_norm_grad", h.batch_norm_grad);
  visit("host", "norm_grad", h.norm_grad);
  visit("host", "pointwise_grad", h.pointwise_grad);
  visit("host", "accumulate", h.accumulate);
  visit("host", "branch", h.branch);
  visit("host", "matmul_grad", h.matmul_grad);
  visit("host", "attention_grad", h.attention_grad);
  visit("host", "recurrent_grad", h.recurrent_grad);
  visit("host", "embedding_grad", h.embedding_grad);
  visit("host", "loss_grad", h.loss_grad);
  visit("host", "sum_grad", h.sum_grad);
  visit("host", "other_grad", h.other_grad);
  visit("host", "view_grad", h.view_grad);
  visit("host", "zero", h.zero);
  visit("host", "update", h.update);
  visit("host", "update_tensor", h.update_tensor);
  visit("host", "update_step", h.update_step);
}

template <typename Visit>
void visit_cpu(Constants& c, Visit visit) {
  auto& p = c.cpu;
  visit("cpu", "gemm", p.gemm);
  visit("cpu", "conv", p.conv);
  visit("cpu", "conv_grad", p.conv_grad);
  visit("cpu", "grouped", p.grouped);
  visit("cpu", "grouped_grad", p.grouped_grad);
  visit("cpu", "depthwise", p.depthwise);
  visit("cpu", "depthwise_grad", p.depthwise_grad);
  visit("cpu", "depthwise_wide_grad", p.depthwise_wide_grad);
  visit("cpu", "plain_conv", p.plain_conv);
  visit("cpu", "plain_conv_grad", p.plain_conv_grad);
  visit("cpu", "attention", p.attention);
  visit("cpu", "attention_grad", p.attention_grad);
  visit("cpu", "recurrent", p.recurrent);
  visit("cpu", "recurrent_grad", p.recurrent_grad);
  visit("cpu", "lstm", p.lstm);
  visit("cpu", "lstm_grad", p.lstm_grad);
  visit("cpu", "memory_bound", p.memory_bound);
  visit("cpu", "concat", p.concat);
  visit("cpu", "broadcast", p.broadcast);
  visit("cpu", "function", p.function);
  visit("cpu", "function_grad", p.function_grad);
  visit("cpu", "random", p.random);
  visit("cpu", "norm", p.norm);
  visit("cpu", "norm_grad", p.norm_grad);
  visit("cpu", "batch_norm", p.batch_norm);
  visit("cpu", "batch_norm_grad", p.batch_norm_grad);
  visit("cpu", "max_pool", p.max_pool);
  visit("cpu", "avg_pool", p.avg_pool);
  visit("cpu", "pool_grad", p.pool_grad);
  visit("cpu", "reduction", p.reduction);
  visit("cpu", "loss", p.loss);
  visit("cpu", "loss_grad", p.loss_grad);
  visit("cpu", "embedding_grad", p.embedding_grad);
  visit("cpu", "update", p.update);
  visit("cpu", "view", p.view);
  visit("cpu", "recurrent_vector", p.recurrent_vector);
  visit("cpu", "row", p.row);
  visit("cpu", "row_grad", p.row_grad);
  visit("cpu", "reference", p.reference);
  visit("cpu", "cache_speed", p.cache_speed);
  visit("cpu", "fresh", p.fresh);
  visit("cpu", "fresh_bytes", p.fresh_bytes);
  visit("cpu", "clock", p.clock);
  visit("cpu", "lanes", p.lanes);
  visit("cpu", "fast_side", p.fast_side);
  visit("cpu", "plain_batch", p.plain_batch);
}

template <typename Visit>
void visit_all(Constants& c, Visit visit) {
  visit_rates(c, visit);
  visit_gemm(c, visit);
  visit_convolutions(c, visit);
  visit_memory_bound(c, visit);
  visit_host(c, visit);
  visit_cpu(c, visit);
}

std::span<double> values(double& one) { return {&one, 1}; }
template <std::size_t N>
std::span<double> values(std::array<double, N>& many) {
  return many;
}

// A number of the file: a share, a time, an exponent; zero only where nothing is added.
void read_number(const Json& value, const std::string& where, double& into) {
  const bool fine = value.is_number() && std::isfinite(value.get<double>()) &&
                    value.get<double>() >= 0 && value.get<double>() < 1e9;
  if (!fine) throw Error(ErrorKind::BadInput, where + " is not a number from 0 to 1e9");
  into = value.get<double>();
}

}  // namespace

std::vector<NamedConstant> named_constants(Constants& constants) {
  std::vector<NamedConstant> all;
  visit_all(constants, [&all](const char* group, const char* name, auto& value) {
    const std::span<double> each = values(value);
    const std::string base = std::string(group) + "." + name;
    for (std::size_t i = 0; i < each.size(); ++i) {
      all.push_back({each.size() == 1 ? base : base + "." + std::to_string(i), &each[i]});
    }
  });
  return all;
}

Constants read_constants(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields top(file, where);
  if (top.required_text("format") != kOperatorsFormat ||
      top.required_number("version") != kVersion) {
    throw Error(
        ErrorKind::BadInput,
        where + ": not an operator model of version 1; `foretrain fit operators` writes one");
  }
  top.ignore("notes");
  Constants constants;
  std::vector<std::pair<std::string, JsonFields>> groups;
  visit_all(constants, [&](const char* group, const char* name, auto& value) {
    if (groups.empty() || groups.back().first != group) {
      if (!groups.empty()) groups.back().second.finish();
      groups.emplace_back(group, JsonFields(top.require(group), where + ": " + group));
    }
    const Json& entry = groups.back().second.require(name);
    const std::span<double> each = values(value);
    const std::string place = where + ": " + group + "." + name;
    if (each.size() == 1) return read_number(entry, place, each[0]);
    if (!entry.is_array() || entry.size() != each.size()) {
      throw Error(ErrorKind::BadInput,
                  place + " is not a list of " + std::to_string(each.size()) + " numbers");
    }
    for (std::size_t i = 0; i < each.size(); ++i) read_number(entry[i], place, each[i]);
  });
  groups.back().second.finish();
  top.finish();
  return constants;
}

std::string write_constants(const Constants& constants, std::span<const std::string> notes) {
  OrderedJson file{{"format", kOperatorsFormat}, {"version", kVersion}, {"notes", notes}};
  Constants copy = constants;
  visit_all(copy, [&file](const char* group, const char* name, auto& value) {
    file[group][name] = value;
  });
  return json_text(file, 1) + "\n";
}

OperatorModel make_operator_model(const Constants& c) {
  return {c,
          SmoothMax(c.gemm.exponent),
          SmoothMax(c.tensor_gemm.exponent),
          SmoothMax(c.conv.exponent),
          SmoothMax(c.tensor_conv.exponent),
          SmoothMax(c.attention.exponent)};
}

}  // namespace foretrain::cost
