// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/hw/catalog.h"

namespace foretrain::hw {

// Reads the files of data/hardware/ that the build embedded. Takes milliseconds: load once and pass
// on.
Catalog load_catalog();

}  // namespace foretrain::hw
