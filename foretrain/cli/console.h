// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace foretrain::cli {

// What the reader's screen can show. The defaults are those of a file.
struct Screen {
  int width = 80;        // columns
  bool colour = false;   // a terminal, and NO_COLOR is not set
  bool unicode = false;  // the locale says UTF-8
};

// What standard output goes to.
Screen look_at_screen();

// Thrown when the reader of the output is gone, which nobody needs to be told.
struct BrokenPipe {};

// Standard output, buffered; written when the buffer is large and by `flush`.
class Console {
 public:
  Console() : screen(look_at_screen()) {}

  // Each throws BrokenPipe, or Error(Io) where the output cannot be written.
  void write(std::string_view text);
  void line(std::string_view text);  // the same and a line break
  void flush();

  Screen screen;
  int exit_code = 0;  // of a command that ends without an error

 private:
  std::string buffer_;
};

}  // namespace foretrain::cli
