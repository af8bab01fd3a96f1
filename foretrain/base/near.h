// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

// The known names nearest to `name`, best first, at most `most` of them: by edit distance,
// where a known name that contains `name`, or begins it, counts as near. Case does not matter,
// nor whether words are joined by '-' or '_'. Nothing that is far off is listed.
std::vector<std::string> near_matches(std::string_view name, const std::vector<std::string>& known,
                                      std::size_t most = 3);

// "; did you mean 'a', 'b' or 'c'?", or "" where nothing is near. Ends an error message.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

// `text` fit for a one-line message: control characters, line separators and bytes that are not
// UTF-8 escaped, text longer than `longest` characters cut with "...".
std::string printable(std::string_view text, std::size_t longest = 60);

}  // namespace foretrain
