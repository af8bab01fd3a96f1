// SPDX-License-Identifier: Apache-2.0
#include "foretrain/predict/library.h"

namespace foretrain {

std::shared_ptr<const Step> StepCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second.place);
  return found->second.step;
}

void StepCache::insert(const std::string& key, std::shared_ptr<const Step> step) {
  const std::lock_guard lock(mutex_);
  if (entries_.contains(key)) return;
  nodes_ += step->graph.nodes.size();
  order_.push_front(key);
  entries_.emplace(key, Entry{std::move(step), order_.begin()});
  while (nodes_ > kMostNodes && order_.size() > 1) {
    const auto oldest = entries_.find(order_.back());
    nodes_ -= oldest->second.step->graph.nodes.size();
    entries_.erase(oldest);
    order_.pop_back();
  }
}

Library load_library() {
  Library library;
  library.catalog = hw::load_catalog();
  library.op_timer = cost::analytic_time;
  library.operators = &cost::shipped_operator_model();
  library.steps = std::make_unique<StepCache>();
  return library;
}

}  // namespace foretrain
