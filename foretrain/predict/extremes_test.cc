// SPDX-License-Identifier: Apache-2.0
// Every pair of numeric fields at the ends of their ranges. Products of fields must not wrap round:
// the answer is an Error, or numbers that are finite and above zero.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/predict/predict.h"
#include "foretrain/request/request_fields.h"

namespace foretrain {
namespace {

struct Extreme {
  const RequestField* field;
  double value;
};

std::vector<Extreme> extremes() {
  std::vector<Extreme> result;
  for (const auto fields : {request_fields(), strategy_fields()}) {
    for (const RequestField& field : fields) {
      if (field.type != FieldType::Integer && field.type != FieldType::Number) continue;
      for (const double value : {field.range.least, field.range.most, 65536.0}) {
        if (value < field.range.least || value > field.range.most) continue;
        result.push_back({&field, value});
      }
    }
  }
  return result;
}

void set(Request& request, const Extreme& extreme) {
  if (extreme.field->type == FieldType::Integer) {
    extreme.field->store(request, static_cast<std::int64_t>(extreme.value));
  } else {
    extreme.field->store(request, extreme.value);
  }
}

bool is_sound(const Report& report) {
  const double step = report.step_time_s.value;
  bool sound = std::isfinite(step) && step > 0 && std::isfinite(report.samples_per_s) &&
               report.samples_per_s > 0;
  if (report.total_time_s) sound = sound && std::isfinite(report.total_time_s->value);
  if (report.cost_usd) sound = sound && std::isfinite(report.cost_usd->value);
  return sound && std::isfinite(report.memory.peak) && report.memory.peak > 0;
}

TEST(Extremes, OfAllPairsOfFieldsGiveAnErrorOrSoundNumbers) {
  const Library library = load_library();
  const std::vector<Extreme> all = extremes();
  int answered = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (all[i].field == all[j].field) continue;
      Request request;
      request.model = "mlp";
      request.device = Described{"t4", false};
      set(request, all[i]);
      set(request, all[j]);
      if (request.workers > 65536) request.workers_per_node = 1024;  // as many nodes take long
      try {
        const Report report = predict(request, library);
        ++answered;
        EXPECT_TRUE(is_sound(report)) << to_json(request);
        EXPECT_EQ(report.job.workers, request.workers) << to_json(request);
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(answered, 100);
}

// 65536 * 65536 is 0 in 32 bits, and was taken for one device.
TEST(Extremes, DegreesThatMultiplyToZeroAreNoSingleDevice) {
  const Library library = load_library();
  Request request;
  request.model = "mlp";
  request.device = Described{"t4", false};
  request.strategy.tensor = request.strategy.pipeline = 65536;
  EXPECT_THROW(predict(request, library), Error);
}

}  // namespace
}  // namespace foretrain
