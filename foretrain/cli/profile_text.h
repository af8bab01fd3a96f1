// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/profile/analyse.h"
#include "foretrain/profile/recording.h"

namespace foretrain::cli {

// A profile as a page for people: a small plot and the metrics of every resource, the period of an
// iteration, notes.
std::string profile_text(const profile::Recording& recording, const profile::Profile& profile,
                         const Screen& screen);

}  // namespace foretrain::cli
