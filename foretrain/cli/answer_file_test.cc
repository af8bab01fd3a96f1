// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include "foretrain/base/json.h"
#include "foretrain/cli/line_reader.h"
#include "foretrain/cli/split.h"
#include "foretrain/cli/test_program.h"

namespace foretrain::cli {
namespace {

std::vector<Json> answers(const std::string& input, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"predict", "--requests", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_program(arguments, input);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::vector<std::string> lines = split(outcome.out, '\n');
  EXPECT_EQ(lines.back(), "");  // the output ends with a line break, or is empty
  lines.pop_back();
  std::vector<Json> result;
  result.reserve(lines.size());
  for (const std::string& line : lines) result.push_back(parse_json(line));
  return result;
}

std::string request(int batch) {
  return R"({"model": "mlp", "device": "t4", "batch": )" + std::to_string(batch) + "}\n";
}

TEST(Requests, ABadLineIsAnsweredInItsPlace) {
  const auto lines =
      answers(request(8) + "{\"model\": \"mlp\", \"device\": \"t5\"}\n" + request(64));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1]["error"]["kind"], "NotFound");
  EXPECT_FALSE(lines[1]["error"]["message"].get<std::string>().empty());
  const auto alone = answers(request(64));
  EXPECT_EQ(lines[2], alone[0]);
  EXPECT_NE(lines[0], lines[2]);
}

TEST(Requests, MessagesNameTheLine) {
  const auto lines = answers(request(8) + "{\"model\": 7}\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1]["error"]["kind"], "BadInput");
  EXPECT_EQ(lines[1]["error"]["message"].get<std::string>().rfind("line 2: ", 0), 0U);
}

TEST(Requests, GarbageIsAnErrorOfItsLineOnly) {
  const std::string binary("\x00\xff\xfe\x80{\x01", 6);
  const auto lines = answers(binary + "\n\n[1]\n" + std::string(100, '[') + "\n" + request(8));
  ASSERT_EQ(lines.size(), 5U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(lines[static_cast<std::size_t>(i)]["error"]["kind"], "BadInput") << i;
  }
  EXPECT_TRUE(lines[4].contains("step_time_s"));
}

TEST(Requests, AnEmptyFileHasNoAnswers) { EXPECT_TRUE(answers("").empty()); }

TEST(Requests, TheLastLineNeedsNoLineBreak) {
  std::string text = request(8);
  text.pop_back();
  EXPECT_EQ(answers(text).size(), 1U);
}

TEST(Requests, ThreadsKeepTheOrder) {
  std::string input;
  for (int batch = 1; batch <= 200; ++batch) input += batch % 50 == 0 ? "bad\n" : request(batch);
  const auto alone = answers(input);
  EXPECT_EQ(alone.size(), 200U);
  EXPECT_EQ(answers(input, {"--threads", "3"}), alone);
}

TEST(Requests, AnswersWhileTheWriterWaits) {
  int in[2];
  int out[2];
  ASSERT_EQ(pipe(in), 0);
  ASSERT_EQ(pipe(out), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
    become_program({"predict", "--requests", "-"}, {});
  }
  close(in[0]);
  close(out[1]);
  const std::string line = request(8);
  ASSERT_EQ(write(in[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  std::string answer;
  char c = 0;
  while (c != '\n' && read(out[0], &c, 1) == 1) answer += c;  // the input is still open
  EXPECT_TRUE(parse_json(answer).contains("step_time_s"));
  close(in[1]);
  close(out[0]);
  EXPECT_EQ(wait_for(child), 0);
}

TEST(LineReader, KeepsLinesWholeAcrossReads) {
  const std::string longest(100'000, 'x');  // more than one read brings
  const TemporaryFile file("lines", "a\r\n\n" + longest + "\nend");
  LineReader reader(file.path());
  std::vector<std::string> all;
  std::vector<std::string> lines;
  while (reader.read(lines)) all.insert(all.end(), lines.begin(), lines.end());
  EXPECT_EQ(all, (std::vector<std::string>{"a", "", longest, "end"}));
  EXPECT_DOUBLE_EQ(*reader.share(), 1);
}

// A request that is padded with blanks beyond the limit would be understood if it were cut there.
TEST(Requests, RefusesALineThatIsTooLong) {
  const std::string request = R"({"model": "mlp", "device": "t4"})";
  const TemporaryFile file("long",
                           request + std::string(kLongestLine, ' ') + "\n" + request + "\n");
  const Outcome outcome = run_program({"predict", "--requests", file.path()});
  const std::size_t end = outcome.out.find('\n');
  EXPECT_NE(outcome.out.substr(0, end).find("line 1: longer than 4 MiB"), std::string::npos);
  EXPECT_TRUE(parse_json(outcome.out.substr(end + 1)).contains("step_time_s"));
}

TEST(LineReader, CutsLinesThatNeverEnd) {
  const TemporaryFile file("endless", std::string(kLongestLine + 10, 'x') + "\nb\n");
  LineReader reader(file.path());
  std::vector<std::string> all;
  std::vector<std::string> lines;
  while (reader.read(lines)) all.insert(all.end(), lines.begin(), lines.end());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].size(), kLongestLine + 1);
  EXPECT_EQ(all[1], "b");
}

// /dev/zero is one line that never ends: it is given up after 64 MiB.
TEST(Requests, RefusesWhatHasNoLines) {
  const Outcome outcome = run_program({"predict", "--requests", "/dev/zero"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("a line of more than 64 MiB"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace foretrain::cli
