// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/symbols.h"

#include <algorithm>
#include <charconv>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/importer/onnx/scalar.h"

namespace foretrain::importer {
namespace {

using graph::Dim;

constexpr std::size_t kLongestSymbol = 64;
constexpr std::int64_t kLargestValue = std::int64_t{1} << 40;

bool is_open(const OnnxDimension& dim) { return !dim.value || *dim.value < 1; }

// What a dimension without a number is called; one without a name gets its own.
std::string key_of(const OnnxValueInfo& input, std::size_t axis) {
  const OnnxDimension& dim = (*input.shape)[axis];
  if (!dim.name.empty()) return std::string(dim.name);
  return std::string(input.name) + "_dim" + std::to_string(axis);
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_expression(std::string_view key) {
  return key.find_first_of("+*") != std::string_view::npos;
}

std::string as_symbol(std::string_view key) {
  std::string symbol(key.substr(0, kLongestSymbol));
  std::replace_if(
      symbol.begin(), symbol.end(), [](char c) { return !is_word(c); }, '_');
  if (symbol.empty() || (symbol[0] >= '0' && symbol[0] <= '9')) symbol.insert(0, "_");
  return symbol.substr(0, kLongestSymbol);
}

bool means_batch(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return !is_expression(key) && (lower == "n" || lower == "b" || lower == "bs" ||
                                 lower.find("batch") != std::string::npos);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The first part of `text` up to `separator`, which `text` loses.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<Scalar> factor_of(const OnnxSymbols& symbols, std::string_view text) {
  const auto found = symbols.dims.find(std::string(text));
  if (found != symbols.dims.end()) return Scalar(found->second);
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return Scalar(number);
}

// A sum of products of known names, such as "2*seq" or "past + seq", where it is one product.
std::optional<Dim> dim_of(const OnnxSymbols& symbols, std::string_view key) {
  const auto found = symbols.dims.find(std::string(key));
  if (found != symbols.dims.end()) return found->second;
  std::optional<Scalar> sum = Scalar(0);
  for (std::string_view rest = key; !rest.empty() && sum;) {
    std::string_view term = take_until(rest, '+');
    std::optional<Scalar> product = Scalar(1);
    do {
      const std::optional<Scalar> factor = factor_of(symbols, take_until(term, '*'));
      product = factor && product ? multiply(*product, *factor) : std::nullopt;
    } while (!term.empty());
    sum = product ? add(*sum, *product) : std::nullopt;
  }
  const std::optional<Dim> dim = sum ? sum->dim() : std::nullopt;
  if (!dim || dim->factor < 1) return std::nullopt;
  return dim;
}

class Finder {
 public:
  Finder(const std::vector<const OnnxValueInfo*>& inputs, const graph::Binding& values)
      : inputs_(inputs), values_(values), used_(values.size(), false) {}

  OnnxSymbols find() {
    choose_batch();
    for (const bool expressions : {false, true}) {
      for (const OnnxValueInfo* input : inputs_) {
        for (std::size_t axis = 0; input->shape && axis < input->shape->size(); ++axis) {
          if (!is_open((*input->shape)[axis])) continue;
          const std::string key = key_of(*input, axis);
          if (is_expression(key) == expressions) define(*input, axis, key);
        }
      }
    }
    check_values();
    note_symbols();
    return std::move(symbols_);
  }

 private:
  void choose_batch() {
    std::string leading;
    for (const OnnxValueInfo* input : inputs_) {
      for (std::size_t axis = 0; input->shape && axis < input->shape->size(); ++axis) {
        if (!is_open((*input->shape)[axis])) continue;
        const std::string key = key_of(*input, axis);
        if (means_batch(key)) {
          batch_ = key;
          return;
        }
        if (axis == 0 && leading.empty() && !is_expression(key)) leading = key;
      }
    }
    batch_ = leading;
  }

  void define(const OnnxValueInfo& input, std::size_t axis, const std::string& key) {
    if (symbols_.dims.contains(key)) return;
    const bool unnamed_leading = axis == 0 && (*input.shape)[axis].name.empty();
    const bool batch = key == batch_ || (unnamed_leading && !batch_.empty());
    const std::string symbol = batch ? "batch" : as_symbol(key);
    if (const auto value = value_of(key, symbol)) {
      symbols_.dims.emplace(key, Dim(*value));
      return;
    }
    if (is_expression(key)) {
      if (const auto dim = dim_of(symbols_, key)) {
        symbols_.dims.emplace(key, *dim);
        return;
      }
      symbols_.notes.push_back("the size '" + printable(key) + "' counts as a symbol of its own");
    }
    symbols_.has_batch = symbols_.has_batch || batch;
    symbols_.dims.emplace(key, graph::symbol(index_of(symbol)));
  }

  int index_of(const std::string& symbol) {
    const auto found = std::find(symbols_.names.begin(), symbols_.names.end(), symbol);
    if (found != symbols_.names.end()) return static_cast<int>(found - symbols_.names.begin());
    if (symbols_.names.size() == graph::kMaxSymbols) {
      throw Error(ErrorKind::Unsupported,
                  "the inputs have more than four open sizes; give some a value, for example "
                  "'model.onnx:" +
                      printable(symbol) + "=128'");
    }
    symbols_.names.push_back(symbol);
    return static_cast<int>(symbols_.names.size()) - 1;
  }

  std::optional<std::int64_t> value_of(const std::string& key, const std::string& symbol) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].first != key && values_[i].first != symbol) continue;
      used_[i] = true;
      if (values_[i].second < 1 || values_[i].second > kLargestValue) {
        throw Error(ErrorKind::BadInput,
                    "the size '" + printable(symbol) + "' must be between 1 and 2^40");
      }
      return values_[i].second;
    }
    return std::nullopt;
  }

