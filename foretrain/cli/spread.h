// SPDX-License-Identifier: Apache-2.0
// Commands whose work can be spread over the machines of a Ray cluster. The Python module
// foretrain.ray does it; docs/ray.md has the protocol by which the program lets it.
#pragma once

#include <string>
#include <vector>

namespace foretrain::cli {

class Command;
class Console;

struct Spread {
  std::string on;    // address of a Ray cluster, or "local"; "": nothing is spread
  std::string work;  // "list", "do" or "finish" of the protocol; "": all of it, here
};

// Adds --on, and --work where the command does its work in pieces.
void add_spread_options(Command& command, Spread& spread, bool in_pieces);

// Where `on` is given, replaces this process by foretrain.ray with the same arguments. Throws
// Error(NotFound) where there is no Python.
void spread_where_asked(const std::string& on, Console& console);

// The pieces of work, or their results: the lines of standard input. Throws Error(Io).
std::vector<std::string> read_pieces();

}  // namespace foretrain::cli
