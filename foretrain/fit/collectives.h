// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "foretrain/comm/constants.h"
#include "foretrain/hw/catalog.h"

namespace foretrain::fit {

struct CollectiveFit {
  std::vector<std::string> without;  // clusters: of data/collectives/clusters/, or in the data
  // Constants that else stay as they start, because they were chosen elsewhere: tcp.shared_nic,
  // all.ramp_exponent.
  std::vector<std::string> vary;
  int evaluations = 4000;  // of the loss in each of twelve searches
};

// How well a cell of a cluster that was left out is predicted; fractions.
struct LeftOutCell {
  std::string cell;  // "Vista, all-reduce, 2 x 1"
  std::size_t rows = 0;
  double mape = 0;
  double bias = 0;
};

// How far predictions are off in the mean over cells (cluster, collective, nodes, devices): mean
// of abs(log(predicted / measured)).
struct FittedCollectives {
  comm::Constants constants;
  std::size_t rows = 0;
  std::size_t cells = 0;
  double before = 0;
  double after = 0;
  std::vector<std::string> held;      // constants that stayed as they started
  std::vector<LeftOutCell> left_out;  // the clusters left out, suspect rows apart; the last is all
};

// Constants that predict the collectives of `data` (a store, a folder, a file:
// measured/open_tables.h) best, a cell like another. Suspect and broken rows are left out. A prior
// keeps constants that the rows do not decide near `start`; those that are 0 there stay so.
// Deterministic. Throws Error: BadInput where there is no table of collectives, NotFound where no
// row is left, an unknown cluster is to be left out or an unknown constant to be varied, Io.
FittedCollectives fit_collectives(const std::filesystem::path& data, const comm::Constants& start,
                                  const CollectiveFit& options, const hw::Catalog& catalog);

}  // namespace foretrain::fit
