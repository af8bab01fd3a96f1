// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <span>

#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json_writer.h"
#include "foretrain/base/near.h"
#include "foretrain/base/number_range.h"
#include "foretrain/cli/collect_parts.h"
#include "foretrain/cli/command.h"
#include "foretrain/cli/progress.h"
#include "foretrain/lab/benchmarks.h"
#include "foretrain/lab/isolate.h"
#include "foretrain/store/store.h"

namespace foretrain::cli {
namespace {

constexpr const char* kKept = "what was timed is kept";

struct OperatorOptions : CollectCommon {
  lab::OperatorPlan plan;
  std::string file;
};

struct CollectiveOptions : CollectCommon {
  lab::CollectivePlan plan;
};

// Options before the name of the form belong to another form, and would do nothing.
void refuse_options_before(const Command& form) {
  const std::string option = form.option_before();
  if (option.empty()) return;
  const std::string place = "collect " + form.name();
  throw Error(ErrorKind::BadInput, place + ": '" + option + "' stands before '" + form.name() +
                                       "'; give options after it, see foretrain " + place +
                                       " --help");
}

template <typename Row>
void report(const lab::Timings<Row>& timings, const CollectCommon& options, Console& console) {
  for (const std::string& reason : timings.skipped) print_note("not timed: " + reason);
  if (options.json) {
    JsonWriter json;
    json.begin_object();
    json.field("rows", static_cast<double>(timings.rows.size()));
    json.field("skipped", static_cast<double>(timings.skipped.size()));
    console.line(json.end_object().finish());
    return;
  }
  console.line(std::to_string(timings.rows.size()) + " times are in " + printable(options.store));
}

// Keeps each part of what `time` times when it is there, in place of what was timed before.
template <typename Row, typename Time>
void time_and_keep(const CollectCommon& options, const char* what,
                   void (store::Store::*put)(std::span<const Row>), Console& console,
                   const Time& time) {
  using Clock = std::chrono::steady_clock;
  const bool isolated = !options.plain && lab::isolate();
  store::Store store(options.store);
  interruptible(options, kKept, console, [&](const lab::WorkerOptions& workers) {
    Progress progress(what);
    const Clock::time_point start = Clock::now();
    std::size_t timed = 0;
    const auto keep = [&](const lab::Part<Row>& part) {
      store.in_transaction([&] {
        if (!part.rows.empty()) store.put_machine(part.machine);
        (store.*put)(part.rows);
      });
      timed += part.rows.size();
      const Seconds past = Clock::now() - start;
      const auto left = part.share > 0 ? std::optional(past * (1 / part.share - 1)) : std::nullopt;
      progress.show(timed, part.share, left);
    };
    report(time(workers, isolated, keep), options, console);
  });
}

void run_operators(OperatorOptions& options, Console& console) {
  if (!options.file.empty()) options.plan.lines = read_file(options.file, kMostCampaignBytes);
  if (options.plan.models.empty() && options.file.empty()) {
    throw Error(ErrorKind::BadInput, "collect operators: name models, or a plan by --plan");
  }
  time_and_keep<store::Operator>(
      options, "times", &store::Store::put_operators, console,
      [&](const lab::WorkerOptions& workers, bool isolated, const auto& keep) {
        return lab::time_operators(options.plan, workers, isolated, keep);
      });
}

void run_collectives(CollectiveOptions& options, Console& console) {
  time_and_keep<store::Collective>(
      options, "times", &store::Store::put_collectives, console,
      [&](const lab::WorkerOptions& workers, bool isolated, const auto& keep) {
        return lab::time_collectives(options.plan, workers, isolated, keep);
      });
}

void add_operators(Command& parent, Console& console) {
  auto options = std::make_shared<OperatorOptions>();
  Command& command = parent.add_subcommand("operators", "time operators on this machine");
  command.footer(
      "Example:\n  foretrain collect operators resnet18-cifar lstm-lm --batch 8,32 --store "
      "lab.db\n\n"
      "What is timed again replaces what the store has of it. Ctrl-C keeps what was timed so far.");
  options->plan.batches = {1};
  command.add_option("models", options->plan.models, "models whose operators are timed");
  command.add_option("--batch", options->plan.batches, "at these batches (1)")
      .delimiter(',')
      .allow_extra_args(false)
      .check(number_range(1, 1'000'000));
  command.add_option("--plan", options->file, "operators as lines of JSON").type_name("FILE");
  add_collect_common(command, *options);
  command.callback([options, &console, &command] {
    refuse_options_before(command);
    run_operators(*options, console);
  });
}

void add_collectives(Command& parent, Console& console) {
  auto options = std::make_shared<CollectiveOptions>();
  Command& command = parent.add_subcommand("collectives", "time collectives between processes");
  command.footer("Example:\n  foretrain collect collectives --ranks 2 --network 1gbps");
  for (std::int64_t size = 1024; size <= 64 << 20; size *= 4) options->plan.sizes.push_back(size);
  command.add_option("--ranks", options->plan.ranks, "processes (2)").check(number_range(2, 64));
  command.add_option("--network", options->plan.network, "rate of each link; default: not shaped")
      .type_name("RATE");
  command.add_option("--bytes", options->plan.sizes, "of each rank (1 KiB to 64 MiB)")
      .delimiter(',')
      .allow_extra_args(false)
      .check(number_range(4, 1LL << 34));
  add_collect_common(command, *options);
  command.callback([options, &console, &command] {
    refuse_options_before(command);
    run_collectives(*options, console);
  });
}

}  // namespace

void add_collect_timings(Command& collect, Console& console) {
  add_operators(collect, console);
  add_collectives(collect, console);
}

}  // namespace foretrain::cli
