// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/profile/detail/recording_rows.h"
#include "foretrain/profile/read_options.h"
#include "foretrain/profile/recording.h"

namespace foretrain::profile {

// Rows as a recording: those of one device, in windows of their usual distance. Throws
// Error(BadInput) where no column is known, where the device asked for is not there, and where the
// rows are spread over too many windows.
Recording into_windows(RecordingRows rows, const std::string& name, const ReadOptions& options);

}  // namespace foretrain::profile
