// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/find_machine.h"

#include <algorithm>

#include "foretrain/base/error.h"
#include "foretrain/base/format.h"
#include "foretrain/base/near.h"
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

// Numbers that a model reads of each sample, besides what every sample shares.
double values_of_sample(const graph::Graph& model) {
  double sum = 0;
  for (const graph::Tensor& tensor : model.tensors) {
    if (tensor.role != graph::Role::Input) continue;
    double values = 1;
    for (int axis = 0; axis < tensor.shape.rank(); ++axis) {
      values *= static_cast<double>(tensor.shape[axis].factor);
    }
    sum += values;
  }
  return sum;
}

// What a process takes to load one sample on the reference machine.
double sample_s(const Request& request, const hw::AssumedHost& host, const graph::Graph& model) {
  const double pixels = image_pixels(model);
  if (pixels > 0) {
    const double stored =
        request.dataset ? dataset_pixels(*request.dataset) : host.photograph_pixels;
    const bool in_memory = stored == 0 || (!request.dataset && pixels <= host.small_pixels);
    return in_memory ? host.small_image_s : host.pixel_s * stored;
  }
  const double values = values_of_sample(model);
  return values <= host.most_numbers ? host.row_s + host.number_s * values : host.record_s;
}

// The family of CPUs that a request names.
double speed_of_cpu(const std::string& name, const hw::AssumedHost& host) {
  const auto found = host.cpus.find(name);
  if (found != host.cpus.end()) return found->second;
  std::vector<std::string> known;
  std::string list;
  for (const auto& [family, speed] : host.cpus) {
    known.push_back(family);
    list += (list.empty() ? "" : ", ") + family;
  }
  throw Error(ErrorKind::NotFound, "host '" + printable(name) + "' is not known" +
                                       did_you_mean(name, known) + "; known: " + list +
                                       "; or give 'host_speed'");
}

}  // namespace

double find_host_speed(const Request& request, const hw::AssumedHost& host,
                       const hw::Device& device, const std::optional<hw::Instance>& instance,
                       std::vector<std::string>& assumptions) {
  if (request.host && request.host_speed) {
    throw Error(ErrorKind::BadInput, "'host' and 'host_speed' say the same; give one of them");
  }
  if (request.host_speed) return *request.host_speed;
  if (hw::is_cpu(device)) return 1;
  if (request.host) {
    const double speed = speed_of_cpu(*request.host, host);
    assumptions.push_back(format("host of speed %g, usual of %s (host_speed was not given)", speed,
                                 request.host->c_str()));
    return speed;
  }
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
  const double each = sample_s(request, host, model.graph());
  const double rate = host_speed / each;
  if (*request.loaders == 0) {
    assumptions.push_back(format(
        "the training process loads %.0f samples/s itself (input_rate was not given)", rate));
    return rate;
  }
  assumptions.push_back(format("each of %d loaders delivers %.0f %s/s (input_rate was not given)",
                               *request.loaders, rate,
                               image_pixels(model.graph()) == 0 ? "samples" : "images"));
  return *request.loaders * rate;
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
    return device.vendor == "nvidia" && device.tensor_tf32_flops_per_s.has_value();
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
