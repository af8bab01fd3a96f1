// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/fit/fit_output.h"

#include "foretrain/base/near.h"

namespace foretrain::cli {

FitOutput::FitOutput(const std::string& path, Console& console)
    : path_(path), console_(console), output_(path, console) {}

void FitOutput::say(std::string_view line) {
  if (path_ == "-") return;
  console_.line(printable(line, 2000));
  console_.flush();
}

void FitOutput::write(std::string_view predictor) {
  if (!output_.wanted()) return;
  output_.write(predictor);
  output_.close();
  say("written: " + printable(path_, 300));
}

}  // namespace foretrain::cli
