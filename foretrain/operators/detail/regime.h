// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/knowledge/regime.h"
#include "foretrain/operators/stages.h"

namespace foretrain::operators {

// In which regime a step is. `Seen` is left empty: it depends on what was measured.
Regime regime_of(const Stages& stages, const Resolved& resolved, const Breakdown& parts);

}  // namespace foretrain::operators
