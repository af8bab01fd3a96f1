// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foretrain::store {

// Create makes a store where there is none; the others need one.
enum class OpenMode { Create, Existing, ReadOnly };

}  // namespace foretrain::store
