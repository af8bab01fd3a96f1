// SPDX-License-Identifier: Apache-2.0
// Whatever a file of an embedding says: it is refused with an Error of one line, or embeds a model.
// The checksum is made right first, or nothing behind it would be reached.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/embedding/embed.h"
#include "foretrain/learn/checksum.h"
#include "foretrain/request/find_model.h"

namespace {

using namespace foretrain;  // NOLINT: a program of its own

std::string repaired(std::string_view text) {
  try {
    Json json = parse_json(text, "fuzz");
    if (!json.is_object()) return std::string(text);
    json.erase("checksum");
    json["checksum"] = learn::checksum(json.dump());
    return json.dump();
  } catch (const std::exception&) {  // the reader says what is wrong
    return std::string(text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const graph::Graph kModel = find_model("mlp");
  try {
    embedding::Embedder embedder(
        embedding::read_embedding(repaired({reinterpret_cast<const char*>(data), size}), "fuzz"));
    if (embedder.embed(kModel).empty()) std::abort();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
