// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "foretrain/predict/predict.h"

// Prints the report of one prediction, as `foretrain predict --json` does.
int main() {
  const foretrain::Library library = foretrain::load_library();
  foretrain::Request request;
  request.model = "resnet50";
  request.device = {.text = "v100-sxm2-16gb"};
  request.workers = 8;
  request.batch = 32;
  std::cout << foretrain::to_json(foretrain::predict(request, library)) << "\n";
}
