// SPDX-License-Identifier: Apache-2.0
// What most policies are made of: three ways to give devices to jobs in the order of their ranks.
#pragma once

#include <vector>

#include "foretrain/sched/state.h"

namespace foretrain::sched {

// Goes through waiting jobs in order, one per call; jobs that ask for the same as one that did
// not fit are left out. May be used while the jobs it returned are being started.
class Candidates {
 public:
  explicit Candidates(const Waiting& waiting);

  std::optional<int> next();  // slot; the same until take or leave
  void take() { ++current_->next; }
  void leave() { current_->next = current_->last; }  // with all that ask for the same
  void leave_class(int wait_class);

 private:
  struct Line {
    std::set<Entry, Earlier>::const_iterator next;
    std::set<Entry, Earlier>::const_iterator last;
    int wait_class;
  };
  std::vector<Line> lines_;
  Line* current_ = nullptr;
};

// Starts waiting jobs in order up to the first that has no place.
void start_in_order(State& state);

// Starts every waiting job that has a place, in order.
void start_what_fits(State& state);

// Gives all devices anew, in order over waiting and running jobs: who does not fit is skipped,
// and stopped where it runs. The result is that of going through all jobs from the front; the
// time is that of the changes, because of two facts: jobs that ask for the same are served in
// order, so only the first waiting one of each kind can begin; and a job further back is touched
// only where those ahead of it take more than before.
struct Changes {
  std::vector<int> stopped;  // from the front
  std::vector<int> started;
};
Changes share_by_rank(State& state);

}  // namespace foretrain::sched
