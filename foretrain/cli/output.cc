// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/output.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "foretrain/base/error.h"

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

void refuse_same_file(const std::string& command, const std::string& input_option,
                      const std::string& input, const std::string& output_option,
                      const std::string& output) {
  std::error_code none;  // a file that is not there is no other
  if (input.empty() || output.empty() || output == "-") return;
  if (input != output && !std::filesystem::equivalent(input, output, none)) return;
  throw Error(ErrorKind::BadInput, command + ": " + input_option + " and " + output_option +
                                       " are the same file, which would be lost; give " +
                                       output_option + " another one");
}

void write_file(const std::string& path, std::string_view text, Console& console) {
  Output output(path, console);
  output.write(text);
  output.close();
}

}  // namespace foretrain::cli
