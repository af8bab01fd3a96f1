// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework_file.h"

#include <array>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain::cost {
namespace {

constexpr int kVersion = 1;
constexpr double kMost = 1000;  // passes, tensors or seconds; nothing real is near
constexpr std::size_t kMostFrameworks = 1000;

constexpr std::array kNumbers{
    FrameworkNumber{"host_scale", &Framework::host_scale},
    FrameworkNumber{"hook_s", &Framework::hook_s},
    FrameworkNumber{"host_per_tensor_s", &Framework::host_per_tensor_s},
    FrameworkNumber{"host_per_step_s", &Framework::host_per_step_s},
};

template <typename Enum>
using Words = std::span<const std::pair<const char*, Enum>>;

Words<graph::Casting> words_of(graph::Casting) {
  static constexpr std::array kWords{std::pair{"automatic", graph::Casting::Automatic},
                                     std::pair{"half_norms", graph::Casting::HalfNorms},
                                     std::pair{"whole_model", graph::Casting::WholeModel}};
  return kWords;
}
Words<graph::Fusion> words_of(graph::Fusion) {
  static constexpr std::array kWords{std::pair{"none", graph::Fusion::None},
                                     std::pair{"norm_activation", graph::Fusion::NormActivation},
                                     std::pair{"pointwise", graph::Fusion::Pointwise},
                                     std::pair{"handwritten", graph::Fusion::Handwritten}};
  return kWords;
}
Words<graph::GradientHandling> words_of(graph::GradientHandling) {
  static constexpr std::array kWords{std::pair{"fresh", graph::GradientHandling::Fresh},
                                     std::pair{"accumulate", graph::GradientHandling::Accumulate}};
  return kWords;
}
Words<Flash> words_of(Flash) {
  static constexpr std::array kWords{std::pair{"1", Flash::One}, std::pair{"2", Flash::Two},
                                     std::pair{"3", Flash::Three}};
  return kWords;
}

Words<Tf32> words_of(Tf32) {
  static constexpr std::array kWords{std::pair{"never", Tf32::Never},
                                     std::pair{"convolutions", Tf32::Convolutions},
                                     std::pair{"always", Tf32::Always}};
  return kWords;
}

// Calls visit(name, value) for every field, in the order of the file.
template <typename Row, typename Visit>
void visit_fields(Row& row, Visit visit) {
  visit("name", row.name);
  visit("source", row.source);
  visit("execution", row.execution);
  visit("casting", row.casting);
  visit("fusion", row.fusion);
  visit("gradients", row.gradients);
  visit("flash_fp32", row.flash_fp32);
  visit("flash_half", row.flash_half);
  visit("flash", row.flash);
  visit("tf32", row.tf32);
  visit("autotunes", row.autotunes);
  visit("channels_last", row.channels_last);
  visit("slow_groups", row.slow_groups);
  visit("slow_narrow_groups", row.slow_narrow_groups);
  visit("slow_layer_norm", row.slow_layer_norm);
  visit("keeps_blobs", row.keeps_blobs);
  visit("workspace_mib", row.workspace_mib);
  visit("copies_heads", row.copies_heads);
  visit("fused_update", row.fused_update);
  visit("fused_softmax", row.fused_softmax);
  visit("recomputes_to_the_end", row.recomputes_to_the_end);
  visit("composed", row.composed);
  visit("loops_recurrent", row.loops_recurrent);
  visit("loss_in_half", row.loss_in_half);
  visit("fused_loss", row.fused_loss);
  visit("loss_metrics", row.loss_metrics);
  visit("quantises_head", row.quantises_head);
  visit("dequantises_in_fp16", row.dequantises_in_fp16);
  visit("single_scales", row.single_scales);
  visit("elementary_dequantise", row.elementary_dequantise);
  visit("autocasts_adapters", row.autocasts_adapters);
  visit("keeps_quantised_inputs", row.keeps_quantised_inputs);
  visit("relu_keeps_input", row.relu_keeps_input);
  visit("joint_attention", row.joint_attention);
  visit("host_scale", row.host_scale);
  visit("update_passes", row.update_passes);
  visit("update_tensors_per_launch", row.update_tensors_per_launch);
  visit("statistics", row.statistics);
  visit("preconditioned", row.preconditioned);
  visit("waits_for_device", row.waits_for_device);
  visit("flat_shards", row.flat_shards);
  visit("main_gradients", row.main_gradients);
  visit("second_groups", row.second_groups);
  visit("keeps_half_gradients", row.keeps_half_gradients);
  visit("copies_gradient_shards", row.copies_gradient_shards);
  visit("gradients_together", row.gradients_together);
  visit("blocking_launches", row.blocking_launches);
  visit("blocking_launch_s", row.blocking_launch_s);
  visit("partitioned_sends", row.partitioned_sends);
  visit("blocking_sends", row.blocking_sends);
  visit("blocking_receives", row.blocking_receives);
  visit("hook_s", row.hook_s);
  visit("host_per_tensor_s", row.host_per_tensor_s);
  visit("host_per_step_s", row.host_per_step_s);
  visit("call_s", row.call_s);
}

class Reader {
 public:
  explicit Reader(JsonFields& fields) : fields_(fields) {}

