// SPDX-License-Identifier: Apache-2.0
// What a row of the table of fields takes from the member of Request that holds the value.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "foretrain/request/request_fields.h"

namespace foretrain::detail {

// The words of an enumeration, in its order.
template <typename Enum>
inline constexpr auto kEnumWords = nullptr;

template <>
inline constexpr auto kEnumWords<Precision> = [] {
  std::array<std::string_view, kPrecisionNames.size()> words;
  std::copy(kPrecisionNames.begin(), kPrecisionNames.end(), words.begin());
  return words;
}();

template <>
inline constexpr auto kEnumWords<Weights> = [] {
  std::array<std::string_view, kWeightsNames.size()> words;
  std::copy(kWeightsNames.begin(), kWeightsNames.end(), words.begin());
  return words;
}();

template <>
inline constexpr auto kEnumWords<graph::Optimizer> = [] {
  std::array<std::string_view, graph::kOptimizers.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = graph::kOptimizers[i].name;
  return words;
}();

template <>
inline constexpr std::array<std::string_view, 2> kEnumWords<Mode>{"train", "inference"};

template <>
inline constexpr std::array<std::string_view, 9> kEnumWords<Parallel>{
    "ddp", "allreduce", "dataparallel", "ps", "horovod", "fsdp", "zero1", "zero2", "zero3"};
static_assert(kEnumWords<Parallel>.size() == static_cast<std::size_t>(Parallel::Zero3) + 1);

template <typename T>
struct Optional : std::false_type {};
template <typename T>
struct Optional<std::optional<T>> : std::true_type {};

template <typename T>
struct Member;
template <typename Owner, typename T>
struct Member<T Owner::*> {
  using Value = T;
  static constexpr bool kOfStrategy = std::is_same_v<Owner, Strategy>;
};

// Of a member, an optional one or not.
template <typename T>
constexpr FieldType type_of() {
  if constexpr (Optional<T>::value) return type_of<typename T::value_type>();
  if constexpr (std::is_same_v<T, bool>) return FieldType::Boolean;
  if constexpr (std::is_same_v<T, double>) return FieldType::Number;
  if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::int64_t>)
    return FieldType::Integer;
  if constexpr (std::is_same_v<T, std::vector<int>>) return FieldType::Integers;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return FieldType::Texts;
  if constexpr (std::is_same_v<T, Described>) return FieldType::Described;
  if constexpr (std::is_same_v<T, Strategy>) return FieldType::Object;
  return FieldType::Text;
}

template <typename T>
FieldValue to_value(const T& member) {
  if constexpr (Optional<T>::value) {
    return member ? to_value(*member) : FieldValue{};
  } else if constexpr (std::is_same_v<T, int>) {
    return std::int64_t{member};
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(kEnumWords<T>.at(static_cast<std::size_t>(member)));
  } else {
    return member;
  }
}

template <typename T>
void from_value(FieldValue&& value, T& member) {
  if constexpr (Optional<T>::value) {
    from_value(std::move(value), member.emplace());
  } else if constexpr (std::is_same_v<T, int>) {
    member = static_cast<int>(std::get<std::int64_t>(value));
  } else if constexpr (std::is_enum_v<T>) {
    const auto word =
        std::find(kEnumWords<T>.begin(), kEnumWords<T>.end(), std::get<std::string>(value));
    member = static_cast<T>(word - kEnumWords<T>.begin());
  } else {
    member = std::get<T>(std::move(value));
  }
}

template <auto kMember, typename AnyRequest>
auto& member_of(AnyRequest& request) {
  if constexpr (Member<decltype(kMember)>::kOfStrategy) {
    return request.strategy.*kMember;
  } else {
    return request.*kMember;
  }
}

// The row with what follows from the member.
template <auto kMember>
constexpr RequestField field(RequestField row) {
  using Value = typename Member<decltype(kMember)>::Value;
  row.type = type_of<Value>();
  row.of_strategy = Member<decltype(kMember)>::kOfStrategy;
  if constexpr (!std::is_same_v<Value, Strategy>) {
    row.value = [](const Request& request) { return to_value(member_of<kMember>(request)); };
    row.store = [](Request& request, FieldValue value) {
      from_value(std::move(value), member_of<kMember>(request));
    };
  }
  if constexpr (std::is_enum_v<Value>) row.words = kEnumWords<Value>;
  if constexpr (std::is_same_v<Value, Strategy>) row.words = kEnumWords<Parallel>;
  return row;
}

}  // namespace foretrain::detail
