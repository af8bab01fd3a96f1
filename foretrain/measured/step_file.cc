// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/step_file.h"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json.h"
#include "foretrain/measured/torch_trace.h"
#include "foretrain/request/request.h"
#include "foretrain/store/store.h"

namespace foretrain::measured {
namespace {

constexpr std::uintmax_t kLargestFile = 64 << 20;

const std::vector<std::string> kColumns{
    "campaign", "machine", "configuration", "setting",        "split", "repeat", "started",
    "status",   "wall_s",  "step_median_s", "exposed_sync_s", "steps", "request"};

std::string text_of(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

// A run of which little is known: what was asked for it, and how long its steps took.
struct RecordedRun {
  std::string request;  // JSON
  double step_time_s = 0;
  std::optional<double> exposed_communication_s{};
  std::optional<std::int64_t> steps{};
  std::string started{};
};

RecordedRun read_line(const std::string& line, const std::string& where) {
  const Json json = parse_json(line, where);
  JsonFields fields(json, where);
  RecordedRun run;
  run.request = json_text(fields.require("request"));
  run.step_time_s = fields.required_number("step_time_s");
  if (!(run.step_time_s > 0)) {
    throw Error(ErrorKind::BadInput, where + ": 'step_time_s' is not above 0");
  }
  run.exposed_communication_s = fields.number("exposed_communication_s");
  const double exposed_s = run.exposed_communication_s.value_or(0);
  if (!(exposed_s >= 0 && exposed_s < run.step_time_s)) {
    throw Error(ErrorKind::BadInput,
                where + ": 'exposed_communication_s' is not between 0 and 'step_time_s'");
  }
  run.steps = fields.integer("steps");
  if (run.steps.value_or(1) < 1) throw Error(ErrorKind::BadInput, where + ": 'steps' is below 1");
  run.started = fields.text("started").value_or("");
  fields.finish();
  return run;
}

// Where it ran: the device's name, as for other imported rows.
std::string machine_of(const Request& request) {
  if (!request.device) return "default device";
  return request.device->json ? "described device" : request.device->text;
}

// Rows of one table; a request that comes again is a repeat.
class RowMaker {
 public:
  explicit RowMaker(std::string campaign) : campaign_(std::move(campaign)) {}

  Row make(const RecordedRun& run, std::size_t line, const std::string& where) {
    const std::string machine = machine_of(parse_request(run.request, where + ": request"));
    const std::string request = store::canonical_json(run.request);
    Row row;
    row.line = line;
    row.cells = {campaign_,
                 machine,
                 request,
                 "",
                 "",
                 std::to_string(repeats_[request]++),
                 run.started,
                 "ok",
                 "",
                 text_of(run.step_time_s),
                 run.exposed_communication_s ? text_of(*run.exposed_communication_s) : "",
                 run.steps ? std::to_string(*run.steps) : "",
                 request};
    return row;
  }

 private:
  std::string campaign_;
  std::map<std::string, int> repeats_;
};

}  // namespace

Table parse_steps(std::string_view text, const std::string& name, const std::string& where) {
  std::istringstream lines{std::string(text)};
  std::vector<Row> rows;
  RowMaker maker(name);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string here = where + ": line " + std::to_string(number);
    rows.push_back(maker.make(read_line(line, here), number, here));
  }
  if (rows.empty()) throw Error(ErrorKind::NotFound, where + ": has no measured step");
  return {std::filesystem::path(name).stem().string(), where, kColumns, std::move(rows)};
}

Table step_table(const std::filesystem::path& file) {
  return parse_steps(read_file(file, kLargestFile), file.filename().string(), named(file));
}

Table trace_table(const std::filesystem::path& file, const std::string& request) {
  const TorchTrace trace = read_torch_trace(file);
  if (trace.steps_s.empty()) {
    throw Error(ErrorKind::NotFound, named(file) +
                                         ": has no step; call profiler.step() after each, and "
                                         "give the profiler a schedule of three or more");
  }
  RecordedRun run{.request = request, .step_time_s = step_of(trace)};
  run.steps = static_cast<std::int64_t>(trace.steps_s.size());
  RowMaker maker(file.filename().string());
  std::vector<Row> rows{maker.make(run, 1, named(file))};
  return {file.stem().string(), named(file), kColumns, std::move(rows)};
}

}  // namespace foretrain::measured
