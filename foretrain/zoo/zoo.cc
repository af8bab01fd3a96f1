// SPDX-License-Identifier: Apache-2.0
#include "foretrain/zoo/zoo.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/zoo/detail/registry.h"

namespace foretrain::zoo {
namespace {

struct Catalog {
  std::vector<Model> models;
  std::vector<graph::Graph (*)(Spec&)> builders;         // of each model
  std::unordered_map<std::string_view, std::size_t> at;  // its index by name
};

Catalog collect() {
  Catalog catalog;
  for (const auto entries : {resnet_entries,
                             alexnet_entries,
                             vgg_entries,
                             squeezenet_entries,
                             densenet_entries,
                             inception_entries,
                             mobilenet_entries,
                             mnasnet_entries,
                             shufflenet_entries,
                             googlenet_entries,
                             inception_v4_entries,
                             mobilenet_v3_entries,
                             efficientnet_entries,
                             regnet_entries,
                             convnext_entries,
                             vit_entries,
                             swin_entries,
                             ssd_entries,
                             yolov3_entries,
                             retinanet_entries,
                             rcnn_entries,
                             segmentation_entries,
                             mmsegmentation_entries,
                             unet_entries,
                             volume_unet_entries,
                             hrnet_entries,
                             efficientdet_entries,
                             cyclegan_entries,
                             lstm_entries,
                             gnmt_entries,
                             transformer_entries,
                             bert_entries,
                             gpt_entries,
                             opt_entries,
                             llama_entries,
                             roberta_entries,
                             distilbert_entries,
                             gpt_neox_entries,
                             mpt_entries,
                             t5_entries,
                             transformer_xl_entries,
                             deepspeech2_entries,
                             jasper_entries,
                             tacotron2_entries,
                             dlrm_entries,
                             wide_deep_entries,
                             vit_huggingface_entries,
                             electra_entries,
                             bart_entries,
                             recoder_entries,
                             mlp_entries,
                             neumf_entries,
                             random_entries}) {
    for (Entry& entry : entries()) {
      catalog.models.push_back(std::move(entry.model));
      catalog.builders.push_back(entry.build);
    }
  }
  for (std::size_t i = 0; i < catalog.models.size(); ++i) {
    catalog.at.emplace(catalog.models[i].name, i);
  }
  return catalog;
}

// Read-only once made, so that many threads may build.
const Catalog& catalog() {
  static const Catalog kCatalog = collect();
  return kCatalog;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  std::vector<std::string> known;
  for (const Model& model : models()) known.push_back(model.name);
  std::string near = did_you_mean(name, known);
  if (near.empty()) near = "; 'foretrain models' lists them";
  throw Error(ErrorKind::NotFound, "no built-in model '" + printable(name) + "'" + near);
}

// Sizes that are each allowed can make weights that nothing can hold or count.
void require_countable(const graph::Graph& graph) {
  try {
    graph::parameter_count(graph);
  } catch (const Error& error) {
    throw Error(ErrorKind::BadInput, "model '" + graph.name + "': " + error.what());
  }
}

}  // namespace

const std::vector<Model>& models() { return catalog().models; }

graph::Graph build(const std::string& text) {
  Spec spec(text);
  const Catalog& known = catalog();
  const auto found = known.at.find(spec.name());
  if (found == known.at.end()) fail_unknown(spec.name());
  graph::Graph graph = known.builders[found->second](spec);
  spec.finish();
  require_countable(graph);
  return graph;
}

}  // namespace foretrain::zoo
