// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/detail/command.h"

#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/lab/child.h"

namespace foretrain::lab {

Outcome run_command(const std::vector<std::string>& words) {
  Child child({.words = words, .errors = Errors::WithOutput});
  child.close_input();
  Outcome outcome;
  while (const std::optional<std::string> line = child.read_line(Seconds{60})) {
    outcome.text += *line + "\n";
  }
  outcome.code = child.wait();
  return outcome;
}

void must_run(const std::vector<std::string>& words) {
  const Outcome outcome = run_command(words);
  if (outcome.code == 0) return;
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  throw Error(ErrorKind::Io, "'" + text + "' failed: " + printable(outcome.text, 300));
}

}  // namespace foretrain::lab
