// SPDX-License-Identifier: Apache-2.0
#include "foretrain/resource/kinds.h"

#include <string>
#include <vector>

namespace foretrain::resource {
namespace {

constexpr std::string_view kBegin = "resources.";

// The names with the texts that they point into.
struct Names {
  std::vector<std::string> texts;
  std::vector<UseName> names;
};

Names make_names() {
  Names all;
  all.texts.reserve(kRoles.size() * kResources.size() * kNumbers.size());
  for (const Role role : kRoles) {
    for (const Resource resource : kResources) {
      for (const Number number : kNumbers) {
        all.texts.push_back(std::string(kBegin) + std::string(name_of(role)) + "." +
                            std::string(name_of(resource)) + "." + std::string(name_of(number)));
        const std::string_view text = all.texts.back();
        all.names.push_back({role, resource, number, text, text.substr(kBegin.size())});
      }
    }
  }
  return all;
}

}  // namespace

std::span<const UseName> use_names() {
  static const Names kNames = make_names();
  return kNames.names;
}

}  // namespace foretrain::resource
