// SPDX-License-Identifier: Apache-2.0
#include "foretrain/graph/axes.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "foretrain/graph/op.h"

namespace foretrain::graph {
namespace {

using Names = std::vector<AxisName>;

// Letters are their own names; others lie beyond them.
constexpr AxisName kIndex = 300;   // of the indices of a look-up
constexpr AxisName kBehind = 400;  // behind the attribute's axis
constexpr AxisName kOther = 500;   // `*`

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t comma = text.find(at); comma != std::string_view::npos; comma = text.find(at)) {
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  parts.push_back(text);
  return parts;
}

// One axis, or `*`, of a tensor's text.
struct Token {
  char letter = 0;
  bool whole = false;
};

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (const char c : text) {
    if (c == '!') {
      if (!tokens.empty()) tokens.back().whole = true;
    } else {
      tokens.push_back({c, std::isupper(static_cast<unsigned char>(c)) != 0});
    }
  }
  return tokens;
}

class Naming {
 public:
  Naming(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  std::optional<NodeAxes> run() {
    const std::string_view text = op(node_).axes;
    const std::size_t arrow = text.find("->");
    if (arrow == std::string_view::npos || text.find('~') != std::string_view::npos) return {};
    const auto from = split(text.substr(0, arrow), ',');
    const auto to = split(text.substr(arrow + 2), ',');
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      if (i >= from.size() && !takes_any_number()) return {};
      const auto names = name(shape(node_.inputs[i]), from[std::min(i, from.size() - 1)]);
      if (!names) return {};
      axes_.inputs.push_back(*names);
    }
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      if (i >= to.size() && node_.kind != Kind::Split) {
        axes_.outputs.emplace_back();
        continue;
      }
      const auto names = name(shape(node_.outputs[i]), to[std::min(i, to.size() - 1)]);
      if (!names) return {};
      axes_.outputs.push_back(*names);
    }
    transpose_operands();
    mark_padding();
    drop_broadcast();
    return std::move(axes_);
  }

 private:
  const Shape& shape(TensorId id) const { return graph_.tensor(id).shape; }

  bool takes_any_number() const {
    return node_.kind == Kind::Add || node_.kind == Kind::Concat || node_.kind == Kind::Where;
  }

  int attribute_axis(int rank) const {
    const std::int64_t otherwise =
        node_.kind == Kind::Concat                                                             ? 1
        : node_.kind == Kind::Slice || node_.kind == Kind::Split || node_.kind == Kind::Gather ? 0
                                                                                               : -1;
    const std::int64_t axis = node_.attributes.number(Attr::Axis, otherwise);
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }

  AxisName mark(AxisName name, bool whole) {
    if (whole) axes_.whole.push_back(name);
    return name;
  }

  std::optional<Names> name(const Shape& shape, std::string_view text) {
    if (text == "^") return permuted();
    if (text == "/") return not_reduced(shape);
    const std::vector<Token> tokens = tokens_of(text);
    const auto stars = std::count_if(tokens.begin(), tokens.end(),
                                     [](const Token& token) { return token.letter == '*'; });
    if (text == "i") return indices(shape.rank());
    if (stars == 2) return around_axis(shape.rank(), tokens);
    const int rest = shape.rank() - static_cast<int>(tokens.size()) + static_cast<int>(stars);
    if (rest < 0 || (stars == 0 && rest > 0)) return {};
    Names names;
    for (const Token& token : tokens) {
      if (token.letter != '*') {
        names.push_back(mark(token.letter, token.whole));
        continue;
      }
      for (int i = rest; i-- > 0;) names.push_back(mark(kOther + i, token.whole));
    }
    return names;
  }

  static Names indices(int rank) {
    Names names;
    for (int i = 0; i < rank; ++i) names.push_back(kIndex + i);
    return names;
  }

  // Axes before the one that the attribute names, that one or the indices in its place, those
  // behind.
  std::optional<Names> around_axis(int rank, const std::vector<Token>& tokens) {
    const bool looked_up = tokens[1].letter == 'i';
    const int width = looked_up ? shape(node_.inputs[1]).rank() : 1;
    const int axis = attribute_axis(looked_up ? rank - width + 1 : rank);
    if (axis < 0 || axis + width > rank) return {};
    Names names;
    for (int i = 0; i < axis; ++i) names.push_back(kOther + i);
    for (int i = 0; i < width; ++i) {
      names.push_back(looked_up ? kIndex + i : mark(kAttributeAxis, tokens[1].whole));
    }
    for (int i = axis + width; i < rank; ++i) names.push_back(kBehind + i - axis - width);
    return names;
  }

  std::optional<Names> permuted() const {
    const std::vector<Dim>* order = node_.attributes.find(Attr::Axes);
    if (order == nullptr) return {};
    Names names;
    for (const Dim& from : *order) {
      names.push_back(axes_.inputs.front()[static_cast<std::size_t>(from.factor)]);
    }
    return names;
  }

  // Those that are left; reduced ones of size 1 stand for none.
  std::optional<Names> not_reduced(const Shape& result) {
    const Names& from = axes_.inputs.front();
    const std::vector<Dim>* axes = node_.attributes.find(Attr::Axes);
    const bool keep = node_.attributes.number(Attr::KeepDims, 0) != 0;
    std::vector<bool> gone(from.size(), axes == nullptr);
    for (const Dim& given : axes == nullptr ? std::vector<Dim>{} : *axes) {
      const auto rank = static_cast<std::int64_t>(from.size());
      gone[static_cast<std::size_t>(given.factor < 0 ? given.factor + rank : given.factor)] = true;
    }
    Names names;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (gone[i] && node_.kind == Kind::ArgMax) axes_.whole.push_back(from[i]);
      if (!gone[i]) names.push_back(from[i]);
      if (gone[i] && keep) names.push_back(kNoAxis);
    }
    if (static_cast<int>(names.size()) != result.rank()) return {};
    return names;
  }

  void transpose_operands() {
    if (node_.kind != Kind::MatMul) return;
    for (std::size_t i = 0; i < 2; ++i) {
      if (node_.attributes.number(i == 0 ? Attr::TransposeA : Attr::TransposeB, 0) == 0) continue;
      Names& names = axes_.inputs[i];
      std::swap(names[names.size() - 1], names[names.size() - 2]);
    }
  }

  void mark_padding() {
    if (node_.kind != Kind::Pad) return;
    const std::vector<Dim>* padding = node_.attributes.find(Attr::Padding);
    const Names& names = axes_.inputs.front();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool none =
          padding != nullptr && (*padding)[i] == Dim(0) && (*padding)[i + names.size()] == Dim(0);
      if (!none) axes_.whole.push_back(names[i]);
    }
  }

  // An axis of one value where others have more.
  void drop_broadcast() {
    const auto is_longer = [&](AxisName name, const std::vector<TensorId>& ids,
                               const std::vector<Names>& all) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t a = 0; a < all[i].size(); ++a) {
          if (all[i][a] == name && !(shape(ids[i])[static_cast<int>(a)] == Dim(1))) return true;
        }
      }
      return false;
    };
    for (std::size_t i = 0; i < axes_.inputs.size(); ++i) {
      for (std::size_t a = 0; a < axes_.inputs[i].size(); ++a) {
        AxisName& name = axes_.inputs[i][a];
        if (!(shape(node_.inputs[i])[static_cast<int>(a)] == Dim(1))) continue;
        if (is_longer(name, node_.inputs, axes_.inputs) ||
            is_longer(name, node_.outputs, axes_.outputs)) {
          name = kNoAxis;
        }
      }
    }
  }

  const Graph& graph_;
  const Node& node_;
  NodeAxes axes_;
};

