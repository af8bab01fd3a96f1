// SPDX-License-Identifier: Apache-2.0
#include "foretrain/profile/recording_file.h"

#include <array>
#include <charconv>
#include <cmath>
#include <istream>
#include <streambuf>

#include "foretrain/base/csv.h"
#include "foretrain/base/error.h"
#include "foretrain/profile/detail/recording_readers.h"
#include "foretrain/profile/detail/recording_windows.h"

namespace foretrain::profile {
namespace {

constexpr std::size_t kMostBytes = 1 << 30;  // of a file

// A stream piece by piece, without its byte order mark; tells how much was read.
class Pieces : public std::streambuf {
 public:
  Pieces(std::istream& in, const std::string& name, const ReadOptions& options)
      : in_(in), name_(name), options_(options), piece_(1 << 16) {
    fill();
    if (unread().starts_with("\xEF\xBB\xBF")) setg(eback(), gptr() + 3, egptr());
  }

  // What of the piece was not taken yet.
  std::string_view unread() const { return {gptr(), static_cast<std::size_t>(egptr() - gptr())}; }

 protected:
  int_type underflow() override {
    return unread().empty() && !fill() ? traits_type::eof() : traits_type::to_int_type(*gptr());
  }

 private:
  bool fill() {
    in_.read(piece_.data(), static_cast<std::streamsize>(piece_.size()));
    if (in_.bad()) throw Error(ErrorKind::Io, name_ + ": cannot be read");
    setg(piece_.data(), piece_.data(), piece_.data() + in_.gcount());
    bytes_ += unread().size();
    if (bytes_ > kMostBytes) refuse(name_, "is larger than 1 GiB; cut it into parts");
    if (options_.on_read) options_.on_read(bytes_);
    return !unread().empty();
  }

  std::istream& in_;
  const std::string& name_;
  const ReadOptions& options_;
  std::vector<char> piece_;
  std::size_t bytes_ = 0;
};

// The beginning tells which tool wrote it.
RecordingRows read_rows(std::string_view beginning, std::istream& in, const std::string& name,
                        const ReadOptions& options) {
  const std::string_view first = beginning.substr(0, beginning.find('\n'));
  const auto says = [&](std::string_view word) { return first.find(word) != first.npos; };
  if (says("time_s")) return read_own(in, name);
  if (says("utilization.") || says("timestamp")) return read_smi(in, name);
  if (first.starts_with("#Entity") || first.starts_with("# Entity")) {
    return read_dcgm(in, name, options);
  }
  if (first.starts_with("#")) return read_dmon(in, name, options);
  if (says("Linux") || beginning.find("IFACE") != beginning.npos) {
    return read_sar(in, name, options);
  }
  refuse(name,
         "no recording: it begins neither with a line of columns that has time_s, nor as "
         "nvidia-smi, dmon, dcgmi dmon or sar -n DEV write");
}

// Nulls are no answer to a file that says nothing.
void require_samples(const Recording& recording, const std::string& name) {
  for (const RecordingColumn& column : recording.columns) {
    for (const double sample : column.samples) {
      if (std::isfinite(sample)) return;
    }
  }
  refuse(name, "none of its samples is a number; check that the right columns were recorded");
}

}  // namespace

Recording read_recording(std::istream& in, const std::string& name, const ReadOptions& options) {
  Pieces pieces(in, name, options);
  std::istream watched(&pieces);
  watched.exceptions(std::ios::badbit);  // what Pieces throws comes through
  Recording recording =
      into_windows(read_rows(pieces.unread(), watched, name, options), name, options);
  require_samples(recording, name);
  return recording;
}

std::string recording_csv(const Recording& recording) {
  std::string text = "time_s";
  for (const RecordingColumn& column : recording.columns) text += "," + csv_field(column.name);
  text += '\n';
  std::array<char, 64> digits{};
  const auto put = [&](double value) {
    if (!std::isfinite(value)) return;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text.append(digits.data(), end);
  };
  // Times as products of a rounded window would print with digits that mean nothing.
  const auto time_s = [&](std::size_t i) {
    return std::round(static_cast<double>(i) * recording.window.count() * 1e9) / 1e9;
  };
  for (std::size_t i = 0; i < length_of(recording); ++i) {
    put(time_s(i));
    for (const RecordingColumn& column : recording.columns) {
      text += ',';
      put(column.samples[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace foretrain::profile
