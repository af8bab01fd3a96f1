// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "foretrain/predict/request_fields.h"

namespace CLI {
class App;
class Option;
}

namespace foretrain::cli {

// The fields of a request as options of a command. They only become JSON here, so that
// parse_request stays the one reader.
class RequestOptions {
 public:
  // One option per field of the request and of its strategy. This object must outlive `command`.
  void add_to(CLI::App& command);

  bool any() const;  // whether one of them was given

  // The JSON text of the request that was given. Throws Error(BadInput) for a value that its
  // field cannot hold.
  std::string json() const;

  // The same with the field `key` ("batch", "strategy.servers", dashes allowed) set to `value`.
  // Throws Error(BadInput) for a field that does not exist, listing near matches.
  std::string json_with(const std::string& key, const std::string& value) const;

 private:
  struct Given {
    const RequestField* field = nullptr;
    bool of_strategy = false;
    CLI::Option* option = nullptr;
    std::string value;
  };

  std::vector<Given> options_;
};

}  // namespace foretrain::cli
