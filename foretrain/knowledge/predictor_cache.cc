// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "foretrain/knowledge/library.h"

namespace foretrain {
namespace {

// Clocks of file systems are coarse: who writes twice within their tick leaves the same times.
constexpr std::chrono::seconds kSettled{2};

// "" where it cannot be told, or not yet: the file was changed just now.
std::string identity_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  const auto changed = std::chrono::seconds{std::max(status.st_ctim.tv_sec, status.st_mtim.tv_sec)};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (now - changed < kSettled) return "";
  std::string text;
  for (const auto part :
       {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
        std::int64_t{status.st_size}, std::int64_t{status.st_mtim.tv_sec},
        std::int64_t{status.st_mtim.tv_nsec}, std::int64_t{status.st_ctim.tv_sec},
        std::int64_t{status.st_ctim.tv_nsec}}) {
    text += std::to_string(part) + " ";
  }
  return text;
}

}  // namespace

std::shared_ptr<const Predictor> PredictorCache::read(const std::string& path) {
  const std::string identity = identity_of(path);
  if (auto known = identity.empty() ? nullptr : find(identity)) return known;
  auto predictor = std::make_shared<const Predictor>(read_predictor(path));
  // Where it was replaced while it was read, nobody knows which one this is.
  if (!identity.empty() && identity == identity_of(path)) insert(identity, predictor);
  return predictor;
}

std::shared_ptr<const Predictor> PredictorCache::find(const std::string& identity) {
  const std::lock_guard lock(mutex_);
  const auto found = predictors_.find(identity);
  return found == predictors_.end() ? nullptr : found->second;
}

void PredictorCache::insert(const std::string& identity,
                            std::shared_ptr<const Predictor> predictor) {
  const std::lock_guard lock(mutex_);
  if (predictors_.size() >= kMost) predictors_.clear();
  predictors_.emplace(identity, std::move(predictor));
}

}  // namespace foretrain
