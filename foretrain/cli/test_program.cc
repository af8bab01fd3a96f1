// SPDX-License-Identifier: Apache-2.0
// Named as a test so that it is built into the tests only.
#include "foretrain/cli/test_program.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace foretrain::cli {

TemporaryFile::TemporaryFile(const std::string& name, const std::string& content) {
  const char* folder = std::getenv("TMPDIR");
  path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/foretrain_cli_" +
          std::to_string(getpid()) + "_" + name;
  std::ofstream(path_, std::ios::binary) << content;
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void become_program(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment) {
  for (const char* name : {"NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM"}) unsetenv(name);
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  const char* program = std::getenv("FORETRAIN_PROGRAM");
  std::vector<std::string> words{program == nullptr ? "" : program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  _exit(127);
}

int wait_for(int child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Outcome run_program(const std::vector<std::string>& arguments, const std::string& input,
                    const std::vector<std::string>& environment) {
  const TemporaryFile in("in", input);
  const TemporaryFile out("out", "");
  const TemporaryFile err("err", "");
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(in.path().c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open(out.path().c_str(), O_WRONLY), STDOUT_FILENO);
    dup2(open(err.path().c_str(), O_WRONLY), STDERR_FILENO);
    become_program(arguments, environment);
  }
  const int code = wait_for(child);
  return {code, read_text(out.path()), read_text(err.path())};
}

Outcome run_on_terminal(const std::vector<std::string>& arguments, int columns,
                        const std::vector<std::string>& environment) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 50;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) become_program(arguments, environment);
  Outcome outcome;
  std::vector<char> buffer(4096);
  for (ssize_t count = 1; count > 0;) {
    count = read(terminal, buffer.data(), buffer.size());
    if (count > 0) outcome.out.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(terminal);
  outcome.code = wait_for(child);
  return outcome;
}

}  // namespace foretrain::cli
