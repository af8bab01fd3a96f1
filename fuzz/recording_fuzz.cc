// SPDX-License-Identifier: Apache-2.0
// Any text is read as a recording and analysed, or refused with an Error.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/profile/analyse.h"
#include "foretrain/profile/recording_file.h"
#include "foretrain/profile/timeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain::profile;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const Recording recording = read_recording(in, "input");
    const Profile profile = analyse(recording);
    to_json(profile);
    timeline_html(recording, profile);
    std::istringstream again(recording_csv(recording));
    read_recording(again, "own");
  } catch (const foretrain::Error&) {
  }
  return 0;
}
