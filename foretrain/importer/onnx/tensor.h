// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/base/precision.h"
#include "foretrain/importer/onnx/model.h"
#include "foretrain/importer/onnx/wire.h"

namespace foretrain::importer {

// A TensorProto: name, type, shape and, when there are few, values. Those in other files
// (external_data) are looked for in `files`.
OnnxTensor parse_onnx_tensor(WireReader in, OnnxFiles& files);
// A SparseTensorProto as the dense tensor that it stands for, without values.
OnnxTensor parse_onnx_sparse_tensor(WireReader in, OnnxFiles& files);

// What a tensor of this ONNX type is stored as in training. 16-bit floats count as F32: the
// precision that a prediction asks for decides, not the file. 16-bit integers count as I32.
DType type_of_onnx(std::int64_t type);
bool is_short_float(std::int64_t type);  // a 16-bit float

}  // namespace foretrain::importer
