// SPDX-License-Identifier: Apache-2.0
#include "foretrain/base/csv.h"

#include <array>
#include <charconv>
#include <utility>

#include "foretrain/base/error.h"

namespace foretrain {
namespace {

constexpr int kEnd = -1;
constexpr std::size_t kBufferBytes = 1 << 16;
constexpr std::size_t kLongestField = 1 << 20;  // bytes
constexpr std::size_t kMostFields = 4096;

}  // namespace

CsvReader::CsvReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {
  buffer_.resize(kBufferBytes);
  fill();
  if (std::string_view(buffer_.data(), filled_).starts_with("\xEF\xBB\xBF")) place_ = 3;
}

bool CsvReader::fill() {
  in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  filled_ = static_cast<std::size_t>(in_.gcount());
  place_ = 0;
  bytes_ += filled_;
  if (in_.bad()) throw Error(ErrorKind::Io, name_ + ": cannot be read further");
  return filled_ > 0;
}

int CsvReader::peek() {
  if (place_ == filled_ && !fill()) return kEnd;
  return static_cast<unsigned char>(buffer_[place_]);
}

int CsvReader::get() {
  const int byte = peek();
  if (byte == kEnd) return kEnd;
  ++place_;
  if (byte == '\n') ++now_;
  return byte;
}

void CsvReader::fail(std::size_t line, const std::string& what) const {
  throw Error(ErrorKind::BadInput, name_ + ", line " + std::to_string(line) + ": " + what);
}

void CsvReader::put(std::string& field, int byte) const {
  if (byte == 0) fail(now_, "a NUL byte; this is no text file");
  if (field.size() >= kLongestField) {
    fail(line_, "a field of more than 1 MiB; is a quote left open?");
  }
  field += static_cast<char>(byte);
}

// After the opening quote, up to and with the closing one.
void CsvReader::read_quoted(std::string& field) {
  const std::size_t opened = now_;
  while (true) {
    const int byte = get();
    if (byte == kEnd) fail(opened, "the quote that opens here is never closed");
    if (byte != '"') {
      put(field, byte);
    } else if (peek() == '"') {
      put(field, get());
    } else {
      return;
    }
  }
}

// Up to a separator, which it returns: ',', '\n' or kEnd.
int CsvReader::read_plain(std::string& field) {
  bool closed = false;
  if (peek() == '"') {
    get();
    read_quoted(field);
    closed = true;
  }
  while (true) {
    const int byte = get();
    if (byte == ',' || byte == '\n' || byte == kEnd) return byte;
    if (byte == '\r' && (peek() == '\n' || peek() == kEnd)) continue;
    if (byte == '"') fail(now_, "a quote inside a field; write it twice and quote the field");
    if (closed) fail(now_, "text after the closing quote of a field");
    put(field, byte);
  }
}

bool CsvReader::next(std::vector<std::string>& fields) {
  while (true) {
    fields.clear();
    line_ = now_;
    if (peek() == kEnd) return false;
    bool quoted = false;
    for (int separator = ','; separator == ',';) {
      if (fields.size() == kMostFields) fail(line_, "more than 4096 fields");
      quoted = quoted || peek() == '"';
      separator = read_plain(fields.emplace_back());
    }
    const bool empty = fields.size() == 1 && fields.front().empty() && !quoted;
    if (!empty) return true;
  }
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

std::string csv_field(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

}  // namespace foretrain
