// SPDX-License-Identifier: Apache-2.0
#include "foretrain/fit/collectives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/evaluate/collective_clock.h"
#include "foretrain/fit/detail/minimise.h"
#include "foretrain/fit/detail/prior.h"
#include "foretrain/measured/collective_file.h"
#include "foretrain/measured/measured_cluster.h"

namespace foretrain::fit {
namespace {

namespace fs = std::filesystem;
using measured::CollectiveCase;

constexpr std::size_t kMostRowsOfCell = 60;  // neighbouring sizes tell nothing new
constexpr double kPrior = 0.0005;
constexpr int kRounds = 12;  // a search that starts anew leaves narrow valleys

// Rows by cluster, collective, nodes and devices, so that each cell counts alike.
class Rows {
 public:
  Rows(const fs::path& data, const std::vector<std::string>& without, const hw::Catalog& catalog)
      : catalog_(catalog) {
    std::set<std::string> unseen(without.begin(), without.end());
    for (CollectiveCase& one : measured::read_collectives(data)) {
      unseen.erase(one.cluster);
      const bool out = std::find(without.begin(), without.end(), one.cluster) != without.end();
      if (out && one.broken.empty()) left_out_[one.cluster + ", " + label(one)].push_back(one);
      if (out || one.suspect || !one.broken.empty()) continue;
      cells_[{one.cluster, one.collective, one.nodes, one.devices}].push_back(std::move(one));
    }
    for (const std::string& name : unseen) measured::measured_cluster(name);  // throws if unknown
    for (auto& [key, rows] : cells_) {
      const std::size_t stride = (rows.size() - 1) / kMostRowsOfCell + 1;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < rows.size(); i += stride) std::swap(rows[kept++], rows[i]);
      rows.resize(kept);
      count_ += kept;
    }
  }

  double loss(const comm::Constants& constants) const {
    evaluate::CollectiveClock clock(catalog_, constants);
    double sum = 0;
    for (const auto& [key, rows] : cells_) {
      double cell = 0;
      for (const CollectiveCase& one : rows) {
        cell += std::abs(std::log(clock.predict(one) / one.measured));
      }
      sum += cell / static_cast<double>(rows.size());
    }
    return sum / static_cast<double>(cells_.size());
  }

  std::vector<LeftOutCell> judge(const comm::Constants& constants) const {
    evaluate::CollectiveClock clock(catalog_, constants);
    std::vector<LeftOutCell> cells;
    LeftOutCell all{"all but the suspect"};
    for (const auto& [name, rows] : left_out_) {
      LeftOutCell cell{name};
      for (const CollectiveCase& one : rows) {
        const double error = clock.predict(one) / one.measured - 1;
        for (LeftOutCell* sum : {&cell, &all}) {
          if (sum == &all && one.suspect) continue;
          ++sum->rows;
          sum->mape += std::abs(error);
          sum->bias += error;
        }
      }
      cells.push_back(cell);
    }
    if (!cells.empty()) cells.push_back(all);
    for (LeftOutCell& cell : cells) {
      const double rows = std::max<double>(1, static_cast<double>(cell.rows));
      cell.mape /= rows;
      cell.bias /= rows;
    }
    return cells;
  }

  std::size_t count() const { return count_; }
  std::size_t cells() const { return cells_.size(); }

 private:
  const hw::Catalog& catalog_;
  std::map<std::tuple<std::string, std::string, int, int>, std::vector<CollectiveCase>> cells_;
  std::size_t count_ = 0;
  std::map<std::string, std::vector<CollectiveCase>> left_out_;
};

// Known from elsewhere: no cluster of the measured ones shares a NIC over TCP, and the exponent
// trades against the ramps.
constexpr std::array<std::string_view, 2> kHeld{"tcp.shared_nic", "all.ramp_exponent"};

std::string full_name(const NumberPlace& number) { return number.group + "." + number.name; }

bool is_varied(const NumberPlace& number, const CollectiveFit& options) {
  if (*number.value <= 0) return false;  // said not to exist
  const std::string name = full_name(number);
  const bool held = std::find(kHeld.begin(), kHeld.end(), name) != kHeld.end();
  return !held || std::find(options.vary.begin(), options.vary.end(), name) != options.vary.end();
}

void check_names(const std::vector<std::string>& names, comm::Constants constants) {
  std::vector<std::string> known;
  for (const NumberPlace& number : comm::named_numbers(constants)) {
    known.push_back(full_name(number));
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(ErrorKind::NotFound,
                "no constant '" + printable(name) + "' to vary" + did_you_mean(name, known));
  }
}

// Shares lie below 1, and a device with a NIC of its own disturbs others no more than one that
// shares theirs; everything else may change by a factor of ten.
Variable variable_for(const NumberPlace& number, const comm::Constants& constants) {
  constexpr double kFactor = 10;
  const double start = *number.value;
  const bool share = number.name.ends_with("efficiency") || number.name.ends_with("share");
  double most = share ? 1.0 : kFactor * start;
  if (number.name == "neighbour") most = std::max(start, constants.tcp_shared_nic);
  return {start, start / kFactor, most};
}

}  // namespace

FittedCollectives fit_collectives(const fs::path& data, const comm::Constants& start,
                                  const CollectiveFit& options, const hw::Catalog& catalog) {
  check_names(options.vary, start);
  const Rows rows(data, options.without, catalog);
  if (rows.cells() == 0) {
    throw Error(ErrorKind::NotFound, "no measured collectives to fit constants by in '" +
                                         printable(data.string()) +
                                         "'; docs/models/collectives.md says which are known");
  }
  FittedCollectives result{start, rows.count(), rows.cells(), 0, 0, {}, {}};
  std::vector<double*> places;
  std::vector<Variable> variables;
  for (const NumberPlace& number : comm::named_numbers(result.constants)) {
    if (!is_varied(number, options)) {
      if (*number.value > 0) result.held.push_back(full_name(number));
      continue;
    }
    places.push_back(number.value);
    variables.push_back(variable_for(number, start));
  }
  result.before = rows.loss(result.constants);
  std::vector<Variable> from = variables;
  for (int round = 0; round < kRounds; ++round) {
    minimise_in_place(places, from, options.evaluations, [&](const std::vector<double>& tried) {
      return rows.loss(result.constants) + distance(variables, tried, kPrior);
    });
    for (std::size_t i = 0; i < places.size(); ++i) from[i].start = *places[i];
  }
  for (double* place : places) *place = rounded(*place);
  result.after = rows.loss(result.constants);
  result.left_out = rows.judge(result.constants);
  return result;
}

}  // namespace foretrain::fit
