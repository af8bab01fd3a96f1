// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace foretrain::measured {

// One measured number of a job, with the requests that predict it: all that its mapping says, and
// the plain one of facts alone. Without a request, `reason` says why there is none.
struct Measurement {
  std::string file{};  // without its ending, or the table of a store
  std::size_t line = 0;
  std::string source{};                  // what the row says: a paper, a campaign
  std::string split{};                   // likewise: "train", "test" or ""
  std::string model{};                   // the measurement's word
  std::optional<std::string> request{};  // JSON, equal text for equal requests
  std::optional<std::string> plain{};    // likewise, without what was fitted to the source's rows
  std::string reason{};
  std::string device{};    // that the request names, else the row's own word
  std::string metric{};    // in the tables
  std::size_t number = 0;  // of report_numbers(): what was measured
  double measured = 0;     // SI
};

}  // namespace foretrain::measured
