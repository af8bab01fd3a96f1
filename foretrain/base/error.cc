// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/error.h"

namespace foretrain {

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::BadInput:
      return "BadInput";
    case ErrorKind::NotFound:
      return "NotFound";
    case ErrorKind::Unsupported:
      return "Unsupported";
    case ErrorKind::Io:
      return "Io";
  }
  return "Io";
}

}  // namespace foretrain
