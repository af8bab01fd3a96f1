// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "foretrain/importer/detail/mapped_file.h"

namespace foretrain::importer {

// The files beside a model in which it keeps tensors (external_data of onnx.proto). They are
// mapped, so that only values that are looked at are read: constants, samples of weights.
class OnnxExternalFiles {
 public:
  // Of content that is in memory: no file is looked for.
  OnnxExternalFiles() = default;
  explicit OnnxExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The bytes of a tensor; none where they cannot be had, for weights need not be there: the
  // file is missing, too short, or lies outside the folder.
  std::string_view find(std::string_view location, std::uint64_t offset,
                        std::optional<std::uint64_t> length);

 private:
  std::string_view content_of(std::string_view location);

  std::optional<std::filesystem::path> folder_;
  std::map<std::string, std::unique_ptr<MappedFile>, std::less<>> files_;  // null: not to be had
};

}  // namespace foretrain::importer
