// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/machine_facts.h"

#include <sstream>

#include "foretrain/base/json.h"
#include "foretrain/base/median.h"
#include "foretrain/measured/detail/cells.h"
#include "foretrain/measured/open_tables.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/store.h"

namespace foretrain::measured {
namespace {

namespace fs = std::filesystem;

std::optional<Table> machines_of(const fs::path& data) {
  std::error_code problem;
  if (fs::is_directory(data, problem)) {
    if (!fs::is_regular_file(data / "machines.csv", problem)) return std::nullopt;
    return Table(data / "machines.csv");
  }
  if (kind_of(data) != FileKind::Store) return std::nullopt;
  const store::Store store(data, store::OpenMode::ReadOnly);
  auto text = std::make_unique<std::stringstream>();
  store::export_table(store, "machines", *text);
  const auto bytes = static_cast<std::uintmax_t>(text->tellp());
  return Table("machines", "table machines", std::move(text), bytes);
}

}  // namespace

std::optional<double> copied_bytes_per_s(const fs::path& data) {
  std::optional<Table> table = machines_of(data);
  if (!table) return std::nullopt;
  std::vector<double> rates;
  for (Row row; table->next(row);) {
    const std::string where = table->where() + ": line " + std::to_string(row.line) + ": details";
    const std::string_view text = cell(row, "details");
    if (text.empty()) continue;
    const Json details = parse_json(text, where);
    const auto rate = JsonFields(details, where).number("memory_bytes_per_s");
    if (rate && *rate > 0) rates.push_back(*rate);
  }
  if (rates.empty()) return std::nullopt;
  return median(std::move(rates));
}

}  // namespace foretrain::measured
