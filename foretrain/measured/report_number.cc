// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/report_number.h"

#include <array>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain::measured {
namespace {

using Maybe = std::optional<double>;

Maybe value_of(const std::optional<Estimate>& estimate) {
  return estimate ? Maybe(estimate->value) : std::nullopt;
}

constexpr std::string_view kDoesNotFit = "does_not_fit";

const std::array kNumbers{
    ReportNumber{"step_time_s", [](const Report& r) { return Maybe(r.step_time_s.value); }, 1},
    ReportNumber{"iterations_per_s", [](const Report& r) { return Maybe(1 / r.step_time_s.value); },
                 -1},
    ReportNumber{"samples_per_s", [](const Report& r) { return Maybe(r.samples_per_s); }, -1},
    ReportNumber{"tokens_per_s", [](const Report& r) { return r.tokens_per_s; }, -1},
    ReportNumber{"exposed_communication_s",
                 [](const Report& r) { return Maybe(r.breakdown.exposed_communication.count()); }},
    ReportNumber{"forward_s", [](const Report& r) { return Maybe(r.phases.forward.count()); }},
    ReportNumber{"backward_s", [](const Report& r) { return Maybe(r.phases.backward.count()); }},
    ReportNumber{"communication_s", [](const Report& r) { return Maybe(r.communication.count()); }},
    ReportNumber{"epoch_time_s", [](const Report& r) { return value_of(r.epoch_time_s); }, 1},
    ReportNumber{"total_time_s", [](const Report& r) { return value_of(r.total_time_s); }, 1},
    ReportNumber{"memory_peak_bytes", [](const Report& r) { return Maybe(r.memory.peak); }},
    ReportNumber{"memory_allocated_bytes",
                 [](const Report& r) { return Maybe(r.memory.allocated); }},
    ReportNumber{
        "memory_reserved_bytes",
        [](const Report& r) { return Maybe(r.memory.allocated + r.memory.fragmentation); }},
    ReportNumber{kDoesNotFit, [](const Report& r) { return Maybe(r.memory.fits ? 0 : 1); }},
    ReportNumber{"mfu", [](const Report& r) { return r.mfu; }, -1},
};

}  // namespace

std::span<const ReportNumber> report_numbers() { return kNumbers; }

bool says_it_did_not_fit(std::size_t number) { return kNumbers[number].name == kDoesNotFit; }

std::size_t report_number_named(const std::string& name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    if (kNumbers[i].name == name) return i;
    known.emplace_back(kNumbers[i].name);
  }
  throw Error(ErrorKind::NotFound,
              "a report has no number '" + printable(name) + "'" + did_you_mean(name, known));
}

}  // namespace foretrain::measured
