// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/fill_store.h"

#include "foretrain/base/error.h"
#include "foretrain/store/tables.h"

namespace foretrain::store {
namespace {

bool holds_nothing(const std::filesystem::path& path) {
  try {
    const Store store(path, OpenMode::ReadOnly);
    for (const std::string& table : export_tables()) {
      if (store.count(table) > 0) return false;
    }
    return true;
  } catch (const Error&) {
    return false;  // it was not made, or is not ours
  }
}

void remove_where_empty(const std::filesystem::path& path) {
  if (!holds_nothing(path)) return;
  std::error_code error;
  if (!std::filesystem::exists(path.string() + "-wal", error)) std::filesystem::remove(path, error);
}

}  // namespace

void fill_store(const std::filesystem::path& path, const std::function<void(Store&)>& fill) {
  std::error_code none;
  const bool is_new = !std::filesystem::exists(path, none);
  try {
    Store store(path);
    fill(store);
  } catch (const Error&) {
    if (is_new) remove_where_empty(path);
    throw;
  }
}

}  // namespace foretrain::store
