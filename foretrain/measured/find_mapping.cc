// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <span>
#include <sstream>

#include "foretrain/base/embedded.h"
#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/measured/mapping.h"

namespace foretrain::measured {

// How files of others are read: this module's own data, no knowledge of a prediction, so it is not
// in Library. A mapping beside the file replaces it.
extern const std::span<const EmbeddedFile> kMappingFiles;

namespace fs = std::filesystem;

std::optional<Mapping> find_mapping(const std::string& name,
                                    const std::optional<fs::path>& folder) {
  const fs::path own = folder.value_or("") / (name + ".json");
  std::error_code problem;
  if (folder && fs::is_regular_file(own, problem)) {
    const std::string where = "mapping " + printable(own.filename().string());
    constexpr std::uintmax_t kLargest = 4 << 20;
    if (fs::file_size(own, problem) > kLargest) {
      throw Error(ErrorKind::BadInput, where + ": larger than 4 MiB");
    }
    std::ifstream in(own, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw Error(ErrorKind::Io, "cannot read '" + printable(own.string()) + "'");
    return parse_mapping(text.str(), where);
  }
  const std::string ours = "evaluate/" + name + ".json";
  for (const EmbeddedFile& known : kMappingFiles) {
    if (known.name == ours) return parse_mapping(known.text, "mapping " + ours);
  }
  return std::nullopt;
}

}  // namespace foretrain::measured
