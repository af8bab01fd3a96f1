// SPDX-License-Identifier: Apache-2.0
// Parts of the program foretrain-fit that lie in files of their own.
#pragma once

#include <string>

namespace CLI {  // NOLINT: the name is CLI11's
class App;
}

namespace foretrain::fit {

void add_calibration_command(CLI::App& app);

// Writes the file and says so. Throws Error(Io).
void write_file(const std::string& path, const std::string& text);

}  // namespace foretrain::fit
