// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/predict_many.h"

#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"
#include "foretrain/cli/line_reader.h"
#include "foretrain/cli/progress.h"
#include "foretrain/predict/predict.h"

namespace foretrain::cli {
namespace {

std::string answer(const std::string& line, std::size_t number, const Library& library) {
  try {
    const Request request = parse_request(line, "line " + std::to_string(number));
    return to_json(predict(request, library)) + "\n";
  } catch (const std::exception& error) {
    return error_json(error) + "\n";
  }
}

// Many lines by several threads, each taking the next line that nobody has. The calling thread
// is one of them.
std::vector<std::string> answer_all(const std::vector<std::string>& lines, std::size_t before,
                                    int threads, const Library& library) {
  std::vector<std::string> answers(lines.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < lines.size(); i = next++) {
      answers[i] = answer(lines[i], before + i + 1, library);
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads && static_cast<std::size_t>(t) < lines.size(); ++t) {
    others.emplace_back(work);
  }
  work();
  others.clear();  // waits for them
  return answers;
}

}  // namespace

std::string error_json(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  const OrderedJson json{{"error",
                          {{"kind", ours == nullptr ? "Internal" : to_string(ours->kind())},
                           {"message", error.what()}}}};
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void predict_many(const std::string& path, int threads, const Library& library, Console& console) {
  LineReader reader(path);
  Progress progress("requests", isatty(STDOUT_FILENO) == 0);  // not amid the answers
  std::vector<std::string> lines;
  std::size_t done = 0;
  while (reader.read(lines)) {
    if (threads > 1) {
      for (const std::string& text : answer_all(lines, done, threads, library)) {
        console.write(text);
      }
      done += lines.size();
      progress.show(done, reader.share());
    } else {
      for (const std::string& line : lines) {
        console.write(answer(line, ++done, library));
        progress.show(done, reader.share());
      }
    }
    if (!lines.empty()) console.flush();
  }
}

}  // namespace foretrain::cli
