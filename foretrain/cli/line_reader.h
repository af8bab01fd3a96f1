// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "foretrain/predict/predict_many.h"

namespace foretrain::cli {

// Of longer lines one byte more than this is kept: enough to see that they are too long.
inline constexpr std::size_t kLongestLine = kLongestRequest;

// Reads lines as they come: each call returns what one read from the system brought, so that an
// answer is not held back while the writer waits for it.
class LineReader {
 public:
  // A file, or standard input for "-". Throws Error(Io).
  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Replaces `lines` by the next complete lines, without their ends; false at the end of the
  // input. May return true and no lines. Throws Error(Io), and Error(BadInput) for a line of which
  // 16 times the longest has come without an end, as from /dev/zero.
  bool read(std::vector<std::string>& lines);

  // How much of a file has been read; absent for pipes and terminals.
  std::optional<double> share() const;

 private:
  void append(const char* text, std::size_t size);

  std::string path_;
  int file_ = -1;
  double total_bytes_ = 0;
  double read_bytes_ = 0;
  std::string rest_;            // the begun line
  std::size_t line_bytes_ = 0;  // of it that have come, kept or not
  std::vector<char> buffer_;
};

}  // namespace foretrain::cli
