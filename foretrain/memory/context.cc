// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/context.h"

namespace foretrain::memory {
namespace {

constexpr const char* kGpuGroup = "gpu_bytes";

}  // namespace

double gpu_context_bytes(const ContextBytes& context, std::string_view architecture) {
  const auto found = context.gpu.find(architecture);
  return found == context.gpu.end() ? context.other_gpu : found->second;
}

std::vector<NumberPlace> named_numbers(ContextBytes& c) {
  std::vector<NumberPlace> places{{"other_bytes", "gpu", &c.other_gpu},
                                  {"other_bytes", "cpu", &c.cpu},
                                  {"other_bytes", "collectives", &c.collectives},
                                  {"other_bytes", "nvlink_collectives", &c.nvlink_collectives},
                                  {"full_device", "lost_share", &c.lost_share}};
  for (auto& [architecture, bytes] : c.gpu) places.push_back({kGpuGroup, architecture, &bytes});
  return places;
}

ContextBytes read_context_bytes(std::string_view text, const std::string& where) {
  const std::vector<SourcedNumber> numbers = read_number_file(text, where, kContextFormat);
  ContextBytes context;
  for (const SourcedNumber& number : numbers) {
    if (number.group == kGpuGroup) context.gpu[number.name] = 0;
  }
  assign_numbers(numbers, named_numbers(context), where);
  return context;
}

std::string write_context_bytes(const ContextBytes& context, std::span<const std::string> notes) {
  ContextBytes copy = context;
  return write_number_file(kContextFormat, named_numbers(copy), notes);
}

}  // namespace foretrain::memory
