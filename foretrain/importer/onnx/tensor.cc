// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx/tensor.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "foretrain/importer/onnx/files.h"

namespace foretrain::importer {
namespace {

constexpr std::size_t kMostDims = 1'000;
constexpr std::size_t kLongestVector = std::size_t{1} << 20U;  // bytes that are compared

OnnxType known(std::int64_t type) {
  return type < 0 || type > 16 ? OnnxType::Last : static_cast<OnnxType>(type);
}

// How many values the shape has, or `most` + 1 where there are more.
std::uint64_t count_of(const std::vector<std::int64_t>& dims, std::uint64_t most) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim == 0) return 0;
  }
  for (const std::int64_t dim : dims) {
    if (dim < 0 || static_cast<std::uint64_t>(dim) > most) return most + 1;
    count *= static_cast<std::uint64_t>(dim);
    if (count > most) return most + 1;
  }
  return count;
}

double from_half(std::uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10U) & 31U);
  const auto fraction = static_cast<double>(bits & 1023U);
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? HUGE_VAL : NAN;
  return (bits & 0x8000U) != 0 ? -value : value;
}

double from_bfloat(std::uint32_t bits) { return std::bit_cast<float>(bits << 16U); }

template <typename Number, typename Value>
void decode(std::string_view raw, std::vector<Value>& values) {
  for (std::size_t at = 0; at + sizeof(Number) <= raw.size(); at += sizeof(Number)) {
    Number number{};
    std::memcpy(&number, raw.data() + at, sizeof number);
    values.push_back(static_cast<Value>(number));
  }
}

// Values as they lie in raw_data: little-endian, in the tensor's own type.
void decode_raw(OnnxTensor& tensor, std::string_view raw) {
  switch (known(tensor.type)) {
    case OnnxType::Float:
      return decode<float>(raw, tensor.reals);
    case OnnxType::Double:
      return decode<double>(raw, tensor.reals);
    case OnnxType::Uint8:
    case OnnxType::Bool:
      return decode<std::uint8_t>(raw, tensor.integers);
    case OnnxType::Int8:
      return decode<std::int8_t>(raw, tensor.integers);
    case OnnxType::Uint16:
      return decode<std::uint16_t>(raw, tensor.integers);
    case OnnxType::Int16:
      return decode<std::int16_t>(raw, tensor.integers);
    case OnnxType::Uint32:
      return decode<std::uint32_t>(raw, tensor.integers);
    case OnnxType::Int32:
      return decode<std::int32_t>(raw, tensor.integers);
    case OnnxType::Uint64:
    case OnnxType::Int64:
      return decode<std::int64_t>(raw, tensor.integers);
    case OnnxType::Float16:
    case OnnxType::Bfloat16: {
      const bool half = known(tensor.type) == OnnxType::Float16;
      for (std::size_t at = 0; at + 2 <= raw.size(); at += 2) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, raw.data() + at, sizeof bits);
        tensor.reals.push_back(half ? from_half(bits) : from_bfloat(bits));
      }
      return;
    }
    default:
      return;
  }
}

