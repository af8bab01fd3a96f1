// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrain::zoo {

// No trained network is this deep; a bound keeps a mistyped number from filling the memory.
inline constexpr std::int64_t kMostLayers = 1024;

// A built-in model as the user names it: "gpt:layers=24,hidden=1024". Builders take the
// parameters they know; what nobody took is an error with near matches.
class Spec {
 public:
  // Throws Error(BadInput) for text that is not name[:key=value,...].
  explicit Spec(const std::string& text);

  const std::string& name() const { return name_; }

  // The parameter `key`, or `otherwise` when it is not given. Throws Error(BadInput) when it
  // is not a whole number within [least, most].
  std::int64_t take(const std::string& key, std::int64_t otherwise, std::int64_t least = 1,
                    std::int64_t most = std::int64_t{1} << 24);
  std::string take_text(const std::string& key, const std::string& otherwise,
                        const std::vector<std::string>& allowed);

  // Throws Error(BadInput) naming a parameter that no builder took.
  void finish() const;

 private:
  struct Parameter {
    std::string key;
    std::string value;
  };

  const std::string* find(const std::string& key);  // null when not given; counts as known

  std::string name_;
  std::vector<Parameter> parameters_;
  std::vector<std::string> known_;  // keys that builders asked for
};

}  // namespace foretrain::zoo
