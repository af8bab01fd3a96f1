// SPDX-License-Identifier: Apache-2.0
// Any text is read as a trace and analysed, or refused with an Error.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/profile/analyse.h"
#include "foretrain/profile/timeline.h"
#include "foretrain/profile/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain::profile;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const Trace trace = read_trace(in, "input");
    const Profile profile = analyse(trace);
    to_json(profile);
    timeline_html(trace, profile);
    std::istringstream again(trace_csv(trace));
    read_trace(again, "own");
  } catch (const foretrain::Error&) {
  }
  return 0;
}
