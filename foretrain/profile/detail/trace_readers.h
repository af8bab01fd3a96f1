// SPDX-License-Identifier: Apache-2.0
// One reader per format that docs/profile.md lists. Each throws Error(BadInput) naming the line.
#pragma once

#include <iosfwd>
#include <string>

#include "foretrain/profile/detail/trace_rows.h"
#include "foretrain/profile/read_options.h"

namespace foretrain::profile {

// Comma-separated.
TraceRows read_own(std::istream& in, const std::string& name);
TraceRows read_smi(std::istream& in, const std::string& name);

// Columns with blanks in between. Where there are no times, an instance's n-th row is of the time
// n.
TraceRows read_dmon(std::istream& in, const std::string& name, const ReadOptions& options);
TraceRows read_dcgm(std::istream& in, const std::string& name, const ReadOptions& options);
TraceRows read_sar(std::istream& in, const std::string& name, const ReadOptions& options);

}  // namespace foretrain::profile