  void operator()(const char* name, std::string& value) const {
    value = fields_.text(name).value_or(value);
  }
  void operator()(const char* name, bool& value) const {
    value = fields_.boolean(name).value_or(value);
  }
  void operator()(const char* name, double& value) const {
    value = fields_.number(name).value_or(value);
    if (!(value >= 0 && value <= kMost)) {
      throw Error(ErrorKind::BadInput,
                  fields_.where() + ": '" + name + "' is not within 0 to 1000");
    }
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(const char* name, Enum& value) const {
    const std::optional<std::string> text = fields_.text(name);
    if (!text) return;
    std::string known;
    for (const auto& [word, meaning] : words_of(value)) {
      if (*text == word) {
        value = meaning;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(word);
    }
    throw Error(ErrorKind::BadInput, fields_.where() + ": '" + name + "' is none of " + known);
  }
  void operator()(const char* name, TensorWork& value) const {
    const Json* entry = fields_.find(name);
    if (entry == nullptr) return;
    JsonFields inner(*entry, fields_.where() + ": " + name);
    const Reader read(inner);
    read("operators", value.operators);
    read("values", value.values);
    inner.finish();
  }
  void operator()(const char* name, GradientStatistics& value) const {
    const Json* entry = fields_.find(name);
    if (entry == nullptr) return;
    JsonFields inner(*entry, fields_.where() + ": " + name);
    const Reader read(inner);
    read("hook", value.hook);
    read("after", value.after);
    read("single", value.single);
    inner.finish();
  }

 private:
  JsonFields& fields_;
};

OrderedJson json_of(const TensorWork& work) {
  return {{"operators", work.operators}, {"values", work.values}};
}
OrderedJson json_of(const GradientStatistics& all) {
  return {
      {"hook", json_of(all.hook)}, {"after", json_of(all.after)}, {"single", json_of(all.single)}};
}
template <typename Value>
OrderedJson json_of(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    for (const auto& [word, meaning] : words_of(value)) {
      if (meaning == value) return word;
    }
    return nullptr;
  } else {
    return value;
  }
}

OrderedJson all_fields(const Framework& framework) {
  OrderedJson row;
  visit_fields(framework, [&](const char* name, const auto& value) { row[name] = json_of(value); });
  return row;
}

Framework read_row(const Json& entry, const std::string& where) {
  JsonFields fields(entry, where);
  Framework framework;
  framework.name = fields.required_text("name");
  visit_fields(framework, Reader(fields));
  fields.finish();
  if (framework.name.empty() || framework.update_tensors_per_launch < 1) {
    throw Error(ErrorKind::BadInput,
                where + ": a framework has a name, and 'update_tensors_per_launch' is at least 1");
  }
  return framework;
}

}  // namespace

std::span<const FrameworkNumber> framework_numbers() { return kNumbers; }

std::vector<Framework> read_frameworks(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields top(file, where);
  if (top.required_text("format") != kFrameworksFormat ||
      top.required_number("version") != kVersion) {
    throw Error(ErrorKind::BadInput,
                where +
                    ": not a file of format foretrain-frameworks, version 1; `foretrain fit "
                    "framework` writes one");
  }
  top.ignore("notes");
  const Json& rows = top.require("frameworks");
  top.finish();
  if (!rows.is_array() || rows.empty() || rows.size() > kMostFrameworks) {
    throw Error(ErrorKind::BadInput, where + ": 'frameworks' is not a list of 1 to 1000");
  }
  std::vector<Framework> frameworks;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    frameworks.push_back(read_row(rows[i], where + ": framework " + std::to_string(i + 1)));
  }
  return frameworks;
}

std::string write_frameworks(std::span<const Framework> frameworks,
                             std::span<const std::string> notes) {
  const OrderedJson defaults = all_fields(Framework{});
  OrderedJson rows = OrderedJson::array();
  for (const Framework& framework : frameworks) {
    OrderedJson row;
    const OrderedJson fields = all_fields(framework);
    for (const auto& [name, value] : fields.items()) {
      if (value != defaults[name]) row[name] = value;
    }
    rows.push_back(row);
  }
  const OrderedJson file{
      {"format", kFrameworksFormat}, {"version", kVersion}, {"notes", notes}, {"frameworks", rows}};
  return json_text(file, 1) + "\n";
}

std::string framework_json(const Framework& framework) { return json_text(all_fields(framework)); }

}  // namespace foretrain::cost
