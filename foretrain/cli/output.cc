// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/output.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::cli {

Output::Output(std::string path, Console& console) : path_(std::move(path)), console_(console) {
  if (path_.empty() || path_ == "-") return;
  file_.open(path_, std::ios::binary | std::ios::app);
  check();
}

void Output::write(std::string_view text) {
  if (path_.empty()) return;
  if (path_ == "-") return console_.write(text);
  std::error_code ignored;  // of what is no file, such as a pipe
  if (!begun_) std::filesystem::resize_file(path_, 0, ignored);
  begun_ = true;
  file_ << text;
  check();
}

void Output::close() {
  if (!file_.is_open()) return;
  file_.close();
  check();
}

void Output::check() const {
  if (!file_) throw Error(ErrorKind::Io, "cannot write '" + printable(path_) + "'");
}

void write_file(const std::string& path, std::string_view text, Console& console) {
  Output output(path, console);
  output.write(text);
  output.close();
}

}  // namespace foretrain::cli
