// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "foretrain/store/store.h"

namespace foretrain::store {

// Opens the store at `path`, which is made where there is none, and calls `fill` with it. Where
// that throws Error, a store that was made here and is still empty is removed, unless another
// program uses it by now; the Error goes on to the caller.
void fill_store(const std::filesystem::path& path, const std::function<void(Store&)>& fill);

}  // namespace foretrain::store
