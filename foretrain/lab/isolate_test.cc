// SPDX-License-Identifier: Apache-2.0
#include "foretrain/lab/isolate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "foretrain/base/error.h"

namespace foretrain::lab {
namespace {

// A folder for everybody, as /tmp is: gone when the test ends.
class LockTest : public testing::Test {
 protected:
  LockTest() {
    std::string name = std::filesystem::temp_directory_path() / "foretrain-lock-XXXXXX";
    folder_ = mkdtemp(name.data());
    chmod(folder_.c_str(), 01777);
  }
  ~LockTest() override { std::filesystem::remove_all(folder_); }
  std::string file(const char* name) const { return folder_ + "/" + name; }

  static std::string refusal(const std::vector<std::string>& files) {
    try {
      const Lock lock(files);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::string folder_;
};

TEST_F(LockTest, IsOfOneAtATime) {
  {
    const Lock lock({file("a")});
    EXPECT_NE(refusal({file("a")}).find("another lab runs"), std::string::npos);
  }
  EXPECT_EQ(refusal({file("a")}), "");
}

// Who may not write to the first folder makes the second file; who may finds that one taken.
TEST_F(LockTest, IsOfOneWhereverItsFilesCanBeMade) {
  const Lock lock({"/no/such/folder/a", file("b")});
  EXPECT_NE(refusal({file("a"), file("b")}).find("another lab runs"), std::string::npos);
  EXPECT_NE(refusal({"/no/such/folder/a"}).find("cannot make"), std::string::npos);
}

// The owner's file can be read by all and written by the owner alone.
TEST_F(LockTest, IsOfOneUserAtATime) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const Lock lock({file("a")});
  const int child = fork();
  if (child == 0) {
    const bool other = setgid(65534) == 0 && setuid(65534) == 0;
    const std::string said = refusal({file("a"), file("b")});
    _exit(other && said.find("another lab runs") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace foretrain::lab
