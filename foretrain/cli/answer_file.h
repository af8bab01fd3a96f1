// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "foretrain/cli/console.h"
#include "foretrain/knowledge/library.h"

namespace foretrain::cli {

// Answers each line of a file of requests ("-": standard input) with one line, in order: the
// report, or what is wrong with the request, where the first line is called line `first`. Throws
// Error(Io) for the file itself. With `advice`: what would make jobs fit that do not.
void answer_file(const std::string& path, std::size_t first, int threads, bool advice,
                 const Library& library, Console& console);

}  // namespace foretrain::cli
