// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// What an attribute's values stand for. All but numbers are enumerators, which files hold by
// name so that they outlive a change of the enumeration.
enum class AttrForm : std::uint8_t { Numbers, Operators, Type, Optimizer };

// "kernel", "ceil_mode": the attribute's name in files and reports.
std::string_view attr_name(Attr attr);
std::optional<Attr> attr_named(std::string_view name);
AttrForm attr_form(Attr attr);
std::vector<std::string> attr_names();

// "input", "optimizer_state"; "forward".
std::string_view role_name(Role role);
std::optional<Role> role_named(std::string_view name);
std::string_view phase_name(Phase phase);
std::optional<Phase> phase_named(std::string_view name);

}  // namespace foretrain::graph
