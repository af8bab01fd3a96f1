// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace foretrain::zoo {

// A line of the catalog.
struct Model {
  std::string name;
  std::string family;      // "ResNet", "GPT", ...
  std::string about;       // one line: what it is, default input
  std::string parameters;  // "image=224, classes=1000"
};

}  // namespace foretrain::zoo
