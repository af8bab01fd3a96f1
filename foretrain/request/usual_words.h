// SPDX-License-Identifier: Apache-2.0
// Words under which training programs and papers know a request's fields and values, for error
// messages: a request itself takes one name for each thing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

// "gpus" is `workers`, "tp" is `tensor`, "lora" is `trainable`, such as lora:rank=16.
struct UsualWord {
  std::string_view word;
  std::string_view field;
  std::string_view value = {};  // an example, where the field alone says too little
};

// Case does not matter, nor '-' against '_'. None for a field's own name and for what nobody uses.
std::optional<UsualWord> find_usual_word(std::string_view word);

// Ends an error message about `name`, which is no field: "; did you mean 'workers'?" for "gpus"
// where "workers" or "strategy.workers" is among `known`, else near matches as did_you_mean.
std::string did_you_mean_field(std::string_view name, const std::vector<std::string>& known);

// The same of a value: "; did you mean 'fp16'?" for "half" where that is among `known`.
std::string did_you_mean_value(std::string_view value, const std::vector<std::string>& known);

}  // namespace foretrain
