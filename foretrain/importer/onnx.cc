// SPDX-License-Identifier: Apache-2.0
#include "foretrain/importer/onnx.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/importer/onnx_import.h"

namespace foretrain::importer {
namespace {

std::string named(const std::filesystem::path& file) {
  return "file '" + printable(file.string(), 150) + "'";
}

// A file's bytes, of which only those that are looked at are read.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file) {
    const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (handle < 0) {
      throw Error(ErrorKind::Io, named(file) +
                                     ": cannot be opened; check that it is there and that "
                                     "you may read it");
    }
    struct stat status {};
    const bool regular = ::fstat(handle, &status) == 0 && S_ISREG(status.st_mode);
    size_ = regular ? static_cast<std::size_t>(status.st_size) : 0;
    if (size_ > 0) begin_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, handle, 0);
    ::close(handle);
    if (!regular) throw Error(ErrorKind::BadInput, named(file) + ": is not a regular file");
    if (size_ == 0) throw Error(ErrorKind::BadInput, named(file) + ": is empty");
    if (begin_ == MAP_FAILED) throw Error(ErrorKind::Io, named(file) + ": cannot be read");
    ::madvise(begin_, size_, MADV_RANDOM);  // skipping must not read ahead
  }
  ~MappedFile() { ::munmap(begin_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view content() const { return {static_cast<const char*>(begin_), size_}; }

 private:
  void* begin_ = MAP_FAILED;
  std::size_t size_ = 0;
};

}  // namespace

// ModelProto begins with ir_version (field 1, a small varint), then producer, graph or opset.
bool is_onnx(std::string_view content) {
  if (content.size() < 3 || content[0] != 0x08) return false;
  constexpr std::string_view kNext = "\x12\x1a\x22\x28\x32\x3a\x42";
  return content[1] > 1 && content[1] < 64 && kNext.find(content[2]) != std::string_view::npos;
}

graph::Graph read_onnx(const std::filesystem::path& file, const graph::Binding& values) {
  const MappedFile mapped(file);
  graph::Graph graph = read_onnx(mapped.content(), named(file), values);
  graph.name = file.stem().string();
  return graph;
}

graph::Graph read_onnx(std::string_view content, const std::string& where,
                       const graph::Binding& values) {
  try {
    if (content.empty()) throw Error(ErrorKind::BadInput, "is empty");
    return translate_onnx(parse_onnx(content), values);
  } catch (const Error& error) {
    throw Error(error.kind(), printable(where, 200) + ": " + error.what());
  }
}

}  // namespace foretrain::importer
