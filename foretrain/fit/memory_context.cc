// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/memory_context.h"

#include <algorithm>
#include <map>

#include "foretrain/base/error.h"
#include "foretrain/base/median.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/fit/detail/prior.h"
#include "foretrain/measured/report_number.h"
#include "foretrain/predict/predict.h"
#include "foretrain/request/resolve.h"

namespace foretrain::fit {
namespace {

// Bytes beyond the predicted tensors, each of one row.
struct Rests {
  std::map<std::string, std::vector<double>> alone;  // by architecture
  std::map<std::string, std::vector<double>> among;  // with collectives
  std::vector<double> cpu;
};

Rests read_rests(const std::filesystem::path& data, const Library& library) {
  Rests rests;
  const std::size_t peak = measured::report_number_named("memory_peak_bytes");
  evaluate::Observer observer;
  observer.on_case = [&](const evaluate::Case& row) {
    if (row.outcome != evaluate::Outcome::Predicted || row.number != peak) return;
    if (row.request.empty() || row.split == "test") return;
    const Request request = parse_request(row.request, "request");
    const Resolved resolved = resolve(request, library);
    const hw::Device& device = resolved.cluster.devices.front();
    const bool own = resolved.context_bytes || device.context_bytes;
    if (own || resolved.cluster.devices.size() > 1) return;
    const MemoryReport memory = predict(request, library).memory;
    const double rest = row.measured - (memory.peak - memory.framework);
    const bool several = resolved.workers > 1 && resolved.mode == Mode::Train;
    // What several communicators, or one over NVLink, take is not fitted.
    if (several && memory.communication != library.memory_context->collectives) return;
    auto& gpu = several ? rests.among : rests.alone;
    (hw::is_cpu(device) ? rests.cpu : gpu[device.architecture]).push_back(rest);
  };
  evaluate::evaluate(data, {}, library, observer);
  return rests;
}

void decide(const std::string& name, const std::vector<double>& rests, double& bytes,
            FittedContext& fitted) {
  if (rests.empty()) return;
  const double before = bytes;
  bytes = rounded(std::max(0.0, median(rests)));
  fitted.numbers.push_back({name, rests.size(), before, bytes});
}

}  // namespace

FittedContext fit_memory_context(const std::filesystem::path& data, const Library& library) {
  const Rests rests = read_rests(data, library);
  FittedContext fitted{*library.memory_context, {}};
  memory::ContextBytes& context = fitted.context;
  for (const auto& [architecture, alone] : rests.alone) {
    double& bytes = context.gpu.try_emplace(architecture, context.other_gpu).first->second;
    decide("gpu_bytes." + architecture, alone, bytes, fitted);
  }
  decide("other_bytes.cpu", rests.cpu, context.cpu, fitted);
  std::vector<double> collectives;
  for (const auto& [architecture, among] : rests.among) {
    const double alone = memory::gpu_context_bytes(context, architecture);
    for (const double rest : among) collectives.push_back(rest - alone);
  }
  decide("other_bytes.collectives", collectives, context.collectives, fitted);
  if (fitted.numbers.empty()) {
    throw Error(ErrorKind::NotFound,
                "'" + printable(data.string()) +
                    "' has no row that is compared with memory_peak_bytes; memory that a framework "
                    "counts itself does not show the context");
  }
  return fitted;
}

}  // namespace foretrain::fit
