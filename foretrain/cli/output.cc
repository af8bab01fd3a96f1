// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/output.h"

#include <utility>

namespace foretrain::cli {

Output::Output(std::string path, Console& console) : path_(std::move(path)), console_(console) {
  if (!path_.empty() && path_ != "-") file_ = std::make_unique<OutputFile>(path_);
}

void Output::write(std::string_view text) {
  if (path_ == "-") console_.write(text);
  if (file_) file_->write(text);
}

void Output::close() {
  if (file_) file_->commit();
}

void write_file(const std::string& path, std::string_view text, Console& console) {
  Output output(path, console);
  output.write(text);
  output.close();
}

}  // namespace foretrain::cli
