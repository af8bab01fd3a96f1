// SPDX-License-Identifier: Apache-2.0
// Whatever an ONNX file says: it is refused with an Error of one line, or it is a well-formed
// graph that can be counted and trained.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/graph/backward.h"
#include "foretrain/graph/passes.h"
#include "foretrain/importer/onnx.h"
#include "foretrain/importer/onnx/rules.h"
#include "foretrain/importer/test_round_trip.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace foretrain;  // NOLINT: a program of its own

using importer::require;
using importer::require_well_formed;

// A graph that is long because of its loops takes as long in each pass, which is no finding.
constexpr std::size_t kMostNodes = 10'000;

void run(std::string_view content) {
  const graph::Graph model = importer::read_onnx(content, "fuzz");
  require_well_formed(model);
  if (model.nodes.size() > kMostNodes) return;
  graph::Graph step;
  try {
    importer::require_counts(model);
    step = graph::backward(graph::expand_attention(model));
  } catch (const Error&) {
    return;  // a pass may refuse a graph
  }
  require_well_formed(step);
}

// A field of a message: a number, or bytes that may be a message themselves.
struct Field {
  std::uint64_t tag = 0;
  std::uint64_t number = 0;
  std::string bytes;
  std::vector<Field> fields;
};
using Fields = std::vector<Field>;

constexpr int kDeepest = 10;

std::optional<std::uint64_t> take_varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

// The fields of a message, or none where the bytes are something else.
Fields fields_of(std::string_view text, int depth) {
  Fields fields;
  while (!text.empty()) {
    const auto tag = take_varint(text);
    const unsigned form = tag ? static_cast<unsigned>(*tag & 7U) : 7U;
    const auto number = form == 0 || form == 2 ? take_varint(text) : 0;
    if (!tag || *tag < 8 || *tag > 0x200 || !number) return {};
    const std::uint64_t length = form == 2 ? *number : form == 1 ? 8 : form == 5 ? 4 : 0;
    if ((form != 0 && length == 0 && form != 2) || length > text.size()) return {};
    Field field{*tag, *number, std::string(text.substr(0, length)), {}};
    text.remove_prefix(length);
    if (form == 2 && depth < kDeepest) field.fields = fields_of(field.bytes, depth + 1);
    fields.push_back(std::move(field));
  }
  return fields;
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7U) out += static_cast<char>((value & 127U) | 128U);
  out += static_cast<char>(value);
}

std::string written(const Fields& fields) {
  std::string out;
  for (const Field& field : fields) {
    const std::string bytes = field.fields.empty() ? field.bytes : written(field.fields);
    append_varint(out, field.tag);
    if ((field.tag & 7U) == 0) append_varint(out, field.number);
    if ((field.tag & 7U) == 2) append_varint(out, bytes.size());
    out += bytes;
  }
  return out;
}

// Changes one field somewhere; lengths are made to fit when the message is written again.
class Mutation {
 public:
  explicit Mutation(unsigned seed) : random_(seed) {}

  void apply(Fields& all) {
    Fields* list = &all;
    for (;;) {
      Field& field = (*list)[draw(list->size())];
      if (field.fields.empty() || draw(6) == 0) break;
      list = &field.fields;
    }
    const std::size_t a = draw(list->size());
    const std::size_t b = draw(list->size());
    switch (draw(6)) {
      case 0:
        list->insert(list->begin() + static_cast<std::ptrdiff_t>(b), Field((*list)[a]));
        break;
      case 1:
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(a));
        break;
      case 2:
        std::swap((*list)[a], (*list)[b]);
        break;
      default:
        change((*list)[a], (*list)[b]);
    }
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }

  void change(Field& field, const Field& other) {
    static constexpr std::array<std::uint64_t, 14> kNumbers{
        0, 1, 2, 3, 4, 6, 7, 8, 9, 64, 65536, 1ULL << 31U, 1ULL << 62U, ~0ULL};
    field.number = kNumbers[draw(kNumbers.size())];
    if (!field.fields.empty() || (field.tag & 7U) != 2) return;
    switch (draw(3)) {
      case 0:
        field.bytes = operators_[draw(operators_.size())];
        break;
      case 1:
        if (other.fields.empty()) field.bytes = other.bytes;
        break;
      default: {
        const std::size_t size = field.bytes.size();
        field.bytes.resize(size + 8);
        field.bytes.resize(
            LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(field.bytes.data()), size, size + 8));
      }
    }
  }

  std::minstd_rand random_;
  std::vector<std::string> operators_ = importer::ruled_operators("");
};

}  // namespace

// Most changes of bytes do not even leave messages, so most changes are made to fields.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  Fields fields = fields_of({reinterpret_cast<const char*>(data), size}, 0);
  Mutation mutation(seed);
  for (unsigned i = 0; i <= seed % 3 && !fields.empty(); ++i) mutation.apply(fields);
  const std::string text = written(fields);
  if (seed % 8 == 0 || text.empty() || text.size() > most) {
    return LLVMFuzzerMutate(data, size, most);
  }
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    run({reinterpret_cast<const char*>(data), size});
  } catch (const Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
