// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace foretrain {

enum class ErrorKind { BadInput, NotFound, Unsupported, Io };

// The one exception of the library. Its message is a single line that says what is wrong,
// where, and what to do; adapters print it as it is.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// "BadInput", "NotFound", ... as it appears in JSON.
const char* to_string(ErrorKind kind);

}  // namespace foretrain
