// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/fill_store.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/store/test_store.h"

namespace foretrain::store {
namespace {

void fail(Store& /*store*/) { throw Error(ErrorKind::BadInput, "no"); }

void fail_with_a_row(Store& store) {
  store.put_machine({.id = "here"});
  fail(store);
}

TEST(FillStore, KeepsWhatWasWritten) {
  const TemporaryStore file;
  fill_store(file.path(), [](Store& store) { store.put_machine({.id = "here"}); });
  EXPECT_EQ(Store(file.path(), OpenMode::ReadOnly).machines().size(), 1U);
}

TEST(FillStore, AFailureLeavesNoEmptyStoreThatItMade) {
  const TemporaryStore file;
  EXPECT_THROW(fill_store(file.path(), fail), Error);
  EXPECT_FALSE(std::filesystem::exists(file.path()));
  EXPECT_FALSE(std::filesystem::exists(file.path().string() + "-wal"));
}

TEST(FillStore, AFailureLeavesAStoreThatWasThereOrHoldsRows) {
  const TemporaryStore empty;
  { const Store made(empty.path()); }
  EXPECT_THROW(fill_store(empty.path(), fail), Error);
  EXPECT_TRUE(std::filesystem::exists(empty.path()));
  const TemporaryStore filled;
  EXPECT_THROW(fill_store(filled.path(), fail_with_a_row), Error);
  EXPECT_EQ(Store(filled.path(), OpenMode::ReadOnly).machines().size(), 1U);
}

// What lies there is no store: it is refused and stays as it is.
TEST(FillStore, DoesNotTouchAnotherFile) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.file("notes.txt", "not a database, but long enough");
  EXPECT_THROW(fill_store(file, fail), Error);
  EXPECT_EQ(std::filesystem::file_size(file), 31U);
  EXPECT_THROW(fill_store(folder.path() / "no" / "folder.db", fail), Error);
}

}  // namespace
}  // namespace foretrain::store
