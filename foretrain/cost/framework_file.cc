// SPDX-License-Identifier: Apache-2.0
#include "foretrain/cost/framework_file.h"

#include <array>

#include "foretrain/base/error.h"
#include "foretrain/base/json.h"

namespace foretrain::cost {
namespace {

constexpr int kVersion = 1;
constexpr double kMost = 1000;  // passes or seconds; nothing real is near

constexpr std::array kNumbers{
    FrameworkNumber{"host_scale", &Framework::host_scale},
    FrameworkNumber{"hook_s", &Framework::hook_s},
    FrameworkNumber{"host_per_tensor_s", &Framework::host_per_tensor_s},
    FrameworkNumber{"host_per_step_s", &Framework::host_per_step_s},
};

}  // namespace

std::span<const FrameworkNumber> framework_numbers() { return kNumbers; }

Framework read_framework(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  JsonFields fields(file, where);
  if (fields.required_text("format") != kFrameworkFormat ||
      fields.required_number("version") != kVersion) {
    throw Error(ErrorKind::BadInput,
                where + ": not a framework of version 1; `foretrain fit framework` writes one");
  }
  fields.ignore("notes");
  Framework framework = framework_named(fields.required_text("framework"));
  for (const FrameworkNumber& number : kNumbers) {
    const double value = fields.required_number(number.name);
    if (value < 0 || value > kMost) {
      throw Error(ErrorKind::BadInput, where + ": '" + number.name + "' is not within 0 to 1000");
    }
    framework.*number.place = value;
  }
  fields.finish();
  return framework;
}

std::string write_framework(const Framework& framework, std::span<const std::string> notes) {
  OrderedJson file{{"format", kFrameworkFormat},
                   {"version", kVersion},
                   {"notes", notes},
                   {"framework", framework.name}};
  for (const FrameworkNumber& number : kNumbers) file[number.name] = framework.*number.place;
  return file.dump(2) + "\n";
}

}  // namespace foretrain::cost
