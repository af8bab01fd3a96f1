// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/seconds.h"
#include "foretrain/comm/link.h"

namespace foretrain::comm {

// Time to send `bytes` from one worker to another.
//
//   t = a + n / b     a: latency, b: bytes per second
//
// Path::pair is such a link. // Source: Hockney, Parallel Computing 1994.
Seconds point_to_point(double bytes, const Link& link);

}  // namespace foretrain::comm
