// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/fill_store.h"

#include "foretrain/base/output_file.h"
#include "foretrain/store/detail/database.h"

namespace foretrain::store {
namespace {

// Into a file beside it, which gets the name once it is filled: who is interrupted leaves no store.
void fill_new(const std::filesystem::path& path, const std::function<void(Store&)>& fill) {
  OutputFile file(path);
  const std::string partial = file.partial().string();
  const auto remove_log = [&] {
    std::error_code error;
    for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(partial + end, error);
  };
  remove_log();  // of one that was killed
  try {
    Store store(partial);
    fill(store);
  } catch (...) {
    remove_log();
    throw;
  }
  file.commit_new();
}

}  // namespace

void fill_store(const std::filesystem::path& path, const std::function<void(Store&)>& fill) {
  std::error_code error;
  if (!std::filesystem::exists(store_file(path), error)) return fill_new(path, fill);
  Store store(path);
  fill(store);
}

}  // namespace foretrain::store
