// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/external.h"

#include <algorithm>

#include "foretrain/base/error.h"

namespace foretrain::importer {
namespace {

constexpr std::size_t kMostFiles = 4'096;

// A model must not make this program look at other files than those it came with.
bool stays_inside(const std::filesystem::path& location) {
  return !location.empty() && location.is_relative() &&
         std::none_of(location.begin(), location.end(),
                      [](const std::filesystem::path& part) { return part == ".."; });
}

}  // namespace

std::string_view OnnxExternalFiles::content_of(std::string_view location) {
  const auto found = files_.find(location);
  if (found != files_.end()) return found->second ? found->second->content() : std::string_view{};
  if (files_.size() == kMostFiles) return {};
  std::unique_ptr<MappedFile>& file = files_[std::string(location)];
  if (!stays_inside(location)) return {};
  try {
    file = std::make_unique<MappedFile>(*folder_ / location);
  } catch (const Error&) {
    return {};
  }
  return file->content();
}

std::string_view OnnxExternalFiles::find(std::string_view location, std::uint64_t offset,
                                         std::optional<std::uint64_t> length) {
  if (!folder_) return {};
  const std::string_view content = content_of(location);
  if (offset > content.size() || length.value_or(0) > content.size() - offset) return {};
  return content.substr(offset, length.value_or(content.size() - offset));
}

}  // namespace foretrain::importer
