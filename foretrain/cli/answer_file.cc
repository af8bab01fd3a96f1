// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cli/answer_file.h"

#include <unistd.h>

#include <vector>

#include "foretrain/cli/line_reader.h"
#include "foretrain/cli/progress.h"
#include "foretrain/predict/predict_many.h"

namespace foretrain::cli {

void answer_file(const std::string& path, std::size_t first, int threads, bool advice,
                 const Library& library, Console& console) {
  LineReader reader(path);
  Progress progress("requests", isatty(STDOUT_FILENO) == 0);  // not amid the answers
  std::vector<std::string> lines;
  std::size_t done = 0;
  while (reader.read(lines)) {
    for (const std::string& answer : predict_many(lines, first + done, threads, library, advice)) {
      console.line(answer);
    }
    done += lines.size();
    progress.show(done, reader.share());
    if (!lines.empty()) console.flush();
  }
}

}  // namespace foretrain::cli
