// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/point_to_point.h"

#include "foretrain/comm/detail/transfer.h"

namespace foretrain::comm {

Seconds point_to_point(double bytes, const Link& link) { return steps_time(1, bytes, link); }

}  // namespace foretrain::comm
