// SPDX-License-Identifier: Apache-2.0
// What the lab measured of its machines besides jobs.
#pragma once

#include <filesystem>
#include <optional>

namespace foretrain::measured {

// Bytes per second that one core copies, read and written; the median over the machines of `data`,
// a store or a folder that it exported. Absent where none tells. Throws Error(BadInput) naming file
// and line, Io.
std::optional<double> copied_bytes_per_s(const std::filesystem::path& data);

}  // namespace foretrain::measured
