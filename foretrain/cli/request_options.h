// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/request/request_fields.h"

namespace foretrain::cli {

class Command;
class Option;

// The fields of a request as options of a command. They only become JSON here, so that
// parse_request stays the one reader.
class RequestOptions {
 public:
  // One option per field of the request and of its strategy. This object must outlive `command`.
  void add_to(Command& command);

  bool any() const;  // whether one of them was given

  // The JSON text of the request that was given. Throws Error(BadInput) for a value that its
  // field cannot hold.
  std::string json() const;

  // The JSON of the value that `text` gives to the field that find_field returned. Throws
  // Error(BadInput) as `json` does.
  std::string value_json(const std::string& field, const std::string& text) const;

 private:
  struct Given {
    const RequestField* field = nullptr;
    Option* option = nullptr;  // null: a field that only --vary can name
    std::string value;
  };
  static bool was_given(const Given& given);

  std::vector<Given> options_;
};

// The arguments with `--asynchronous true` made `--asynchronous=true`, and so for every boolean
// field: CLI11 would take any next argument, the model say, for the value of an option that may
// stand alone. What follows `--` is a command of the caller's and stays.
std::vector<std::string> join_booleans(std::vector<std::string> arguments);

}  // namespace foretrain::cli
