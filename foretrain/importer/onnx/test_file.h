// SPDX-License-Identifier: Apache-2.0
// Writes ONNX files for tests, by hand: the encoding of protobuf and the messages of onnx.proto.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace foretrain::importer::testing {

using Size = std::variant<int, const char*>;  // of a dimension: a number or a name
using Names = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

inline constexpr int kFloat = 1;
inline constexpr int kInt64 = 7;
inline constexpr int kBool = 9;
inline constexpr int kFloat16 = 10;

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  while (value >= 128) {
    bytes += static_cast<char>((value & 127U) | 128U);
    value >>= 7U;
  }
  return bytes + static_cast<char>(value);
}

inline std::string number(int field, std::int64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3U) +
         varint(static_cast<std::uint64_t>(value));
}

inline std::string text(int field, const std::string& bytes) {
  return varint((static_cast<std::uint64_t>(field) << 3U) | 2U) + varint(bytes.size()) + bytes;
}

template <typename Value>
std::string raw(const std::vector<Value>& values) {
  std::string bytes(values.size() * sizeof(Value), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::string tensor(const std::string& name, int type, const Numbers& dims,
                          const std::string& data = "") {
  std::string bytes;
  for (const std::int64_t dim : dims) bytes += number(1, dim);
  bytes += number(2, type) + text(8, name);
  return data.empty() ? bytes : bytes + text(9, data);
}

inline std::string integers(const std::string& name, const Numbers& values) {
  return tensor(name, kInt64, {static_cast<std::int64_t>(values.size())}, raw(values));
}

inline std::string scalar(const std::string& name, float value) {
  return tensor(name, kFloat, {}, raw(std::vector<float>{value}));
}

inline std::string scalar_integer(const std::string& name, std::int64_t value) {
  return tensor(name, kInt64, {}, raw(Numbers{value}));
}

inline std::string attribute(const std::string& name, std::int64_t value) {
  return text(1, name) + number(3, value);
}
inline std::string attribute(const std::string& name, int value) {
  return attribute(name, std::int64_t{value});
}
inline std::string attribute(const std::string& name, float value) {
  return text(1, name) + varint((2U << 3U) | 5U) + raw(std::vector<float>{value});
}
inline std::string attribute(const std::string& name, const char* value) {
  return text(1, name) + text(4, value);
}
inline std::string attribute(const std::string& name, const Numbers& values) {
  std::string bytes = text(1, name);
  for (const std::int64_t value : values) bytes += number(8, value);
  return bytes;
}
inline std::string tensor_attribute(const std::string& name, const std::string& tensor) {
  return text(1, name) + text(5, tensor);
}
inline std::string graph_attribute(const std::string& name, const std::string& graph) {
  return text(1, name) + text(6, graph);
}
inline std::string argument(const std::string& name, const std::string& refers_to) {
  return text(1, name) + text(21, refers_to);
}

inline std::string node(const std::string& op, const Names& inputs, const Names& outputs,
                        const std::vector<std::string>& attributes = {},
                        const std::string& name = "", const std::string& domain = "") {
  std::string bytes;
  for (const std::string& input : inputs) bytes += text(1, input);
  for (const std::string& output : outputs) bytes += text(2, output);
  if (!name.empty()) bytes += text(3, name);
  bytes += text(4, op);
  for (const std::string& attribute : attributes) bytes += text(5, attribute);
  if (!domain.empty()) bytes += text(7, domain);
  return bytes;
}

inline std::string value(const std::string& name, const std::vector<Size>& dims,
                         int type = kFloat) {
  std::string shape;
  for (const Size& dim : dims) {
    const bool is_number = std::holds_alternative<int>(dim);
    shape +=
        text(1, is_number ? number(1, std::get<int>(dim)) : text(2, std::get<const char*>(dim)));
  }
  return text(1, name) + text(2, text(1, number(1, type) + text(2, shape)));
}

// A GraphProto or ModelProto that grows.
class File {
 public:
  File& input(const std::string& name, const std::vector<Size>& dims, int type = kFloat) {
    return add(11, value(name, dims, type));
  }
  File& output(const std::string& name) { return add(12, text(1, name)); }
  File& stated(const std::string& name, const std::vector<Size>& dims, int type = kFloat) {
    return add(13, value(name, dims, type));
  }
  File& stored(const std::string& tensor) { return add(5, tensor); }
  File& weight(const std::string& name, const Numbers& dims) {
    return stored(tensor(name, kFloat, dims));
  }
  File& list(const std::string& name, const Numbers& values) {
    return stored(integers(name, values));
  }
  File& run(const std::string& op, const Names& inputs, const Names& outputs,
            const std::vector<std::string>& attributes = {}, const std::string& name = "",
            const std::string& domain = "") {
    return add(1, node(op, inputs, outputs, attributes, name, domain));
  }
  File& opset(std::int64_t version) {
    opset_ = version;
    return *this;
  }
  File& function(const std::string& bytes) {
    functions_ += text(25, bytes);
    return *this;
  }

  std::string graph() const { return graph_; }
  std::string bytes() const {
    return number(1, 8) + text(2, "test") + text(7, text(2, "g") + graph_) +
           text(8, number(2, opset_)) + text(8, text(1, "com.microsoft") + number(2, 1)) +
           functions_;
  }

 private:
  File& add(int field, const std::string& bytes) {
    graph_ += text(field, bytes);
    return *this;
  }

  std::string graph_;
  std::string functions_;
  std::int64_t opset_ = 17;
};

}  // namespace foretrain::importer::testing
