// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/output_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/output_folder.h"

namespace foretrain {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("foretrain-" + std::to_string(std::random_device{}()))) {
    fs::create_directory(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }
  fs::path with(const char* name, const char* text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

std::string text_of(const fs::path& file) { return read_file(file, 1 << 20); }

TEST(OutputFile, TheEarlierFileStaysUntilTheNewOneIsWhole) {
  const Folder folder;
  const fs::path file = folder.with("a", "old");
  {
    OutputFile given_up(file);
    given_up.write("half of");
    EXPECT_EQ(text_of(file), "old");
  }
  EXPECT_EQ(text_of(file), "old");
  OutputFile output(file);
  output.write("ne");
  output.write("w");
  EXPECT_EQ(text_of(file), "old");
  output.commit();
  EXPECT_EQ(text_of(file), "new");
  EXPECT_EQ(folder.entries(), 1);
}

// A file-size limit ends a write with a signal that kills, and with EFBIG where that is ignored.
TEST(OutputFile, TheEarlierFileStaysWhereThereIsNoRoom) {
  const Folder folder;
  const fs::path file = folder.with("a", "old");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      OutputFile output(file);
      output.write(std::string(2000, 'x'));
      output.commit();
    } catch (const Error& error) {
      _exit(error.kind() == ErrorKind::Io ? 7 : 8);
    }
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(text_of(file), "old");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(OutputFile, FollowsLinksAndKeepsTheMode) {
  const Folder folder;
  const fs::path file = folder.with("a", "old");
  chmod(file.c_str(), 0640);
  fs::create_symlink("a", folder / "link");
  OutputFile output(folder / "link");
  output.write("new");
  output.commit();
  EXPECT_EQ(text_of(file), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  struct stat status {};
  stat(file.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(OutputFile, HasOneWriter) {
  const Folder folder;
  OutputFile first(folder / "a");
  EXPECT_THROW(OutputFile(folder / "a"), Error);
  first.write("first");
  first.commit();
  EXPECT_EQ(text_of(folder / "a"), "first");
}

TEST(OutputFile, RefusesToReplaceWhatWasNotThere) {
  const Folder folder;
  OutputFile output(folder / "a");
  folder.with("a", "of another");
  EXPECT_THROW(output.commit_new(), Error);
  EXPECT_EQ(text_of(folder / "a"), "of another");
}

TEST(OutputFile, SaysAtOnceWhatCannotBeWritten) {
  EXPECT_THROW(OutputFile("/no-such-folder/x"), Error);
  EXPECT_THROW(OutputFile("/tmp"), Error);
  OutputFile full("/dev/full");
  EXPECT_THROW(
      {
        full.write("x");
        full.commit();
      },
      Error);
}

void write(OutputFolder& folder, const std::string& name, std::string_view text) {
  OutputFile file(folder.place(name));
  file.write(text);
  file.commit();
}

TEST(OutputFolder, AppearsWholeOrNotAtAll) {
  const Folder root;
  const fs::path folder = root / "out";
  {
    OutputFolder given_up(folder, {"a", "b"});
    write(given_up, "a", "1");
  }
  EXPECT_EQ(root.entries(), 0);
  {
    OutputFolder output(folder, {"a", "b"});
    write(output, "a", "1");
    write(output, "b", "1");
    EXPECT_FALSE(fs::exists(folder));
    output.commit();
  }
  {
    OutputFolder given_up(folder, {"a", "b"});
    write(given_up, "a", "2");
  }
  EXPECT_EQ(text_of(folder / "a") + text_of(folder / "b"), "11");
  OutputFolder output(folder, {"a", "b"});
  write(output, "a", "2");
  output.commit();
  EXPECT_EQ(text_of(folder / "a"), "2");
  EXPECT_FALSE(fs::exists(folder / "b"));
  EXPECT_EQ(root.entries(), 1);
}

TEST(OutputFolder, LeavesWhatBelongsToOthers) {
  const Folder root;
  root.with("notes.txt", "mine");
  root.with("b", "1");
  OutputFolder output(root / ".", {"a", "b"});
  write(output, "a", "2");
  output.commit();
  EXPECT_EQ(text_of(root / "a") + text_of(root / "notes.txt"), "2mine");
  EXPECT_EQ(root.entries(), 2);
}

}  // namespace
}  // namespace foretrain
