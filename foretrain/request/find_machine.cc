// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/find_machine.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/request/detail/datasets.h"

namespace foretrain {
namespace {

// Height times width of the images that a model reads, 0 where it reads none.
double image_pixels(const graph::Graph& model) {
  for (const graph::Tensor& tensor : model.tensors) {
    const graph::Shape& shape = tensor.shape;
    if (tensor.role != graph::Role::Input) continue;
    if (shape.rank() != 4 || shape[1] != graph::Dim(3)) continue;
    if (!graph::is_number(shape[2]) || !graph::is_number(shape[3])) continue;
    return static_cast<double>(shape[2].factor) * static_cast<double>(shape[3].factor);
  }
  return 0;
}

}  // namespace

double find_host_speed(const Request& request, const hw::AssumedHost& host,
                       const hw::Device& device, const std::optional<hw::Instance>& instance,
                       std::vector<std::string>& assumptions) {
  if (request.host_speed) return *request.host_speed;
  if (hw::is_cpu(device)) return 1;
  if (instance && instance->host_speed) {
    assumptions.push_back(format("host of speed %g, %s (host_speed was not given)",
                                 *instance->host_speed, instance->cpu.c_str()));
    return *instance->host_speed;
  }
  const double speed = hw::usual_host_speed(host, device.architecture);
  if (speed != 1) {
    assumptions.push_back(
        format("host of speed %g, usual beside %s devices (host_speed was not given)", speed,
               device.architecture.c_str()));
  }
  return speed;
}

std::optional<double> find_input_rate(const Request& request, const hw::AssumedHost& host,
                                      const Model& model, double host_speed,
                                      std::vector<std::string>& assumptions) {
  if (!request.loaders) return request.input_rate;
  if (request.input_rate) {
    throw Error(ErrorKind::BadInput, "'loaders' and 'input_rate' say the same; give one of them");
  }
  const double pixels = image_pixels(model.graph());
  const double stored = request.dataset ? dataset_pixels(*request.dataset) : 0;
  const double each = pixels == 0                   ? host.record_s
                      : pixels <= host.small_pixels ? host.small_image_s
                      : stored > 0                  ? host.pixel_s * stored
                                                    : host.pixel_s * host.photograph_pixels;
  assumptions.push_back(format("each of %d loaders delivers %.0f %s/s (input_rate was not given)",
                               *request.loaders, host_speed / each,
                               pixels == 0 ? "samples" : "images"));
  return *request.loaders * host_speed / each;
}

std::optional<double> find_copy_rate(const Request& request, const hw::AssumedHost& host,
                                     std::vector<std::string>& assumptions) {
  if (!request.input_copy) return request.copy_rate;
  if (request.copy_rate) {
    throw Error(ErrorKind::BadInput, "'input_copy' and 'copy_rate' say the same; give one of them");
  }
  const double rate =
      *request.input_copy == "pageable" ? host.pageable_bytes_per_s : host.pinned_bytes_per_s;
  assumptions.push_back(
      format("input copied from %s memory at %g GB/s", request.input_copy->c_str(), rate / 1e9));
  return rate;
}

cost::Tf32 find_tf32(const Request& request, const cost::Framework& framework,
                     const std::vector<hw::Device>& devices,
                     std::vector<std::string>& assumptions) {
  const bool able = std::all_of(devices.begin(), devices.end(), [](const hw::Device& device) {
    return device.tensor_tf32_flops_per_s.has_value();
  });
  const bool strict = request.ieee || !able || request.precision != Precision::Fp32;
  const cost::Tf32 usual = strict ? cost::Tf32::Never : framework.tf32;
  const std::string why =
      ", the default of " + framework.name + " on such devices (precision fp32-ieee is strict)";
  if (usual == cost::Tf32::Always) assumptions.push_back("fp32 is computed in TF32" + why);
  if (usual == cost::Tf32::Convolutions) {
    assumptions.push_back("fp32 convolutions are computed in TF32, matrix products are not" + why);
  }
  return usual;
}

}  // namespace foretrain
