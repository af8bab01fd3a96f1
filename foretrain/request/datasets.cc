// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/detail/datasets.h"

#include <array>
#include <vector>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"

namespace foretrain {
namespace {

struct Dataset {
  const char* name;
  double samples;  // of the training split
  const char* source;
  double pixels = 0;  // of a stored photograph, on average
};

constexpr std::array kDatasets{
    Dataset{"imagenet", 1281167, "ILSVRC 2012 training images", 469 * 387},
    Dataset{"tiny-imagenet", 100000, "Stanford CS231n: 200 classes of 500 images"},
    Dataset{"cifar10", 50000, "Krizhevsky 2009"},
    Dataset{"cifar100", 50000, "Krizhevsky 2009"},
    Dataset{"mnist", 60000, "LeCun et al. 1998"},
    Dataset{"fashion-mnist", 60000, "Xiao et al. 2017"},
    Dataset{"coco", 118287, "COCO 2017 training images", 578 * 484},
    Dataset{"cityscapes", 2975, "Cordts et al. 2016: finely annotated images", 2048 * 1024},
    Dataset{"pascal-voc", 16551, "VOC 2007 + 2012 trainval images", 486 * 383},
    Dataset{"squad", 87599, "SQuAD 1.1 training questions"},
    Dataset{"wmt16-en-de", 4500966, "WMT 2016 English-German sentence pairs"},
    Dataset{"multi30k", 29000, "Multi30K training pairs"},
    Dataset{"ml-1m", 994169, "MovieLens 1M ratings, one per user held out"},
    Dataset{"ml-20m", 19861770, "MovieLens 20M ratings, one per user held out"},
    Dataset{"librispeech", 281241, "LibriSpeech 960 h training utterances"},
};

const Dataset& dataset_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Dataset& dataset : kDatasets) {
    if (name == dataset.name) return dataset;
    known.emplace_back(dataset.name);
  }
  std::string list;
  for (const std::string& text : known) list += (list.empty() ? "" : ", ") + text;
  throw Error(ErrorKind::NotFound, "data set '" + printable(name) + "' is not known" +
                                       did_you_mean(name, known) + "; known: " + list +
                                       "; or give 'samples'");
}

}  // namespace

double dataset_samples(const std::string& name) { return dataset_named(name).samples; }

double dataset_pixels(const std::string& name) { return dataset_named(name).pixels; }

}  // namespace foretrain