  void check_values() const {
    std::vector<std::string> known;
    for (const auto& [key, dim] : symbols_.dims) known.push_back(as_symbol(key));
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (used_[i]) continue;
      throw Error(ErrorKind::BadInput, "no size of the inputs is called '" +
                                           printable(values_[i].first) + "'" +
                                           did_you_mean(values_[i].first, known));
    }
  }

  void note_symbols() {
    for (std::size_t i = 1; i < symbols_.names.size(); ++i) {
      symbols_.notes.push_back("the size '" + symbols_.names[i] +
                               "' is open; to fix it: model.onnx:" + symbols_.names[i] + "=NUMBER");
    }
  }

  const std::vector<const OnnxValueInfo*>& inputs_;
  const graph::Binding& values_;
  std::vector<bool> used_;
  std::string batch_;  // the key that stands for the batch; "" where there is none
  OnnxSymbols symbols_;
};

}  // namespace

OnnxSymbols find_symbols(const std::vector<const OnnxValueInfo*>& inputs,
                         const graph::Binding& values) {
  return Finder(inputs, values).find();
}

graph::Shape input_shape(const OnnxSymbols& symbols, const OnnxValueInfo& input) {
  graph::Shape shape;
  for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
    const OnnxDimension& dim = (*input.shape)[axis];
    shape.push_back(is_open(dim) ? symbols.dims.at(key_of(input, axis)) : Dim(*dim.value));
  }
  return shape;
}

std::optional<graph::Shape> stated_shape(const OnnxSymbols& symbols, const OnnxValueInfo& info) {
  if (!info.shape || info.shape->size() > graph::kMaxRank) return std::nullopt;
  graph::Shape shape;
  for (const OnnxDimension& dim : *info.shape) {
    std::optional<Dim> size;
    if (!is_open(dim)) size = Dim(*dim.value);
    if (is_open(dim) && !dim.name.empty()) size = dim_of(symbols, dim.name);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

}  // namespace foretrain::importer
