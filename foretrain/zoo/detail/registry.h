// SPDX-License-Identifier: Apache-2.0
// One row per built-in model; each family's file provides its rows.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "foretrain/graph/graph.h"
#include "foretrain/zoo/detail/spec.h"
#include "foretrain/zoo/model.h"

namespace foretrain::zoo {

struct Entry {
  Model model;
  graph::Graph (*build)(Spec&);  // takes its parameters from the spec; reads spec.name()
};

// The row that spec.name() names; it is there, for only names of the table's entries are built.
template <typename Table>
const auto& row_of(const Table& table, const Spec& spec) {
  return *std::find_if(std::begin(table), std::end(table),
                       [&](const auto& row) { return row.name == spec.name(); });
}

// One entry for each row of a table whose rows have `name` and `about`.
template <typename Table>
std::vector<Entry> entries_of(const Table& table, const std::string& family,
                              const std::string& parameters, graph::Graph (*build)(Spec&)) {
  std::vector<Entry> entries;
  entries.reserve(std::size(table));
  for (const auto& row : table) {
    entries.push_back({{row.name, family, row.about, parameters}, build});
  }
  return entries;
}

std::vector<Entry> resnet_entries();
std::vector<Entry> alexnet_entries();
std::vector<Entry> vgg_entries();
std::vector<Entry> squeezenet_entries();
std::vector<Entry> densenet_entries();
std::vector<Entry> inception_entries();
std::vector<Entry> mobilenet_entries();
std::vector<Entry> mnasnet_entries();
std::vector<Entry> shufflenet_entries();
std::vector<Entry> googlenet_entries();
std::vector<Entry> inception_v4_entries();
std::vector<Entry> mobilenet_v3_entries();
std::vector<Entry> efficientnet_entries();
std::vector<Entry> regnet_entries();
std::vector<Entry> convnext_entries();
std::vector<Entry> vit_entries();
std::vector<Entry> swin_entries();
std::vector<Entry> ssd_entries();
std::vector<Entry> yolov3_entries();
std::vector<Entry> retinanet_entries();
std::vector<Entry> rcnn_entries();
std::vector<Entry> segmentation_entries();
std::vector<Entry> mmsegmentation_entries();
std::vector<Entry> unet_entries();
std::vector<Entry> volume_unet_entries();
std::vector<Entry> hrnet_entries();
std::vector<Entry> efficientdet_entries();
std::vector<Entry> cyclegan_entries();
std::vector<Entry> lstm_entries();
std::vector<Entry> gnmt_entries();
std::vector<Entry> transformer_entries();
std::vector<Entry> bert_entries();
std::vector<Entry> gpt_entries();
std::vector<Entry> opt_entries();
std::vector<Entry> llama_entries();
std::vector<Entry> roberta_entries();
std::vector<Entry> distilbert_entries();
std::vector<Entry> gpt_neox_entries();
std::vector<Entry> mpt_entries();
std::vector<Entry> t5_entries();
std::vector<Entry> transformer_xl_entries();
std::vector<Entry> deepspeech2_entries();
std::vector<Entry> jasper_entries();
std::vector<Entry> tacotron2_entries();
std::vector<Entry> dlrm_entries();
std::vector<Entry> wide_deep_entries();
std::vector<Entry> vit_huggingface_entries();
std::vector<Entry> electra_entries();
std::vector<Entry> bart_entries();
std::vector<Entry> recoder_entries();
std::vector<Entry> mlp_entries();
std::vector<Entry> neumf_entries();
std::vector<Entry> random_entries();

}  // namespace foretrain::zoo
