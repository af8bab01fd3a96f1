// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/attr_names.h"

#include <algorithm>
#include <array>

namespace foretrain::graph {
namespace {

struct Row {
  Attr attr;
  std::string_view name;
  AttrForm form = AttrForm::Numbers;
};

// In the order of the enumeration.
constexpr std::array kAttrs{
    Row{Attr::Kernel, "kernel"},
    Row{Attr::Stride, "stride"},
    Row{Attr::Padding, "padding"},
    Row{Attr::Dilation, "dilation"},
    Row{Attr::Groups, "groups"},
    Row{Attr::CeilMode, "ceil_mode"},
    Row{Attr::Transposed, "transposed"},
    Row{Attr::OutputPadding, "output_padding"},
    Row{Attr::Shape, "shape"},
    Row{Attr::Axis, "axis"},
    Row{Attr::Axes, "axes"},
    Row{Attr::KeepDims, "keep_dims"},
    Row{Attr::Start, "start"},
    Row{Attr::End, "end"},
    Row{Attr::Step, "step"},
    Row{Attr::TransposeA, "transpose_a"},
    Row{Attr::TransposeB, "transpose_b"},
    Row{Attr::Gates, "gates"},
    Row{Attr::Hidden, "hidden"},
    Row{Attr::Layers, "layers"},
    Row{Attr::Directions, "directions"},
    Row{Attr::BatchFirst, "batch_first"},
    Row{Attr::Causal, "causal"},
    Row{Attr::Mask, "mask"},
    Row{Attr::Dropout, "dropout"},
    Row{Attr::Inplace, "inplace"},
    Row{Attr::Frozen, "frozen"},
    Row{Attr::Of, "of", AttrForm::Operators},
    Row{Attr::Optimizer, "optimizer", AttrForm::Optimizer},
    Row{Attr::Outputs, "outputs"},
    Row{Attr::Sizes, "sizes"},
    Row{Attr::Type, "type", AttrForm::Type},
    Row{Attr::Waiting, "waiting"},
    Row{Attr::Among, "among"},
    Row{Attr::EveryPass, "every_pass"},
    Row{Attr::Indexed, "indexed"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kAttrs.size(); ++i) {
    if (static_cast<std::size_t>(kAttrs[i].attr) != i) return false;
  }
  return true;
}
static_assert(in_order() && static_cast<std::size_t>(Attr::Indexed) + 1 == kAttrs.size(),
              "every Attr has its row, in order");

constexpr std::array<std::string_view, 6> kRoles{"input",  "activation", "parameter",
                                                 "buffer", "gradient",   "optimizer_state"};
static_assert(static_cast<std::size_t>(Role::OptimizerState) + 1 == kRoles.size());

constexpr std::array<std::string_view, 4> kPhases{"forward", "backward", "update", "recompute"};
static_assert(static_cast<std::size_t>(Phase::Recompute) + 1 == kPhases.size());

template <typename Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view attr_name(Attr attr) { return kAttrs[static_cast<std::size_t>(attr)].name; }

AttrForm attr_form(Attr attr) { return kAttrs[static_cast<std::size_t>(attr)].form; }

std::optional<Attr> attr_named(std::string_view name) {
  const auto found =
      std::find_if(kAttrs.begin(), kAttrs.end(), [&](const Row& row) { return row.name == name; });
  if (found == kAttrs.end()) return std::nullopt;
  return found->attr;
}

std::vector<std::string> attr_names() {
  std::vector<std::string> names;
  names.reserve(kAttrs.size());
  for (const Row& row : kAttrs) names.emplace_back(row.name);
  return names;
}

std::string_view role_name(Role role) { return kRoles[static_cast<std::size_t>(role)]; }
std::optional<Role> role_named(std::string_view name) { return named<Role>(kRoles, name); }
std::string_view phase_name(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }
std::optional<Phase> phase_named(std::string_view name) { return named<Phase>(kPhases, name); }

}  // namespace foretrain::graph
