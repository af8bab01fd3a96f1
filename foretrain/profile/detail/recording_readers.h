// SPDX-License-Identifier: Apache-2.0
// One reader per format that docs/profile.md lists. Each throws Error(BadInput) naming the line.
#pragma once

#include <iosfwd>
#include <string>

#include "foretrain/profile/detail/recording_rows.h"
#include "foretrain/profile/read_options.h"

namespace foretrain::profile {

// Comma-separated.
RecordingRows read_own(std::istream& in, const std::string& name);
RecordingRows read_smi(std::istream& in, const std::string& name);

// Columns with blanks in between. Where there are no times, an instance's n-th row is of the time
// n.
RecordingRows read_dmon(std::istream& in, const std::string& name, const ReadOptions& options);
RecordingRows read_dcgm(std::istream& in, const std::string& name, const ReadOptions& options);
RecordingRows read_sar(std::istream& in, const std::string& name, const ReadOptions& options);

}  // namespace foretrain::profile
