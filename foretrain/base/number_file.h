// SPDX-License-Identifier: Apache-2.0
// Files of numbers that were fitted or chosen, in groups, each with where it comes from:
//
//   {"format": "foretrain-straggling", "version": 1, "notes": ["..."],
//    "node": {"shared_slowdown": {"value": 0.03, "source": "..."}}}
//
// A number that a fit writes may stand alone; then the notes say where it comes from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

struct SourcedNumber {
  std::string group;
  std::string name;
  double value = 0;
  std::string source;  // "" where the file gives none
};

// Where a number of a file goes to.
struct NumberPlace {
  std::string group;
  std::string name;
  double* value;
};

// Every number of such a file. Fields of the top named by `others` are left to the caller. Throws
// Error(BadInput) naming `where` for another format or version, or what is no number from 0 to
// 1e15.
std::vector<SourcedNumber> read_number_file(std::string_view text, const std::string& where,
                                            std::string_view format,
                                            std::span<const std::string_view> others = {});

// Gives every place its number. Throws Error(BadInput) for one that is missing and for a number
// that has no place.
void assign_numbers(std::span<const SourcedNumber> numbers, std::span<const NumberPlace> places,
                    const std::string& where);

// The file of these numbers; `notes` are lines of text that say where they come from.
std::string write_number_file(std::string_view format, std::span<const NumberPlace> places,
                              std::span<const std::string> notes);

}  // namespace foretrain
