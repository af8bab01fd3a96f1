// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "foretrain/cli/output.h"

namespace foretrain::cli {

// Where a fit tells how it goes and writes the predictor that it found. One that goes to standard
// output ("-") is alone there.
class FitOutput {
 public:
  FitOutput(const std::string& path, Console& console);  // each throws as Output and Console do
  void say(std::string_view line);                       // at once: fits take minutes
  void write(std::string_view predictor);

 private:
  std::string path_;
  Console& console_;
  Output output_;
};

}  // namespace foretrain::cli
