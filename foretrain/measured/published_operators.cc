// SPDX-License-Identifier: Apache-2.0
#include "foretrain/measured/detail/published_operators.h"

#include <map>
#include <string>
#include <utility>

#include "foretrain/base/json.h"
#include "foretrain/measured/detail/cells.h"
#include "foretrain/measured/operator_table.h"

namespace foretrain::measured {
namespace {

using Names = std::vector<std::string>;
using Origin = std::pair<std::string, OperatorTable>;  // the file, and what it holds

Names columns_of(const Json& attributes) {
  Names columns{"split", "device", "op", "latency_ms"};
  for (const auto& [name, value] : attributes.items()) columns.push_back(name);
  return columns;
}

// Columns of NeuSight's files that are read.
Names columns_of(OperatorTable holds) {
  if (holds == OperatorTable::Gemm) {
    return {"split", "device", "op", "latency_ms", "B", "M", "N", "K"};
  }
  if (holds == OperatorTable::MemoryBound) return {"split", "device", "op", "latency_ms", "B", "H"};
  return {"split",        "device", "op",    "latency_ms", "B",       "in_channels",
          "out_channels", "kernel", "input", "stride",     "padding", "kernels"};
}

Row row_of(const Row& kept, const Names& columns, const Json& attributes, const Cells& cells) {
  const std::string latency_ms = json_text(Json(cells.number("time_s") * 1e3));
  Row row;
  row.line = kept.line;
  row.cells = {cells.text("split"), cells.text("machine"), cells.text("kind"), latency_ms};
  for (std::size_t i = row.cells.size(); i < columns.size(); ++i) {
    const Json value = attributes.value(columns[i], Json(""));
    row.cells.push_back(value.is_string() ? value.get<std::string>() : json_text(value));
  }
  return row;
}

}  // namespace

std::vector<Table> by_origin(Table& table) {
  std::map<Origin, std::vector<Row>> published;
  std::vector<Row> collected;
  for (Row row; table.next(row);) {
    if (!cell(row, "shapes").empty()) {
      collected.push_back(row);
      continue;
    }
    const Cells cells(row, table.where());
    const std::string where = table.where() + ": line " + std::to_string(row.line);
    const Json attributes = parse_json(cell(row, "attributes"), where + ": attributes");
    if (!attributes.is_object()) cells.fail("attributes are not a JSON object");
    const OperatorTable holds = operator_table(columns_of(attributes));
    if (holds == OperatorTable::None) continue;
    published[{cells.text("source"), holds}].push_back(
        row_of(row, columns_of(holds), attributes, cells));
  }
  std::vector<Table> tables;
  for (auto& [origin, rows] : published) {
    tables.emplace_back(table.name(), table.where(), columns_of(origin.second), std::move(rows));
  }
  if (!collected.empty()) {
    tables.emplace_back(table.name(), table.where(), table.columns(), std::move(collected));
  }
  return tables;
}

}  // namespace foretrain::measured
