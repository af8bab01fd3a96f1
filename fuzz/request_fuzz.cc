// SPDX-License-Identifier: Apache-2.0
// Requests from outside: whatever the text, a report or an Error, never anything else.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"

namespace {

// A model that takes long is no finding: sizes are kept small before predicting.
bool small_enough(const foretrain::Request& request) {
  return request.workers <= 4096 && request.placement.size() <= 512 && request.model.size() <= 200;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const foretrain::Library kLibrary = [] {
    foretrain::Library library = foretrain::load_library();
    library.read_files = false;
    return library;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const foretrain::Request request = foretrain::parse_request(text, "request");
    if (small_enough(request)) foretrain::to_json(foretrain::predict(request, kLibrary));
  } catch (const foretrain::Error&) {  // what bad input must end in
  }
  return 0;
}
