// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "foretrain/profile/read_options.h"
#include "foretrain/profile/recording.h"

namespace foretrain::profile {

// Reads a recording; the first lines say which tool wrote it (docs/profile.md):
//   time_s,gpu_util,...                             our own
//   nvidia-smi --query-gpu=timestamp,... --format=csv[,nounits]
//   nvidia-smi dmon [-o T|DT]
//   dcgmi dmon -e ...
//   sar -n DEV INTERVAL
// Of several GPUs the busiest is taken, interfaces add up. Windows are the usual distance between
// rows; where a row is missing, samples are NaN, as are cells like "-" and "[N/A]". Names of
// columns are printable. Memory grows with the numbers of the file, at most 100 million. Throws
// Error(BadInput) naming the line, and where no sample is a number; Error(Io) where `in` breaks
// off.
Recording read_recording(std::istream& in, const std::string& name,
                         const ReadOptions& options = {});

// Our own format: `time_s`, the start of each window, then one column per resource. What is not
// known is an empty cell.
std::string recording_csv(const Recording& recording);

}  // namespace foretrain::profile
