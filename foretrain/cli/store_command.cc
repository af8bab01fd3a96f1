// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/humanise.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/resource_text.h"
#include "foretrain/cli/table.h"
#include "foretrain/store/columns.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/store.h"

namespace foretrain::cli {
namespace {

struct Options {
  std::string store = "foretrain.db";
  store::Filter filter;
  bool runs = false;
  bool json = false;
  std::int64_t run = 0;
  std::string table;
  std::string output;
  std::vector<std::string> inputs;
};

store::Store open_existing(const Options& options) {
  return store::Store(options.store, store::OpenMode::ReadOnly);
}

JsonWriter& put(JsonWriter& json, std::int64_t value) {
  return json.value(static_cast<double>(value));
}
template <typename T>
JsonWriter& put(JsonWriter& json, const T& value) {
  return json.value(value);
}
JsonWriter& put(JsonWriter& json, const std::optional<std::int64_t>& value) {
  return value ? put(json, *value) : json.null();
}

// The columns of a row as fields.
template <typename Row>
void put_fields(const Row& row, JsonWriter& json) {
  store::each_column(row, [&](const char* name, const auto& field) { put(json.key(name), field); });
}

std::string seconds_text(const std::optional<double>& time_s) {
  return duration_text(time_s ? std::optional(Seconds{*time_s}) : std::nullopt);
}

void list_runs(const std::vector<store::Run>& runs, const Options& options, Console& console) {
  if (options.json) {
    JsonWriter json;
    json.begin_array();
    for (const store::Run& run : runs) {
      put(json.begin_object().key("id"), run.id);
      put_fields(run, json);
      json.end_object();
    }
    return console.line(json.end_array().finish());
  }
  Table table{{{"run", true, false},
               {"campaign", false, false},
               {"setting", false, false},
               {"split", false, false},
               {"repeat", true, false},
               {"status", false, false},
               {"step", true, false},
               {"configuration", false, true}},
              {}};
  for (const store::Run& run : runs) {
    table.rows.push_back({std::to_string(run.id), printable(run.campaign), printable(run.setting),
                          printable(run.split), std::to_string(run.repeat), printable(run.status),
                          seconds_text(run.step_median_s), printable(run.configuration, 400)});
  }
  console.write(table.rows.empty() ? "  no runs\n" : render(table, console.screen));
}

void list_tables(const store::Store& store, const Options& options, Console& console) {
  std::map<std::string, std::map<std::string, int>> campaigns;  // runs by status
  for (const store::Campaign& campaign : store.campaigns()) campaigns[campaign.name];
  for (const store::Run& run : store.runs()) ++campaigns[run.campaign][run.status];
  if (options.json) {
    JsonWriter json;
    json.begin_object().key("tables").begin_object();
    for (const std::string& table : store::export_tables())
      put(json.key(table), store.count(table));
    json.end_object().key("campaigns").begin_object();
    for (const auto& [name, statuses] : campaigns) {
      json.key(name).begin_object();
      for (const auto& [status, runs] : statuses) json.field(status, static_cast<double>(runs));
      json.end_object();
    }
    return console.line(json.end_object().end_object().finish());
  }
  Table tables{{{"table", false, false}, {"rows", true, false}}, {}};
  for (const std::string& table : store::export_tables()) {
    tables.rows.push_back({table, format_count(static_cast<double>(store.count(table)))});
  }
  console.write(render(tables, console.screen));
  Table runs{{{"campaign", false, false}, {"runs", false, true}}, {}};
  for (const auto& [name, statuses] : campaigns) {
    std::string text;
    for (const auto& [status, count] : statuses) {
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + printable(status);
    }
    runs.rows.push_back({printable(name), text});
  }
  if (!runs.rows.empty()) console.write("\n" + render(runs, console.screen));
}

void run_ls(const Options& options, Console& console) {
  const store::Store store = open_existing(options);
  const store::Filter& filter = options.filter;
  const bool filtered =
      !(filter.campaign + filter.machine + filter.setting + filter.split + filter.status).empty();
  if (options.runs || filtered) return list_runs(store.runs(filter), options, console);
  list_tables(store, options, console);
}

void show_json(const store::RunRecord& record, Console& console) {
  JsonWriter json;
  put(json.begin_object().key("id"), record.run.id);
  put_fields(record.run, json);
  json.key("metrics").begin_array();
  for (const store::Metric& metric : record.metrics) {
    json.begin_object();
    put_fields(metric, json);
    json.end_object();
  }
  json.end_array().key("step_times_s").begin_array();
  for (const double time_s : record.step_times_s) json.value(time_s);
  console.line(json.end_array().end_object().finish());
}

void run_show(const Options& options, Console& console) {
  const store::RunRecord record = open_existing(options).run(options.run);
  if (options.json) return show_json(record, console);
  Table fields{{{"", false, false}, {"", false, true}}, {}};
  store::each_column(record.run, [&](const char* name, const auto& field) {
    std::ostringstream text;
    if constexpr (requires { text << *field; }) {
      if (field) text << *field;
    } else {
      text << field;
    }
    if (!text.str().empty()) fields.rows.push_back({name, printable(text.str(), 2000)});
  });
  console.write(render(fields, console.screen));
  Table table{{{"role", false, false},
               {"resource", false, false},
               {"pattern", false, false},
               {"in bursts", true, false},
               {"in idles", true, false},
               {"burst lasts", true, false},
               {"idle lasts", true, false}},
              {}};
  for (const store::Metric& metric : record.metrics) {
    table.rows.push_back({printable(metric.role) + " " + std::to_string(metric.instance),
                          printable(metric.resource), printable(metric.pattern),
                          amount_text(metric.burst_amount, metric.unit),
                          amount_text(metric.idle_amount, metric.unit),
                          seconds_text(metric.burst_s), seconds_text(metric.idle_s)});
  }
  if (!table.rows.empty()) console.write("\n" + render(table, console.screen));
}

void run_export(const Options& options, Console& console) {
  const store::Store store = open_existing(options);
  if (options.table.empty()) {
    if (options.output.empty() || options.output == "-") {
      throw Error(ErrorKind::BadInput, "store export needs a TABLE, or a folder: -o DIR");
    }
    return store::export_folder(store, options.output);
  }
  std::ostringstream text;
  store::export_table(store, options.table, text);
  write_file(options.output.empty() ? "-" : options.output, text.str(), console);
}

void run_import(const Options& options, Console& console) {
  store::Store store(options.store);
  for (const std::string& input : options.inputs) {
    std::vector<store::Imported> files;
    {
      Progress progress("lines");
      files = store::import_path(
          store, input, [&](std::size_t lines, double share) { progress.show(lines, share); });
    }
    for (const store::Imported& file : files) {
      const std::string skipped =
          file.skipped == 0 ? "" : ", " + std::to_string(file.skipped) + " were there already";
      console.line(printable(file.file) + ": " + std::to_string(file.rows) + " rows into " +
                   file.table + skipped);
    }
  }
}

CLI::App& add(CLI::App& command, const char* name, const char* about, Options& options) {
  CLI::App& part = *command.add_subcommand(name, about);
  part.add_option("--store", options.store, "the store's file (foretrain.db)");
  return part;
}

}  // namespace

void add_store_command(CLI::App& app, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("store", "the measurements: list, show, export, import");
  command.footer(
      "Examples:\n  foretrain store import --store lab.db training/pollux.csv\n"
      "  foretrain store ls --store lab.db --campaign base --status ok\n"
      "  foretrain store export --store lab.db -o folder\n\n"
      "docs/store.md describes the tables and the files that can be imported.");
  command.require_subcommand(1);
  CLI::App& ls = add(command, "ls", "what the store holds; with a filter, its runs", *options);
  ls.add_flag("--runs", options->runs, "list all runs");
  ls.add_option("--campaign", options->filter.campaign, "only runs of this campaign");
  ls.add_option("--machine", options->filter.machine, "only runs on this machine");
  ls.add_option("--setting", options->filter.setting, "only runs in this setting");
  ls.add_option("--split", options->filter.split, "only runs of this split");
  ls.add_option("--status", options->filter.status, "only runs with this status");
  ls.add_flag("--json", options->json, "print JSON");
  ls.callback([options, &console] { run_ls(*options, console); });
  CLI::App& show = add(command, "show", "one run with all that was measured", *options);
  show.add_option("RUN", options->run, "its number, as ls shows it")->required();
  show.add_flag("--json", options->json, "print JSON");
  show.callback([options, &console] { run_show(*options, console); });
  CLI::App& out = add(command, "export", "write a table, or all of them, as CSV", *options);
  out.add_option("TABLE", options->table, "one table; without it all, into a folder");
  out.add_option("-o,--output", options->output, "file of the table, or folder of all");
  out.callback([options, &console] { run_export(*options, console); });
  CLI::App& in = add(command, "import", "read CSV files, or a folder that export wrote", *options);
  in.add_option("PATH", options->inputs, "what to read")->required();
  in.callback([options, &console] { run_import(*options, console); });
}

}  // namespace foretrain::cli
