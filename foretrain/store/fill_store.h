// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "foretrain/store/store.h"

namespace foretrain::store {

// Opens the store at `path` and calls `fill` with it. Where there is none, one is made, which has
// its name only when `fill` has returned and all is on disk: where that throws, or the program is
// killed, there is no store. Throws Error(Io) also where another program has made it meanwhile.
void fill_store(const std::filesystem::path& path, const std::function<void(Store&)>& fill);

}  // namespace foretrain::store
