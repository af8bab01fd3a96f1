// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "foretrain/base/error.h"

namespace foretrain::cli {
namespace {

constexpr std::size_t kLargestBuffer = 1 << 20;
constexpr int kNarrowest = 40;
constexpr int kWidest = 120;  // longer lines are hard to read

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// As the C library chooses the locale: the first that is set and not empty.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(variable(name));
    if (value.empty()) continue;
    for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

Screen look_at_screen() {
  Screen screen;
  screen.unicode = locale_is_utf8();
  if (isatty(STDOUT_FILENO) == 0) return screen;
  screen.colour = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    screen.width = std::min(std::max<int>(size.ws_col, kNarrowest), kWidest);
  }
  return screen;
}

void Console::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kLargestBuffer) flush();
}

void Console::line(std::string_view text) {
  write(text);
  write("\n");
}

void Console::flush() {
  const std::string text = std::move(buffer_);
  buffer_.clear();
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EPIPE) {
      throw BrokenPipe{};
    } else if (errno != EINTR) {
      throw Error(ErrorKind::Io,
                  std::string("cannot write to standard output: ") + std::strerror(errno));
    }
  }
}

}  // namespace foretrain::cli
