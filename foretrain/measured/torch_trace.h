// SPDX-License-Identifier: Apache-2.0
// What torch.profiler measured: a Chrome trace that `export_chrome_trace` wrote.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/measured/operator_case.h"
#include "foretrain/measured/row.h"

namespace foretrain::measured {

struct TorchTrace {
  // The spans ProfilerStep#N, the first left out because it warms up; a span in which no operator
  // begins is no step. A step whose kernels take longer than the host's span takes as long as they.
  std::vector<double> steps_s;
  // Operators of these steps (of all where there is no span) as `foretrain collect operators`
  // writes them, each kind, shapes, attributes and direction once with its median time: on a GPU
  // that of its kernels, else that of its span on the host. Of operators that call others the
  // outermost counts that is known (aten_operators.h). Empty where the trace has no shapes.
  std::vector<Row> operators;
  bool gpu = false;  // it has kernels
};

// Throws Error naming the file: Io; BadInput where it is not such a trace, is compressed, is
// larger than 512 MiB, or has neither steps nor operators.
TorchTrace read_torch_trace(const std::filesystem::path& file);
TorchTrace parse_torch_trace(std::string_view text, const std::string& where);

// The median step. `trace` must have one.
double step_of(const TorchTrace& trace);

// The operators on a device of the catalog. fp32 ones count as `precision` where that is TF32.
// Those that no operator of ours describes are left out.
OperatorCases traced_operators(const TorchTrace& trace, const std::string& device,
                               Precision precision);

}  // namespace foretrain::measured
