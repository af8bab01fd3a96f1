// SPDX-License-Identifier: Apache-2.0
// What the store does with files that are not as they should be, and after a kill.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/store/test_store.h"

namespace foretrain::store {
namespace {

std::optional<ErrorKind> open_error(const std::filesystem::path& path,
                                    OpenMode mode = OpenMode::Create) {
  try {
    Store store(path, mode);
    store.count("runs");
  } catch (const Error& error) {
    return error.kind();
  }
  return std::nullopt;
}

void run_sql(const std::filesystem::path& path, const char* sql) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST(StoreFile, RefusesWhatIsNoStore) {
  const TemporaryStore text;
  std::ofstream(text.path()) << std::string(5000, 'x');
  EXPECT_EQ(open_error(text.path()), ErrorKind::BadInput);
  const TemporaryStore foreign;
  run_sql(foreign.path(), "CREATE TABLE runs(id)");
  EXPECT_EQ(open_error(foreign.path()), ErrorKind::BadInput);
  const TemporaryStore missing;
  EXPECT_EQ(open_error(missing.path(), OpenMode::Existing), ErrorKind::NotFound);
  EXPECT_EQ(open_error("/nonexistent-folder/x.db"), ErrorKind::Io);
}

// SQLite would keep these in memory, or in a file that is removed when it is closed.
TEST(StoreFile, IsAFileOrRefused) {
  for (const char* name :
       {"", ":memory:", "file::memory:", "file:x?mode=memory", "file:x.db", "/dev/null", "/tmp"}) {
    for (const OpenMode mode : {OpenMode::Create, OpenMode::Existing, OpenMode::ReadOnly}) {
      if (mode != OpenMode::Create && !std::filesystem::exists(name)) continue;
      EXPECT_EQ(open_error(name, mode), ErrorKind::BadInput) << name;
    }
  }
}

TEST(StoreFile, ReadingLeavesNoFilesAndWritesNothing) {
  const TemporaryStore file;
  file.open();
  {
    Store store(file.path(), OpenMode::ReadOnly);
    EXPECT_EQ(store.machines().size(), 1U);
    EXPECT_THROW(store.append_run(sample_record(0)), Error);
  }
  EXPECT_FALSE(std::filesystem::exists(file.path().string() + "-wal"));
  EXPECT_EQ(Store(file.path()).count("runs"), 0);
}

TEST(StoreFile, ReadingSaysThatAFileIsEmpty) {
  const TemporaryStore file;
  std::ofstream(file.path()) << "";
  try {
    const Store store(file.path(), OpenMode::ReadOnly);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is an empty file"), std::string::npos);
  }
  EXPECT_EQ(open_error(file.path()), std::nullopt);  // writing makes a store of it
}

// The exit code of a process that may not write, even where this one is root's: 0 where `work` is
// done, 1 where it throws Error.
int run_unprivileged(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(2);
    try {
      work();
    } catch (const Error&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

// The name has what means something in a URI.
TEST(StoreFile, CanBeReadByWhoMayOnlyRead) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a ?b#100%.db";
  Store(path).put_machine({.id = "here"});
  const auto read = [&] {
    const Store store(path, OpenMode::ReadOnly);
    if (store.machines().size() != 1) _exit(4);
  };
  using std::filesystem::perms;
  const perms seen = perms::owner_read | perms::group_read | perms::others_read;
  const perms entered = perms::owner_exec | perms::group_exec | perms::others_exec;
  std::filesystem::permissions(path, seen);
  std::filesystem::permissions(folder.path(), seen | entered);
  EXPECT_EQ(run_unprivileged(read), 0);
  EXPECT_EQ(run_unprivileged([&] { Store(path).put_machine({.id = "there"}); }), 1);
  std::filesystem::permissions(folder.path(), perms::all);  // it may make files beside the store
  EXPECT_EQ(run_unprivileged(read), 0);
}

TEST(StoreFile, RefusesANewerSchema) {
  const TemporaryStore file;
  file.open();
  run_sql(file.path(), "PRAGMA user_version=4");
  EXPECT_EQ(open_error(file.path()), ErrorKind::Unsupported);
}

// Version 1 had no column for the request and no samples. Who only reads sees both without changing
// the file; the first who may write adds them.
TEST(StoreFile, OfVersion1IsReadAndUpgraded) {
  const TemporaryStore file;
  file.open().append_run(sample_record(0));
  run_sql(file.path(),
          "ALTER TABLE runs DROP COLUMN request; ALTER TABLE metrics DROP COLUMN burst_share; "
          "DROP TABLE samples; PRAGMA user_version=1");
  const std::string before = read_file(file.path(), 1 << 20);
  {
    const Store reader(file.path(), OpenMode::ReadOnly);
    ASSERT_EQ(reader.runs().size(), 1U);
    EXPECT_EQ(reader.count("runs"), 1);
    EXPECT_EQ(reader.runs()[0].request, "");
    EXPECT_EQ(reader.run(1).run.step_median_s, 0.25);
    EXPECT_FALSE(reader.run(1).metrics[0].burst_share);
    EXPECT_TRUE(reader.run(1).samples.empty());
  }
  EXPECT_EQ(read_file(file.path(), 1 << 20), before);
  RunRecord asked = sample_record(1);
  asked.run.request = R"({"model":"resnet18"})";
  Store(file.path(), OpenMode::Existing).append_run(asked);
  const Store reader(file.path(), OpenMode::ReadOnly);
  ASSERT_EQ(reader.runs().size(), 2U);
  EXPECT_EQ(reader.runs()[0].request, "");
  EXPECT_EQ(reader.runs()[1].request, asked.run.request);
  EXPECT_EQ(reader.run(2).samples.size(), 1U);
}

TEST(StoreFile, SaysWhenItIsCutOff) {
  const TemporaryStore file;
  {
    Store store = file.open();
    for (int i = 0; i < 50; ++i) store.append_run(sample_record(i));
  }
  ASSERT_FALSE(std::filesystem::exists(file.path().string() + "-wal"));
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
  EXPECT_EQ(open_error(file.path()), ErrorKind::Io);
}

// A writer tells every run that was acknowledged through a pipe and is killed at a random moment,
// one hundred times over. Every run that was told is there, whole.
TEST(StoreFile, LosesNothingWhenKilled) {
  const TemporaryStore file;
  file.open();
  std::mt19937 random(1);
  std::uniform_int_distribution<int> pause_us(0, 25'000);
  std::int64_t next = 0;
  for (int round = 0; round < 100; ++round) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const pid_t writer = fork();
    if (writer == 0) {
      try {
        Store store(file.path());
        for (std::int64_t repeat = next;; ++repeat) {
          store.append_run(sample_record(repeat));
          if (write(told[1], &repeat, sizeof repeat) < 0) _exit(1);
        }
      } catch (const Error&) {
        _exit(1);
      }
    }
    close(told[1]);
    usleep(static_cast<useconds_t>(pause_us(random)));
    kill(writer, SIGKILL);
    int status = 0;
    waitpid(writer, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    std::int64_t acknowledged = next - 1;
    for (std::int64_t repeat = 0; read(told[0], &repeat, sizeof repeat) == sizeof repeat;) {
      acknowledged = repeat;
    }
    close(told[0]);
    Store store(file.path(), OpenMode::Existing);
    const std::int64_t runs = store.count("runs");
    ASSERT_GE(runs, acknowledged + 1);
    ASSERT_EQ(store.count("metrics"), runs);
    ASSERT_EQ(store.count("steps"), runs);
    next = runs;
  }
  Store store(file.path(), OpenMode::Existing);
  std::printf("  %lld runs were acknowledged\n", static_cast<long long>(next));
  for (std::int64_t repeat = 0; repeat < next; ++repeat) {
    ASSERT_TRUE(store.has("base", sample_record(0).run.configuration, repeat));
  }
}

}  // namespace
}  // namespace foretrain::store
