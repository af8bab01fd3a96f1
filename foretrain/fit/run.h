// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain::fit {

// The program foretrain-fit. Returns its exit code.
int run(int count, char** arguments);

}  // namespace foretrain::fit
