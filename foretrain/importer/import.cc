// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/import.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <istream>
#include <system_error>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/near.h"
#include "foretrain/importer/ftg.h"
#include "foretrain/importer/onnx.h"

namespace foretrain::importer {
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{2} << 30;
constexpr std::uintmax_t kLargestText = std::uintmax_t{512} << 20;  // of a graph as JSON
constexpr std::string_view kBlank = " \t\r\n";

constexpr std::array<std::string_view, 10> kExtensions{
    ".json", ".onnx", ".pb", ".pbtxt", ".pt", ".pth", ".py", ".ckpt", ".h5", ".safetensors"};

// Files of PyTorch hold weights or a program, no graph.
constexpr const char* kInstead =
    "; use .onnx, or .ftg.json as Python's foretrain.from_torch(module, inputs).save() writes it";

bool begins(std::string_view content, std::initializer_list<int> bytes) {
  if (content.size() < bytes.size()) return false;
  return std::equal(bytes.begin(), bytes.end(), content.begin(),
                    [](int byte, char c) { return byte == static_cast<unsigned char>(c); });
}

// What a file that is not JSON seems to be, or "".
std::string_view foreign_format(std::string_view content, std::string_view text) {
  if (begins(content, {0x08, 0x01, 0x12})) return "a TensorFlow SavedModel";
  if (begins(content, {'P', 'K', 0x03, 0x04})) return "a PyTorch archive";
  if (begins(content, {0x80, 0x02}) || begins(content, {0x80, 0x04})) return "a Python pickle";
  if (begins(content, {0x89, 'H', 'D', 'F'})) return "a Keras HDF5 file";
  if (text.starts_with("node {") || text.starts_with("node{"))
    return "a TensorFlow GraphDef as text";
  // GraphDef begins with a node (field 1), which begins with its name (field 1).
  if (content.size() > 4 && content[0] == 0x0a &&
      content.substr(2, 3).find('\x0a') != std::string_view::npos) {
    return "a TensorFlow GraphDef";
  }
  return "";
}

// Of a file that may be too large to be read as a whole.
bool begins_as_onnx(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  std::array<char, 16> first{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(first.data(), first.size());
  return is_onnx({first.data(), static_cast<std::size_t>(stream.gcount())});
}

// "height=224,width=224"
graph::Binding sizes_of(std::string_view parameters, const std::string& where) {
  graph::Binding sizes;
  while (!parameters.empty()) {
    const std::string_view entry = parameters.substr(0, parameters.find(','));
    parameters.remove_prefix(std::min(entry.size() + 1, parameters.size()));
    const std::size_t equals = entry.rfind('=');
    const std::string_view digits =
        equals == std::string_view::npos ? "" : entry.substr(equals + 1);
    std::int64_t size = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) {
      throw Error(ErrorKind::BadInput, where + ": '" + printable(entry) +
                                           "' is no size of an input; sizes are given as "
                                           "height=224,width=224");
    }
    sizes.emplace_back(std::string(entry.substr(0, equals)), size);
  }
  return sizes;
}

// How much is read of a file that begins so: of what is neither JSON nor ONNX only this beginning,
// which says what it is.
std::uintmax_t most_bytes_of(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(kBlank);
  if (first != std::string_view::npos && beginning[first] == '{') return kLargestText;
  return is_onnx(beginning) ? kLargestFile : 0;
}

bool has_extension(std::string_view file) {
  return std::any_of(kExtensions.begin(), kExtensions.end(),
                     [file](std::string_view extension) { return file.ends_with(extension); });
}

}  // namespace

std::string read_content(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(file / "saved_model.pb", error)) {
    throw Error(ErrorKind::Unsupported, named(file) +
                                            ": this looks like a TensorFlow SavedModel, which "
                                            "cannot be read yet; use .onnx");
  }
  return read_file(file, kLargestFile, most_bytes_of);
}

std::string read_content(std::istream& stream, const std::string& where) {
  std::string content;
  std::uintmax_t most_bytes = 0;
  std::vector<char> part(1 << 16);
  while (stream.read(part.data(), static_cast<std::streamsize>(part.size())) ||
         stream.gcount() > 0) {
    const bool begins = content.empty();
    content.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    if (begins) most_bytes = most_bytes_of(content);
    if (most_bytes == 0) break;  // read_model says what it is not
    if (content.size() <= most_bytes) continue;
    throw Error(ErrorKind::BadInput, printable(where, 200) + ": larger than " +
                                         std::to_string(most_bytes >> 20) + " MiB");
  }
  return content;
}

graph::Graph read_model(std::string_view content, const std::string& where) {
  const std::size_t first = content.find_first_not_of(kBlank);
  const std::string_view text = first == std::string_view::npos ? "" : content.substr(first);
  if (text.empty()) throw Error(ErrorKind::BadInput, printable(where, 200) + ": is empty");
  if (text.front() == '{') {
    const bool config = text.find("\"model_type\"") != std::string_view::npos &&
                        text.find("\"foretrain-graph\"") == std::string_view::npos;
    if (config) {
      throw Error(ErrorKind::Unsupported, printable(where, 200) +
                                              ": this looks like a Hugging Face config.json, which "
                                              "is read from a file of its own");
    }
    return read_ftg(content, where);
  }
  if (is_onnx(content)) return read_onnx(content, where);
  const std::string_view format = foreign_format(content, text);
  if (!format.empty()) {
    throw Error(ErrorKind::Unsupported, printable(where, 200) + ": this looks like " +
                                            std::string(format) + ", which cannot be read yet" +
                                            kInstead);
  }
  throw Error(ErrorKind::BadInput,
              printable(where, 200) +
                  ": is not a model file: neither ONNX nor .ftg.json, which begins with '{'" +
                  kInstead);
}

graph::Graph import_model(const std::filesystem::path& file, std::string_view parameters,
                          const std::filesystem::path& external) {
  if (begins_as_onnx(file)) return read_onnx(file, sizes_of(parameters, named(file)), external);
  const std::string content = read_content(file);
  if (!parameters.empty()) {
    throw Error(ErrorKind::BadInput, named(file) + ": takes no parameters such as '" +
                                         printable(parameters) +
                                         "'; an ONNX file and a Hugging Face config.json do");
  }
  return read_model(content, named(file));
}

bool looks_like_file(std::string_view model) {
  if (model.find_first_of("/\\") != std::string_view::npos) return true;
  return has_extension(split_parameters(model).file);
}

FileModel split_parameters(std::string_view model) {
  for (std::size_t colon = model.find(':'); colon != std::string_view::npos;
       colon = model.find(':', colon + 1)) {
    const std::string_view file = model.substr(0, colon);
    if (has_extension(file)) return {std::string(file), std::string(model.substr(colon + 1))};
  }
  return {std::string(model), ""};
}

}  // namespace foretrain::importer
