// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/near.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "foretrain/base/utf8.h"

namespace foretrain {
namespace {

constexpr std::size_t kLongestName = 64;       // longer names are no typing errors
constexpr std::size_t kShortestContained = 2;  // one letter is contained in too much
constexpr std::size_t kShortestBeginning = 3;

std::string folded(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == ' ') c = '-';
  }
  return result;
}

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// How far `known` is from `name`, in half edits so that containment ranks between them:
// a beginning just behind an equal name, another part behind one edit. None when far off.
std::optional<std::size_t> farness(std::string_view name, std::string_view known) {
  std::optional<std::size_t> best;
  const std::size_t tolerated = std::clamp<std::size_t>(name.size() / 3, 1, 3);
  const std::size_t least =
      name.size() > known.size() ? name.size() - known.size() : known.size() - name.size();
  if (least <= tolerated) {
    const std::size_t distance = edit_distance(name, known);
    if (distance <= tolerated && distance < name.size()) best = 2 * distance;
  }
  const auto offer = [&best](std::size_t value) { best = std::min(best.value_or(value), value); };
  if (name.size() >= kShortestContained) {
    if (known.starts_with(name)) {
      offer(1);
    } else if (known.find(name) != std::string_view::npos) {
      offer(3);
    }
  }
  if (known.size() >= kShortestBeginning && name.starts_with(known)) offer(3);
  return best;
}

std::string hexadecimal(std::string_view prefix, std::uint32_t value, unsigned digits) {
  std::string result(prefix);
  for (unsigned shift = 4 * digits; shift > 0; shift -= 4) {
    result += "0123456789abcdef"[(value >> (shift - 4)) & 0xfu];
  }
  return result;
}

std::string escaped(std::uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x80 ? hexadecimal("\\x", code, 2) : hexadecimal("\\u", code, 4);
  }
}

bool breaks_a_line(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

// Marks that turn the direction of what follows on the screen (Unicode's bidirectional controls).
bool turns_text(std::uint32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

// XML has no place for these.
bool is_no_character(std::uint32_t code) { return code == 0xfffe || code == 0xffff; }

}  // namespace

std::vector<std::string> near_matches(std::string_view name, const std::vector<std::string>& known,
                                      std::size_t most) {
  if (name.empty() || name.size() > kLongestName) return {};
  const std::string wanted = folded(name);
  std::vector<std::pair<std::size_t, const std::string*>> found;
  for (const std::string& candidate : known) {
    if (const auto far = farness(wanted, folded(candidate))) found.emplace_back(*far, &candidate);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> result;
  for (const auto& [far, candidate] : found) {
    const bool beside_equal = far > 0 && found.front().first == 0;
    if (result.size() == most || beside_equal) break;
    if (std::find(result.begin(), result.end(), *candidate) == result.end()) {
      result.push_back(*candidate);
    }
  }
  return result;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string> matches = near_matches(name, known);
  std::string result;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    result += i == 0 ? "; did you mean " : i + 1 == matches.size() ? " or " : ", ";
    result += "'" + matches[i] + "'";
  }
  return result.empty() ? result : result + "?";
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string result;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == longest) return result + "...";
    const auto character = first_character(text);
    const std::size_t length = character ? character->first : 1;
    if (!character) {
      result += hexadecimal("\\x", static_cast<unsigned char>(text[0]), 2);
    } else if (breaks_a_line(character->second) || turns_text(character->second) ||
               is_no_character(character->second)) {
      result += escaped(character->second);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace foretrain
