// SPDX-License-Identifier: Apache-2.0
// Resizing of images.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "foretrain/importer/onnx/rules.h"

namespace foretrain::importer {
namespace {

using graph::Attr;
using graph::Dim;
using graph::Kind;
using graph::Shape;

// floor(size * scale), where that is a size for every value of the symbols.
Dim scaled(const Dim& size, double scale) {
  std::optional<Scalar> result = multiply(Scalar(size), Scalar::from_real(scale));
  if (result) result = round_scalar(*result, Rounding::Down);
  const std::optional<Dim> dim = result ? result->dim() : std::nullopt;
  if (!dim || dim->factor < 1) {
    OnnxCall::fail_unsupported(
        "a scaled size is no whole number for every value of its symbol; "
        "give the symbol a value");
  }
  return *dim;
}

// Which axes the sizes or scales are for.
std::vector<int> resized_axes(const OnnxCall& call, std::size_t count) {
  std::vector<int> axes;
  for (const std::int64_t axis : call.integers("axes"))
    axes.push_back(call.axis(axis, call.rank(0)));
  if (axes.empty()) {
    for (int i = 0; i < call.rank(0); ++i) axes.push_back(i);
  }
  if (axes.size() != count) OnnxCall::fail("needs a size or scale per axis");
  return axes;
}

Shape from_sizes(const OnnxCall& call, int input) {
  const std::vector<Dim> sizes = call.sizes(input);
  const std::vector<int> axes = resized_axes(call, sizes.size());
  Shape shape = call.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i].factor < 1) OnnxCall::fail("has a size that is not positive");
    // A batch that the file fixes at 1 stays the batch.
    const bool batch = call.all().replaces_batch && axes[i] == 0 && sizes[i] == Dim(1);
    if (!batch) shape[axes[i]] = sizes[i];
  }
  return shape;
}

Shape from_scales(const OnnxCall& call, const std::vector<double>& scales) {
  const std::vector<int> axes = resized_axes(call, scales.size());
  Shape shape = call.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0) || scales[i] > 1e6) OnnxCall::fail("has an absurd scale");
    if (scales[i] != 1) shape[axes[i]] = scaled(shape[axes[i]], scales[i]);
  }
  return shape;
}

// Scales known before the model runs, which may be quotients of sizes.
std::vector<double> scales_of(const OnnxCall& call, int input) {
  std::vector<double> scales = call.reals(input);
  if (scales.empty()) {
    OnnxCall::fail_unsupported(
        "its scales are not known before the model runs; shapes must not "
        "depend on data");
  }
  return scales;
}

bool filled(const OnnxCall& call, int i) {
  return call.has(i) && !(elements(call.shape(i)) == Dim(0));
}

Shape resized(const OnnxCall& call) {
  if (call.node().op_type == "Upsample" && call.inputs() == 1) {
    const OnnxAttribute* scales = call.attribute("scales");
    return from_scales(call, scales == nullptr ? std::vector<double>{} : scales->reals);
  }
  if (call.inputs() == 2) return from_scales(call, scales_of(call, 1));
  if (filled(call, 3)) return from_sizes(call, 3);
  return from_scales(call, scales_of(call, 2));
}

void resize(const OnnxCall& call, Kind kind) {
  if (call.text("keep_aspect_ratio_policy", "stretch") != "stretch") return translate_unknown(call);
  const Shape x = call.shape(0);
  const Shape shape = resized(call);
  if (shape == x) return translate_identity(call, Kind::Identity);
  std::vector<Dim> sizes(shape.dims().begin() + std::min(2, shape.rank()), shape.dims().end());
  const bool image = shape.rank() >= 3 && shape[0] == x[0] && shape[1] == x[1] &&
                     std::all_of(sizes.begin(), sizes.end(), graph::is_number);
  if (!image) {
    return call.give(0, call.emit_opaque({call.tensor(0)}, {shape}, call.in(0).type).front());
  }
  call.give(0, call.emit(kind, {call.tensor(0)}, {{Attr::Sizes, sizes}}));
}

// Values at given places: [batch, channels, places...].
void grid_sample(const OnnxCall& call, Kind /*kind*/) {
  const Shape& x = call.shape(0);
  const Shape& grid = call.shape(1);
  if (x.rank() < 3 || grid.rank() != x.rank()) OnnxCall::fail("the grid does not fit the input");
  Shape result{x[0], x[1]};
  for (int i = 1; i + 1 < grid.rank(); ++i) result.push_back(grid[i]);
  give_opaque(call, result, call.in(0).type);
}

void roi_align(const OnnxCall& call, Kind /*kind*/) {
  const Shape& x = call.shape(0);
  const Shape& rois = call.shape(1);
  if (x.rank() != 4 || rois.rank() != 2) OnnxCall::fail("takes an image and a list of boxes");
  const Shape result{rois[0], x[1], Dim(call.integer("output_height", 1)),
                     Dim(call.integer("output_width", 1))};
  give_opaque(call, result, call.in(0).type);
}

constexpr std::array kRules{
    OnnxRule{"Resize", resize, Kind::Upsample},
    OnnxRule{"Upsample", resize, Kind::Upsample},
    OnnxRule{"GridSample", grid_sample},
    OnnxRule{"RoiAlign", roi_align},
};

}  // namespace

std::span<const OnnxRule> onnx_resize_rules() { return kRules; }

}  // namespace foretrain::importer
