// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>
#include <sstream>

#include "foretrain/base/error.h"
#include "foretrain/base/humanise.h"
#include "foretrain/base/near.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/commands.h"
#include "foretrain/cli/console.h"
#include "foretrain/cli/given_request.h"
#include "foretrain/cli/output.h"
#include "foretrain/cli/progress.h"
#include "foretrain/cli/resource_text.h"
#include "foretrain/cli/table.h"
#include "foretrain/measured/import_measured.h"
#include "foretrain/store/columns.h"
#include "foretrain/store/exchange.h"
#include "foretrain/store/fill_store.h"
#include "foretrain/store/store_json.h"

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
  std::string request;
};

store::Store open_existing(const Options& options) {
  return store::Store(options.store, store::OpenMode::ReadOnly);
}

std::string seconds_text(const std::optional<double>& time_s) {
  return duration_text(time_s ? std::optional(Seconds{*time_s}) : std::nullopt);
}

void list_runs(const std::vector<store::Run>& runs, const Options& options, Console& console) {
  if (options.json) return console.line(store::runs_json(runs));
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

void list_tables(const store::StoreSummary& summary, const Options& options, Console& console) {
  if (options.json) return console.line(store::summary_json(summary));
  Table tables{{{"table", false, false}, {"rows", true, false}}, {}};
  for (const auto& [table, rows] : summary.tables) {
    tables.rows.push_back({table, format_count(static_cast<double>(rows))});
  }
  console.write(render(tables, console.screen));
  Table runs{{{"campaign", false, false}, {"runs", false, true}}, {}};
  for (const auto& [name, statuses] : summary.campaigns) {
    std::string text;
    for (const auto& [status, count] : statuses) {
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + printable(status);
    }
    runs.rows.push_back({printable(name), text});
  }
  if (!runs.rows.empty()) console.write("\n" + render(runs, console.screen));
}

void check_known(const char* what, const std::string& name, const std::set<std::string>& known) {
  if (name.empty() || known.contains(name)) return;
  throw Error(ErrorKind::NotFound, std::string("no run has the ") + what + " '" + printable(name) +
                                       "'" + did_you_mean(name, {known.begin(), known.end()}));
}

// Where a filter finds nothing: is a word in it one that the store knows, or that a run may have?
void check_filter(const store::Filter& filter, const store::Store& store) {
  std::set<std::string> campaigns;
  std::set<std::string> machines;
  std::set<std::string> settings;
  std::set<std::string> splits{"train", "validation", "test"};
  std::set<std::string> statuses{"ok", "failed", "foreign_load", "outlier"};
  for (const store::Campaign& campaign : store.campaigns()) campaigns.insert(campaign.name);
  for (const store::Machine& machine : store.machines()) machines.insert(machine.id);
  for (const store::Run& run : store.runs()) {
    settings.insert(run.setting);
    splits.insert(run.split);
    statuses.insert(run.status);
  }
  check_known("campaign", filter.campaign, campaigns);
  check_known("machine", filter.machine, machines);
  check_known("setting", filter.setting, settings);
  check_known("split", filter.split, splits);
  check_known("status", filter.status, statuses);
}

void run_ls(const Options& options, Console& console) {
  const store::Store store = open_existing(options);
  const store::Filter& filter = options.filter;
  const bool filtered =
      !(filter.campaign + filter.machine + filter.setting + filter.split + filter.status).empty();
  if (!options.runs && !filtered) return list_tables(summarise(store), options, console);
  const std::vector<store::Run> runs = store.runs(filter);
  if (runs.empty()) check_filter(filter, store);
  list_runs(runs, options, console);
}

void run_show(const Options& options, Console& console) {
  const store::RunRecord record = open_existing(options).run(options.run);
  if (options.json) return console.line(store::record_json(record));
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
    const std::vector<std::string> files = store::export_folder(store, options.output);
    if (options.json) console.line(store::exported_json(files));
    return;
  }
  std::ostringstream text;
  if (options.json) {
    text << store::table_json(store, options.table) << '\n';
  } else {
    store::export_table(store, options.table, text);
  }
  write_file(options.output.empty() ? "-" : options.output, text.str(), console);
}

std::vector<store::Imported> import_all(const Options& options) {
  std::vector<store::Imported> files;
  Progress progress("lines");
  store::fill_store(options.store, [&](store::Store& store) {
    files = measured::import_measured(store, {options.inputs.begin(), options.inputs.end()},
                                      given_request(options.request),
                                      [&](std::size_t lines, const std::optional<double>& share) {
                                        progress.show(lines, share);
                                      });
  });
  return files;
}

void run_import(const Options& options, Console& console) {
  const std::vector<store::Imported> files = import_all(options);
  if (options.json) return console.line(store::imported_json(files));
  for (const store::Imported& file : files) {
    std::string text =
        printable(file.file) + ": " + std::to_string(file.rows) + " rows into " + file.table;
    if (file.replaced > 0) text += ", in place of " + std::to_string(file.replaced);
    if (file.skipped > 0) text += ", " + std::to_string(file.skipped) + " were there already";
    console.line(text);
  }
}

Command& add(Command& command, const char* name, const char* about, Options& options) {
  Command& part = command.add_subcommand(name, about);
  part.add_option("--store", options.store, "the store's file (foretrain.db)");
  part.add_flag("--json", options.json, "print JSON");
  return part;
}

}  // namespace

void add_store_command(Command& app, Console& console) {
  auto options = std::make_shared<Options>();
  Command& command = app.add_subcommand("store", "the measurements: list, show, export, import");
  command.footer(
      "Examples:\n  foretrain store import --store lab.db training/pollux.csv\n"
      "  foretrain store ls --store lab.db --campaign base --status ok\n"
      "  foretrain store export --store lab.db -o folder\n"
      "  foretrain store export --store lab.db operators --json\n\n"
      "docs/store.md describes the tables and the files that can be imported.");
  command.require_subcommand(1, 1);
  Command& ls = add(command, "ls", "what the store holds; with a filter, its runs", *options);
  ls.add_flag("--runs", options->runs, "list all runs");
  ls.add_option("--campaign", options->filter.campaign, "only runs of this campaign");
  ls.add_option("--machine", options->filter.machine, "only runs on this machine");
  ls.add_option("--setting", options->filter.setting, "only runs in this setting");
  ls.add_option("--split", options->filter.split, "only runs of this split");
  ls.add_option("--status", options->filter.status, "only runs with this status");
  ls.callback([options, &console] { run_ls(*options, console); });
  Command& show = add(command, "show", "one run with all that was measured", *options);
  show.add_option("RUN", options->run, "its number, as ls shows it").required();
  show.callback([options, &console] { run_show(*options, console); });
  Command& out =
      add(command, "export", "write a table, as CSV or JSON, or all of them as CSV", *options);
  out.add_option("TABLE", options->table, "one table; without it all, into a folder");
  out.add_option("-o,--output", options->output, "file of the table, or folder of all");
  out.callback([options, &console] { run_export(*options, console); });
  Command& in = add(
      command, "import",
      "read CSV files, steps, a trace, folders that export wrote: all of it or nothing", *options);
  in.add_option("PATH", options->inputs, "files and folders; - is standard input").required();
  in.add_option("--request", options->request,
                "what ran, where PATH is a profiler's trace: JSON or a file of it");
  in.callback([options, &console] { run_import(*options, console); });
}

}  // namespace foretrain::cli
