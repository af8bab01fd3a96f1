// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "foretrain/evaluate/cases.h"

namespace foretrain::evaluate {

struct Observer {
  std::function<void(double)> progress;      // share that is done, 0 to 1
  std::function<void(const Case&)> on_case;  // every row, in the order of the files
};

// Predicts every measurement of `data`: a store, a folder, a file (measured/open_tables.h). Rows of
// training measurements become requests by the mapping of data/evaluate/ with the file's name, or
// by the JSON file of the same name beside it. Rows are read and dropped in portions, so files may
// be large. Throws Error: NotFound for data or a source that is not there, BadInput for malformed
// files with the line, Io. What cannot be predicted is no error: it is counted with its reason.
Evaluation evaluate(const std::filesystem::path& data, const Options& options,
                    const Library& library, const Observer& observer);

}  // namespace foretrain::evaluate
