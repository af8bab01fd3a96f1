// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/names.h"

#include <algorithm>
#include <array>
#include <vector>

namespace foretrain::importer {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool ends_in_number(std::string_view text, std::string_view before) {
  if (!text.starts_with(before) || text.size() == before.size()) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(before.size()), text.end(),
                     is_digit);
}

std::string_view last_word(std::string_view name) {
  const std::size_t at = name.find_last_of("./");
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

// Modules that lie inside each other, outermost first. PyTorch repeats the name of a list:
// "layer1", "layer1.0", "conv1" is layer1.0.conv1.
std::string joined(const std::vector<std::string_view>& modules) {
  std::string path;
  std::string_view before;
  for (const std::string_view module : modules) {
    if (module.empty()) continue;
    const bool repeats = !before.empty() && module.size() > before.size() &&
                         module.starts_with(before) && module[before.size()] == '.';
    if (repeats) path.resize(path.size() - before.size());
    if (!path.empty() && path.back() != '.') path += '.';
    path += module;
    before = module;
  }
  return path;
}

// "/layer1/layer1.0/conv1/Conv": all but the last is modules.
std::string from_slashes(std::string_view name) {
  std::vector<std::string_view> modules;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = name.find('/', begin);
    if (end == std::string_view::npos) break;
    modules.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return joined(modules);
}

// "['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d_1']": the last but one.
std::string from_module_list(std::string_view list) {
  std::string_view last;
  std::string_view before;
  for (std::size_t at = 0; (at = list.find('\'', at)) != std::string_view::npos;) {
    const std::size_t end = list.find('\'', at + 1);
    if (end == std::string_view::npos) break;
    before = last;
    last = list.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return std::string(before);
}

// The layer of the first input that is a weight with a layer in its name.
std::string from_weight(const OnnxScope& scope, const OnnxNode& node) {
  for (const std::string_view name : node.inputs) {
    const OnnxValue* value = name.empty() ? nullptr : find_value(scope, name);
    if (value == nullptr || value->stored == nullptr || is_made_up(name)) continue;
    const std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos) return std::string(name.substr(0, dot));
  }
  return "";
}

std::string own_path(const OnnxScope& scope, const OnnxNode& node) {
  const std::size_t slash = node.name.find('/');
  if (slash != std::string_view::npos) return from_slashes(node.name);
  // A batch norm that was folded into a convolution leaves it the norm's metadata.
  const bool by_weight = node.op_type == "Conv" || node.module_path.empty();
  if (by_weight) {
    const std::string path = from_weight(scope, node);
    if (!path.empty()) return path;
  }
  if (!node.module_path.empty()) return from_module_list(node.module_path);
  return std::string(node.name);
}

// "layers.11.fc" becomes "layers.#.fc".
std::string without_numbers(std::string_view path) {
  std::string result;
  for (const char c : path) {
    if (!is_digit(c)) {
      result += c;
    } else if (result.empty() || result.back() != '#') {
      result += '#';
    }
  }
  return result;
}

}  // namespace

std::string layer_path(const OnnxScope& scope, const OnnxNode& node) {
  const std::string own = own_path(scope, node);
  if (scope.path.empty() || own.starts_with(scope.path)) return own;
  return own.empty() ? scope.path : scope.path + "." + own;
}

bool are_sibling_layers(std::string_view a, std::string_view b) {
  return a != b && b.find('@') == std::string_view::npos &&
         without_numbers(a) == without_numbers(b);
}

bool has_folded_norm(const OnnxNode& node) {
  if (!node.op_type.starts_with("Conv") || node.inputs.size() < 2) return false;
  return node.inputs[1].starts_with("onnx::Conv") ||
         node.module_path.find("batch_norm") != std::string_view::npos;
}

bool is_made_up(std::string_view name) {
  return name.starts_with("onnx::") || ends_in_number(name, "val_") || ends_in_number(name, "") ||
         name.starts_with("const_") || name.starts_with("Constant_") || name.starts_with("_val") ||
         name.find("_output_") != std::string_view::npos;
}

bool sounds_learned(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kWords{
      "weight", "bias", "gamma", "beta", "alpha", "slope", "scale", "temperature", "kernel"};
  const std::string_view word = last_word(name);
  return !is_made_up(name) && std::any_of(kWords.begin(), kWords.end(), [&](std::string_view end) {
    return word.ends_with(end);
  });
}

bool sounds_fixed(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kWords{"running_mean",
                                                           "running_var",
                                                           "moving_mean",
                                                           "moving_variance",
                                                           "inv_freq",
                                                           "position_ids",
                                                           "mask",
                                                           "anchors",
                                                           "num_batches_tracked",
                                                           "relative_position_index",
                                                           "cos_cached",
                                                           "sin_cached"};
  // Tables of positions that are buffers by custom; as the end of a longer word they may not be.
  static constexpr std::array<std::string_view, 4> kWhole{"cos", "sin", "pe", "freqs_cis"};
  const std::string_view word = last_word(name);
  return std::find(kWhole.begin(), kWhole.end(), word) != kWhole.end() ||
         std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view end) { return word.ends_with(end); });
}

}  // namespace foretrain::importer
