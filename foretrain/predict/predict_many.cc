// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/predict_many.h"

#include "foretrain/base/error.h"
#include "foretrain/base/error_json.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

std::string answer(const std::string& line, std::size_t number, const Library& library) {
  try {
    const std::string where = "line " + std::to_string(number);
    if (line.size() > kLongestRequest) {
      throw Error(ErrorKind::BadInput,
                  where + ": longer than 4 MiB; name large clusters by a file");
    }
    return to_json(predict(parse_request(line, where), library));
  } catch (const std::exception& error) {
    return error_json(error);
  }
}

}  // namespace

std::vector<std::string> predict_many(const std::vector<std::string>& lines, std::size_t first,
                                      int threads, const Library& library) {
  std::vector<std::string> answers(lines.size());
  parallel_for(lines.size(), threads,
               [&](std::size_t i) { answers[i] = answer(lines[i], first + i, library); });
  return answers;
}

}  // namespace foretrain
