// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/model.h"

#include <mutex>
#include <utility>

#include "foretrain/request/find_model.h"

namespace foretrain {

struct Model::Lazy {
  bool read_files = true;
  std::mutex mutex;
  std::shared_ptr<const graph::Graph> graph;  // null until somebody wants it
};

Model::Model(std::string name, bool read_files)
    : name_(std::move(name)), built_in_(!names_model_file(name_)), lazy_(std::make_shared<Lazy>()) {
  lazy_->read_files = read_files;
}

Model::Model(std::string name, std::shared_ptr<const graph::Graph> graph)
    : name_(std::move(name)), lazy_(std::make_shared<Lazy>()) {
  lazy_->graph = std::move(graph);
}

const graph::Graph& Model::graph() const {
  const std::lock_guard lock(lazy_->mutex);
  if (!lazy_->graph) {
    lazy_->graph = std::make_shared<const graph::Graph>(find_model(name_, lazy_->read_files));
  }
  return *lazy_->graph;
}

}  // namespace foretrain
