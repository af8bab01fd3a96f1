// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/predict_many.h"

#include "foretrain/base/error.h"
#include "foretrain/base/error_json.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/predict/advice.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

std::string answer(const std::string& line, std::size_t number, const Library& library,
                   bool advice) {
  try {
    const std::string where = "line " + std::to_string(number);
    if (line.size() > kLongestRequest) {
      throw Error(ErrorKind::BadInput,
                  where + ": longer than 4 MiB; name large clusters by a file");
    }
    const Request request = parse_request(line, where);
    return to_json(advice ? predict_and_advise(request, library) : predict(request, library));
  } catch (const std::exception& error) {
    return error_json(error);
  }
}

}  // namespace

std::vector<std::string> predict_many(const std::vector<std::string>& lines, std::size_t first,
                                      int threads, const Library& library, bool advice) {
  std::vector<std::string> answers(lines.size());
  parallel_for(lines.size(), threads,
               [&](std::size_t i) { answers[i] = answer(lines[i], first + i, library, advice); });
  return answers;
}

}  // namespace foretrain