// Axes of both shapes whose products are the same.
struct Group {
  int first_from = 0;
  int end_from = 0;
  int first_to = 0;
  int end_to = 0;
};

// The group that has the axis.
std::optional<Group> group_of(const Shape& from, const Shape& to, int axis) {
  Group group;
  while (group.end_from < from.rank()) {
    group = {group.end_from, group.end_from + 1, group.end_to, group.end_to};
    Dim left = from[group.first_from];
    Dim right(1);
    Dim quotient;
    while (!(left == right)) {
      const bool more_left = group.end_to > group.first_to && divides(left, right, quotient);
      if (more_left && group.end_from < from.rank()) {
        left = left * from[group.end_from++];
      } else if (group.end_to < to.rank()) {
        right = right * to[group.end_to++];
      } else {
        return std::nullopt;
      }
    }
    if (axis < group.end_from) return group;
  }
  return std::nullopt;
}

}  // namespace

std::optional<NodeAxes> axes_of(const Graph& graph, const Node& node) {
  return Naming(graph, node).run();
}

std::optional<AxisFactor> through_reshape(const Shape& from, const Shape& to,
                                          const AxisFactor& factor) {
  const std::optional<Group> group = group_of(from, to, factor.axis);
  if (!group) return std::nullopt;
  Dim outer = factor.outer;
  for (int axis = group->first_from; axis < factor.axis; ++axis) outer = outer * from[axis];
  for (int axis = group->first_to; axis < group->end_to; ++axis) {
    Dim rest;
    if (!divides(outer, to[axis], rest)) {
      if (!divides(to[axis], outer, outer)) return std::nullopt;
      continue;
    }
    if (!(rest == Dim(1))) return AxisFactor{axis, outer};
    outer = Dim(1);
  }
  return std::nullopt;
}

}  // namespace foretrain::graph
