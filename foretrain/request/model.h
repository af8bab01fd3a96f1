// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "foretrain/graph/graph.h"

namespace foretrain {

// The model of a request: its name, and its graph once somebody wants that. A prediction from a
// prepared step does not, so the graph is built or read at the first call of `graph` and then kept
// for all copies; the name is parsed and the file read at most once. Threads may share one.
class Model {
 public:
  Model() : Model("") {}
  // find_model's of that name.
  explicit Model(std::string name, bool read_files = true);
  // One in memory, whatever it is called.
  Model(std::string name, std::shared_ptr<const graph::Graph> graph);

  const std::string& name() const { return name_; }  // as the request gives it
  // Whether the name alone says which graph it is: not that of a file, whose content may change,
  // nor of a model in memory.
  bool is_built_in() const { return built_in_; }
  // Throws Error as find_model does.
  const graph::Graph& graph() const;

 private:
  struct Lazy;

  std::string name_;
  bool built_in_ = false;
  std::shared_ptr<Lazy> lazy_;
};

}  // namespace foretrain
