// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace foretrain::measured {

// A regular expression, searched for in time proportional to the text, whatever it says: RE2, which
// does not backtrack. Its syntax has no look-around and no back-references. Bytes count, not
// characters.
class Pattern {
 public:
  // Throws Error(BadInput) with RE2's reason where it is none, or longer than 4096 bytes.
  explicit Pattern(const std::string& expression);

  bool is_in(std::string_view text) const;
  // The first group of the leftmost match, or all of the match where there are no groups.
  std::optional<std::string> find(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> engine_;
};

}  // namespace foretrain::measured
