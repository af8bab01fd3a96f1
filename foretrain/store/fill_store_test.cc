// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/fill_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>

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

TEST(FillStore, AFailureLeavesAStoreThatWasThere) {
  const TemporaryStore file;
  { const Store made(file.path()); }
  EXPECT_THROW(fill_store(file.path(), fail_with_a_row), Error);
  EXPECT_EQ(Store(file.path(), OpenMode::ReadOnly).machines().size(), 1U);
  const TemporaryStore fresh;
  EXPECT_THROW(fill_store(fresh.path(), fail_with_a_row), Error);
  EXPECT_FALSE(std::filesystem::exists(fresh.path()));
}

// Killed while it fills: no store, and the next one takes what was left for nothing.
TEST(FillStore, AKillLeavesNoStore) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "new.db";
  const pid_t child = fork();
  if (child == 0) {
    fill_store(file, [](Store& store) {
      store.put_machine({.id = "here"});
      raise(SIGKILL);
    });
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(std::filesystem::exists(file));
  fill_store(file, [](Store& store) { store.put_machine({.id = "there"}); });
  EXPECT_EQ(Store(file, OpenMode::ReadOnly).machines().front().id, "there");
  using Entries = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Entries(folder.path()), Entries()), 1);
}

// SQLite would fill a store in memory and say that all is well.
TEST(FillStore, FillsAFileOrNothing) {
  for (const char* name : {"", ":memory:", "file::memory:", "file:x?mode=memory"}) {
    EXPECT_THROW(fill_store(name, [](Store&) {}), Error) << name;
  }
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
