// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/files.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::importer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 4'096;

bool is_inside(const fs::path& file, const fs::path& folder) {
  const auto differs = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return differs.first == folder.end();
}

// Where a Hugging Face cache keeps the files that `folder`, models--NAME/snapshots/REVISION or
// below it, has links to: models--NAME/blobs.
std::optional<fs::path> blobs_of(const fs::path& folder) {
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path()) {
    if (at.filename() == "snapshots") return at.parent_path() / "blobs";
  }
  return std::nullopt;
}

// A model must not make this program look at other files than those it came with and those that
// the user names.
std::optional<fs::path> find_inside(const fs::path& folder, const fs::path& location,
                                    const fs::path& external) {
  const bool leaves = location.empty() || location.is_absolute() ||
                      std::find(location.begin(), location.end(), "..") != location.end();
  if (location.empty() || (leaves && external.empty())) return std::nullopt;
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) return std::nullopt;
  const fs::path file = fs::canonical(root / location, error);
  if (error) return std::nullopt;
  if (!external.empty() && is_inside(file, external)) return file;
  if (leaves) return std::nullopt;
  if (is_inside(file, root)) return file;
  const std::optional<fs::path> blobs = blobs_of(root);
  return blobs && is_inside(file, *blobs) ? std::optional(file) : std::nullopt;
}

}  // namespace

OnnxFiles::OnnxFiles(const fs::path& model, const fs::path& external)
    : folder_(model.parent_path()), model_(std::make_unique<SparseFile>(model)) {
  if (external.empty()) return;
  std::error_code error;
  external_ = fs::canonical(external, error);
  if (error || !fs::is_directory(external_, error)) {
    throw Error(ErrorKind::BadInput, "external: there is no folder '" +
                                         printable(external.string(), 150) +
                                         "'; name the one that holds the model's data");
  }
}

std::string_view OnnxFiles::content_of(std::string_view location) {
  const auto found = files_.find(location);
  if (found != files_.end()) return found->second ? found->second->content() : std::string_view{};
  if (files_.size() == kMostFiles) return {};
  std::unique_ptr<SparseFile>& file = files_[std::string(location)];
  const std::optional<fs::path> place = find_inside(folder_, location, external_);
  if (!place) return {};
  try {
    file = std::make_unique<SparseFile>(*place);
  } catch (const Error&) {
    return {};
  }
  return file->content();
}

std::string_view OnnxFiles::find(std::string_view location, std::uint64_t offset,
                                 std::optional<std::uint64_t> length) {
  if (!model_) return {};
  const std::string_view content = content_of(location);
  if (offset > content.size() || length.value_or(0) > content.size() - offset) return {};
  return content.substr(offset, length.value_or(content.size() - offset));
}

void OnnxFiles::load(std::string_view part) {
  if (!model_ || part.empty()) return;
  if (model_->holds(part)) return model_->load(part);
  for (const auto& [location, file] : files_) {
    if (file && file->holds(part)) return file->load(part);
  }
}

}  // namespace foretrain::importer
