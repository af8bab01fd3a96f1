// SPDX-License-Identifier: Apache-2.0
// Whatever a mapping says: it is refused with an Error, or every row becomes a request that is
// JSON, or a reason why not. The last line of the input, where it has several, is a cell of the
// row.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/measured/mapping.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;  // NOLINT: a program of its own
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.rfind('\n'), text.size());
  const std::vector<std::string> columns{"model", "gpu",   "gpus",  "nodes",    "metric",
                                         "value", "batch", "notes", "framework"};
  measured::Row row;
  row.columns = &columns;
  row.cells = {"resnet50", "t4", "8", "2", "step", "0.5", "32", text.substr(end), "PyTorch"};
  try {
    const measured::Mapping mapping =
        measured::parse_mapping(std::string_view(text).substr(0, end), "fuzz");
    const measured::Measurement mapped = measured::map_row(mapping, row);
    if (!mapped.request && mapped.reason.empty()) std::abort();
    if (mapped.request && !Json::accept(*mapped.request)) std::abort();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
