// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "foretrain/importer/detail/sparse_file.h"

namespace foretrain::importer {

// The bytes of a model: its own file and those beside it in which it keeps tensors (external_data
// of onnx.proto). Only what is looked at is read: the structure, constants, samples of weights.
class OnnxFiles {
 public:
  // Of content that is in memory: no file is looked for.
  OnnxFiles() = default;
  // Files may also lie in the folder `external` or below it, unless that is empty. Throws as
  // SparseFile does, and Error(BadInput) where `external` is no folder.
  explicit OnnxFiles(const std::filesystem::path& model,
                     const std::filesystem::path& external = {});

  std::string_view content() const { return model_->content(); }  // of the model's own file

  // The bytes of a tensor; none where they cannot be had, for weights need not be there: the file
  // is missing, too short, or lies outside the model's folder and the external one. A link counts
  // as what it leads to; one of a Hugging Face cache, from snapshots/REVISION to blobs/ beside it,
  // may be followed.
  std::string_view find(std::string_view location, std::uint64_t offset,
                        std::optional<std::uint64_t> length);

  // Reads a part of what the two above returned; it may be touched afterwards. Bytes of none of
  // these files are left alone.
  void load(std::string_view part);

 private:
  std::string_view content_of(std::string_view location);

  std::filesystem::path folder_;
  std::filesystem::path external_;  // without links; empty where there is none
  std::unique_ptr<SparseFile> model_;
  std::map<std::string, std::unique_ptr<SparseFile>, std::less<>> files_;  // null: not to be had
};

}  // namespace foretrain::importer
