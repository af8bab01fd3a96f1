// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/models_json.h"

#include "foretrain/base/json.h"

namespace foretrain::zoo {

std::string models_json(std::span<const Model* const> models) {
  OrderedJson list = OrderedJson::array();
  for (const Model* model : models) {
    list.push_back({{"name", model->name},
                    {"family", model->family},
                    {"about", model->about},
                    {"parameters", model->parameters}});
  }
  return json_text(list);
}

}  // namespace foretrain::zoo
