// SPDX-License-Identifier: Apache-2.0
#include "foretrain/store/detail/read_row.h"

#include <algorithm>
#include <initializer_list>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/store/store.h"

namespace foretrain::store {
namespace {

void check_filled(const char* column, const std::string& text, const Sheet& sheet) {
  if (text.empty()) sheet.fail(std::string("column ") + column + " is empty");
}

void check_word(const char* column, const std::string& word,
                std::initializer_list<const char*> known, const Sheet& sheet) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  std::string list;
  for (const char* one : known) list += std::string(list.empty() ? "'" : ", '") + one + "'";
  sheet.fail("'" + printable(word) + "' in column " + column + " is none of " + list);
}

void check_canonical(const std::string& column, const std::string& json, const Sheet& sheet) {
  std::string canonical;
  try {
    canonical = canonical_json(json);
  } catch (const Error& error) {
    sheet.fail(error.what());
  }
  if (canonical == json) return;
  sheet.fail("the " + column +
             " is not in its one form: keys sorted, no spaces, whole numbers without a fraction");
}

}  // namespace

void check_row(const Machine& row, const Sheet& sheet) { check_filled("id", row.id, sheet); }

void check_row(const Campaign& row, const Sheet& sheet) { check_filled("name", row.name, sheet); }

void check_row(const Run& row, const Sheet& sheet) {
  check_filled("status", row.status, sheet);
  check_canonical("configuration", row.configuration, sheet);
  if (!row.request.empty()) check_canonical("request", row.request, sheet);
}

void check_row(const Metric& row, const Sheet& sheet) {
  check_word("role", row.role, {"worker", "server"}, sheet);
  check_filled("resource", row.resource, sheet);
  check_filled("unit", row.unit, sheet);
  check_word("pattern", row.pattern, {"B", "I", "BIB"}, sheet);
}

void check_row(const Samples& row, const Sheet& sheet) {
  check_word("role", row.role, {"worker", "server"}, sheet);
  check_filled("resource", row.resource, sheet);
  if (row.window_s <= 0) sheet.fail("the window is not positive");
}

void check_row(const Operator& row, const Sheet& sheet) {
  check_filled("machine", row.machine, sheet);
  check_filled("kind", row.kind, sheet);
  check_word("direction", row.direction, {"forward", "backward", "both", ""}, sheet);
}

void check_row(const Collective& row, const Sheet& sheet) {
  check_filled("machine", row.machine, sheet);
  check_filled("kind", row.kind, sheet);
  if (row.ranks < 1 || row.nodes < 1) sheet.fail("needs a rank and a node");
}

void check_row(const Training& row, const Sheet& sheet) {
  check_filled("model", row.model, sheet);
  check_filled("metric", row.metric, sheet);
}

}  // namespace foretrain::store
