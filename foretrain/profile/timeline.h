// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/profile/analyse.h"
#include "foretrain/profile/recording.h"

namespace foretrain::profile {

// The recording as a picture: one panel per resource over a common axis of time, each with its
// range, and the means of its bursts and idles as dashed lines. Stands alone: no script, no font,
// nothing loaded.
std::string timeline_svg(const Recording& recording, const Profile& profile);

// The same picture in a page with the numbers as a table.
std::string timeline_html(const Recording& recording, const Profile& profile);

}  // namespace foretrain::profile