// Where in another file values lie.
struct External {
  std::string_view location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

// Where the values of one tensor lie, until its type and shape are known.
struct Data {
  External external;
  std::string_view raw;
  std::vector<WireReader> integers;  // int32_data, int64_data, uint64_data
  std::vector<WireReader> reals;     // float_data
  std::vector<WireReader> doubles;
};

// Exporters merge vectors that are equal, which new ones (all ones, all zeros) often are.
bool is_uniform(const OnnxTensor& tensor, std::size_t size, OnnxFiles& files) {
  const std::string_view raw = tensor.raw;
  if (tensor.dims.size() != 1 || size == 0 || raw.size() < 2 * size ||
      raw.size() > kLongestVector) {
    return false;
  }
  files.load(raw);
  return raw.substr(size) == raw.substr(0, raw.size() - size);
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// One entry of external_data.
void parse_external(WireReader in, External& external) {
  std::string_view key;
  std::string_view value;
  while (in.next()) {
    if (in.field() == 1) key = in.bytes();
    if (in.field() == 2) value = in.bytes();
  }
  if (key == "location") external.location = value;
  if (key == "offset") external.offset = number_of(value).value_or(0);
  if (key == "length") external.length = number_of(value);
}

void keep_values(OnnxTensor& tensor, const Data& data, OnnxFiles& files) {
  const std::uint64_t count = count_of(tensor.dims, kMostOnnxValues);
  if (known(tensor.type) == OnnxType::String || count > kMostOnnxValues) return;
  const std::string_view raw = data.raw.substr(0, kMostOnnxValues * sizeof(std::int64_t));
  files.load(raw);
  decode_raw(tensor, raw);
  for (const WireReader& part : data.integers)
    part.append_integers(tensor.integers, kMostOnnxValues);
  for (const WireReader& part : data.reals) part.append_reals(tensor.reals, kMostOnnxValues);
  for (const WireReader& part : data.doubles) {
    const std::string_view numbers = part.place().substr(0, kMostOnnxValues * sizeof(double));
    files.load(numbers);
    decode<double>(numbers, tensor.reals);
  }
  const bool halves = is_short_float(tensor.type) && !tensor.integers.empty();
  if (halves) {  // 16-bit floats that are no raw data lie in int32_data as bits
    const bool half = known(tensor.type) == OnnxType::Float16;
    for (const std::int64_t value : tensor.integers) {
      const auto bits = static_cast<std::uint32_t>(value) & 0xffffU;
      tensor.reals.push_back(half ? from_half(bits) : from_bfloat(bits));
    }
    tensor.integers.clear();
  }
  const bool real = is_floating(type_of_onnx(tensor.type));
  const std::size_t found = real ? tensor.reals.size() : tensor.integers.size();
  if (found == count) return;
  tensor.reals.clear();
  tensor.integers.clear();
}

// Keeps few values, remembers where many lie.
void set_values(OnnxTensor& tensor, Data& data, OnnxFiles& files) {
  const External& other = data.external;
  if (data.raw.empty() && !other.location.empty()) {
    data.raw = files.find(other.location, other.offset, other.length);
  }
  keep_values(tensor, data, files);
  const bool packed = data.raw.empty() && data.reals.size() == 1;
  tensor.raw = packed && data.reals[0].is_list() ? data.reals[0].place() : data.raw;
  const std::uint64_t count = count_of(tensor.dims, std::uint64_t{1} << 48U);
  const std::uint64_t size = count == 0 ? 0 : tensor.raw.size() / count;
  if (size * count != tensor.raw.size()) tensor.raw = {};
  tensor.uniform = is_uniform(tensor, static_cast<std::size_t>(size), files);
}

}  // namespace

DType type_of_onnx(std::int64_t type) {
  switch (known(type)) {
    case OnnxType::Double:
    case OnnxType::Complex64:
      return DType::F64;
    case OnnxType::Uint64:
    case OnnxType::Int64:
      return DType::I64;
    case OnnxType::Uint16:
    case OnnxType::Int16:
    case OnnxType::Uint32:
    case OnnxType::Int32:
      return DType::I32;
    case OnnxType::Uint8:
    case OnnxType::Int8:
    case OnnxType::String:
      return DType::I8;
    case OnnxType::Bool:
      return DType::Bool;
    case OnnxType::Last:
      return type >= 17 && type <= 20 ? DType::F8 : DType::I8;
    default:
      return DType::F32;
  }
}

bool is_short_float(std::int64_t type) {
  return known(type) == OnnxType::Float16 || known(type) == OnnxType::Bfloat16;
}

OnnxTensor parse_onnx_tensor(WireReader in, OnnxFiles& files) {
  OnnxTensor tensor;
  Data data;
  while (in.next()) {
    switch (in.field()) {
      case 1:
        in.append_integers(tensor.dims, kMostDims);
        break;
      case 2:
        tensor.type = in.integer();
        break;
      case 4:
        if (data.reals.size() <= kMostOnnxValues) data.reals.push_back(in);
        break;
      case 5:
      case 7:
      case 11:
        if (data.integers.size() <= kMostOnnxValues) data.integers.push_back(in);
        break;
      case 8:
        tensor.name = in.bytes();
        break;
      case 9:
        data.raw = in.place();
        break;
      case 10:
        if (data.doubles.size() <= kMostOnnxValues) data.doubles.push_back(in);
        break;
      case 13:
        parse_external(in.message(), data.external);
        break;
      default:
        break;
    }
  }
  set_values(tensor, data, files);
  return tensor;
}

OnnxTensor parse_onnx_sparse_tensor(WireReader in, OnnxFiles& files) {
  OnnxTensor tensor;
  std::vector<std::int64_t> dims;
  while (in.next()) {
    if (in.field() == 1) tensor = parse_onnx_tensor(in.message(), files);
    if (in.field() == 3) in.append_integers(dims, kMostDims);
  }
  tensor.dims = std::move(dims);
  tensor.integers.clear();
  tensor.reals.clear();
  tensor.raw = {};
  tensor.uniform = false;
  return tensor;
}

}  // namespace foretrain::importer
