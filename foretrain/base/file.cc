// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/file.h"

#include <array>
#include <fstream>
#include <system_error>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

[[noreturn]] void fail(ErrorKind kind, const std::filesystem::path& file, const std::string& why) {
  throw Error(kind, named(file) + ": " + why);
}

[[noreturn]] void fail_size(const std::filesystem::path& file, std::uintmax_t most_bytes) {
  fail(ErrorKind::BadInput, file, "larger than " + std::to_string(most_bytes >> 20) + " MiB");
}

}  // namespace

std::string named(const std::filesystem::path& file) {
  return "file '" + printable(file.string(), 150) + "'";
}

std::string read_file(const std::filesystem::path& file, std::uintmax_t most_bytes) {
  return read_file(file, most_bytes, [&](std::string_view) { return most_bytes; });
}

std::string read_file(const std::filesystem::path& file, std::uintmax_t most_bytes,
                      const std::function<std::uintmax_t(std::string_view)>& most_bytes_of) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail(ErrorKind::Io, file, "there is no such file");
  if (std::filesystem::is_directory(status)) fail(ErrorKind::BadInput, file, "is a folder");
  if (std::filesystem::is_regular_file(status)) {
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (!error && size > most_bytes) fail_size(file, most_bytes);
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(ErrorKind::Io, file, "cannot be opened; check that you may read it");
  std::string content;
  std::array<char, 1 << 16> buffer{};
  while (stream.read(buffer.data(), buffer.size()) || stream.gcount() > 0) {
    const bool begins = content.empty();
    content.append(buffer.data(), static_cast<std::size_t>(stream.gcount()));
    if (begins) most_bytes = most_bytes_of(content);
    if (most_bytes == 0) return content;
    if (content.size() > most_bytes) fail_size(file, most_bytes);
  }
  if (stream.bad()) fail(ErrorKind::Io, file, "cannot be read to its end");
  return content;
}

}  // namespace foretrain
