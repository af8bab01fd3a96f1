// SPDX-License-Identifier: Apache-2.0
// The mappings of data/evaluate/ against the catalogs; every measurement here is invented.
#include <gtest/gtest.h>

#include <span>

#include "foretrain/base/embedded.h"
#include "foretrain/base/error.h"
#include "foretrain/evaluate/evaluate.h"
#include "foretrain/measured/mapping.h"
#include "foretrain/measured/test_files.h"
#include "foretrain/request/find_model.h"
#include "foretrain/request/resolve.h"

namespace foretrain::measured {
extern const std::span<const EmbeddedFile> kMappingFiles;
}  // namespace foretrain::measured

namespace foretrain::evaluate {
namespace {

// Whether a rule takes the variable for a model: "{name}" or "{name}:seq=128".
bool names_models(const measured::Mapping& mapping, const std::string& variable) {
  for (const measured::Rule& rule : mapping.rules) {
    for (const auto& [field, pieces] : rule.request) {
      if (field != "model" || pieces.empty()) continue;
      const bool alone = pieces.size() == 1 && pieces[0].text == variable;
      const bool first = pieces.size() > 2 && pieces[1].text == variable &&
                         pieces[1].kind == measured::Piece::Kind::Characters &&
                         pieces[2].text.starts_with(':');
      if (alone || first) return true;
    }
  }
  return false;
}

TEST(MappingData, NamesOnlyDevicesAndModelsThatExist) {
  const Library library = load_library();
  for (const EmbeddedFile& file : measured::kMappingFiles) {
    SCOPED_TRACE(file.name);
    const measured::Mapping mapping = measured::parse_mapping(file.text, "mapping");
    for (const measured::Variable& variable : mapping.variables) {
      if (!variable.map) continue;
      for (const auto& [text, json] : *variable.map) {
        const std::string name = json.substr(1, json.size() - 2);
        if (variable.name == "device") {
          const std::string request = R"({"model": "mlp", "device": )" + json + "}";
          EXPECT_NO_THROW(resolve(parse_request(request, "r"), library)) << name;
        } else if (names_models(mapping, variable.name)) {
          EXPECT_NO_THROW(find_model(name)) << name;
        }
      }
    }
  }
}

struct Invented {
  const char* file;
  const char* line;  // of the CSV file
  const char* metric;
  int workers;
  double measured;  // SI
};

class MappedSource : public testing::TestWithParam<Invented> {};

TEST_P(MappedSource, PredictsARow) {
  const Invented& invented = GetParam();
  const measured::TestFolder folder;
  folder.write(invented.file + std::string(".csv"),
               measured::kTrainingHeader + invented.line + "\n");
  const Library library = load_library();
  std::vector<Case> cases;
  Observer observer;
  observer.on_case = [&](const Case& one) { cases.push_back(one); };
  evaluate(folder.path(), {}, library, observer);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].reason, "");
  EXPECT_EQ(cases[0].outcome, Outcome::Predicted);
  EXPECT_EQ(cases[0].metric, invented.metric);
  EXPECT_EQ(cases[0].workers, invented.workers);
  EXPECT_DOUBLE_EQ(cases[0].measured, invented.measured);
  EXPECT_GT(cases[0].predicted, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Files, MappedSource,
    testing::Values(
        Invented{"neusight",
                 "s,f,bert_large,seq=128; mode=inf,Tesla T4,1,1,1,n/a,FP32,2,2,e2e_latency,"
                 "50,ms,single-GPU,none",
                 "inference e2e", 1, 0.05},
        Invented{"neusight",
                 "s,f,gpt2_large,seq=128; mode=train,NVIDIA A100-SXM4-40GB,4,1,4,NVLink,FP32,"
                 "1,4,e2e_latency,50,ms,data-parallel x4,none",
                 "training e2e, 4 GPUs", 4, 0.05},
        Invented{"pollux",
                 "s,f,ResNet-50,ImageNet,T4 16GB,7,2,3/4,x,AMP (apex O1),20,140,sync_time,0.5,s,"
                 "ddp,placement=34; raw",
                 "sync_time", 7, 0.5},
        Invented{"pollux",
                 "s,f,NeuMF,MovieLens,T4 16GB,7,3,,x,FP32,32,224,step_time,0.5,s,ddp,"
                 "placement spread over 3 nodes; per-node split not recorded",
                 "step_time", 7, 0.5},
        Invented{"torchvision_gpus",
                 "s,f,resnet18,x,TITAN RTX,2,1,2,PCIe,FP16,12,24,step_time,40,ms,"
                 "nn.DataParallel,none",
                 "step_time, 2-4 GPUs", 2, 0.04},
        Invented{"torchvision2_gpus",
                 "s,f,resnet18,x,GeForce RTX 3090,1,1,1,n/a,FP32 (cuDNN convs TF32 by default),12,"
                 "12,fw_latency,5,ms,single-GPU,none",
                 "forward, 1 GPU", 1, 0.005},
        Invented{"torchvision2_gpus",
                 "s,f,resnet18,x,AMD Radeon RX 6800,1,1,1,n/a,FP16,12,12,step_time,16,ms,"
                 "single-GPU,none",
                 "step_time, Radeon", 1, 0.016},
        Invented{"finetune",
                 "qwen-readme,f,Qwen-7B,padded to seq=512,A100-SXM4-80GB,1,1,1,n/a,BF16,1,8,"
                 "iteration_time,1.5,s,single-GPU,method=LoRA; batch 1",
                 "iteration, Qwen", 1, 1.5},
        Invented{"gavel",
                 "s,f,LM,Wikitext-2,K80,2,,,consolidated,FP32,5,10,throughput,20,"
                 "worker-iterations/s,ddp,none",
                 "it/s, 2-8 GPUs, nodes unknown", 2, 10},
        Invented{"shockwave",
                 "s,f,ResNet-50,ImageNet,V100,1,,,consolidated,FP32,16,16,throughput,20,"
                 "iterations/s,one,none",
                 "it/s, 1 GPU", 1, 20},
        Invented{"mxnet", "s,f,AlexNet,x,M60,1,1,1,n/a,FP32,16,16,throughput,300,images/s,one,none",
                 "throughput", 1, 300},
        Invented{"muri",
                 "s,f,vgg16,x,V100 32GB,8,1,8,x,FP32,16,128,network_stage_time,60,ms,ddp,none",
                 "network_stage_time", 8, 0.06},
        Invented{"shockwave",
                 "s,f,Recommendation,ML-20M,V100,1,,,consolidated,FP32,512,512,throughput,20,"
                 "iterations/s,one,none",
                 "it/s, 1 GPU", 1, 20},
        Invented{"gavel",
                 "s,f,LM,Wikitext-2,V100,4,,,unconsolidated,FP32,5,20,throughput,20,"
                 "worker-iterations/s,ddp,none",
                 "it/s, 2-8 GPUs, apart", 4, 5},
        Invented{"pollux",
                 "s,f,YOLOv3,PASCAL-VOC,T4 16GB,2,1,2,x,AMP (apex O1),8,16,step_time,0.5,s,ddp,"
                 "placement=2; raw",
                 "step_time", 2, 0.5},
        Invented{"pollux",
                 "s,f,YOLOv3,PASCAL-VOC,T4 16GB,2,2,1,x,AMP (apex O1),8,16,step_time,0.5,s,ddp,"
                 "placement=11; raw",
                 "step_time", 2, 0.5},
        Invented{"paddle",
                 "s,PyTorch,DeepLabV3P,,V100-SXM2 32GB,8,1,8,x,AMP/FP16,4,32,throughput,40,"
                 "samples/s,data-parallel,n",
                 "throughput", 8, 40},
        Invented{"mmseg_memory",
                 "s,f,PSPNet R-50-D8,ADE20K crop=512x512,V100,4,1,4,NVLink,FP32,4,16,peak_gpu_mem,"
                 "8,GB,DDP,config=pspnet_r50-d8_4xb4-80k_ade20k-512x512.py; raw",
                 "peak_gpu_mem", 4, 8 * 1073741824.0},
        Invented{"mmseg_memory",
                 "s,f,FCN HRNetV2p-W18-Small,Cityscapes crop=512x1024,V100,4,1,4,NVLink,FP32,2,8,"
                 "peak_gpu_mem,2,GB,DDP,config=fcn_hr18s_4xb2-40k_cityscapes-512x1024.py; raw",
                 "peak_gpu_mem", 4, 2 * 1073741824.0},
        Invented{"detection_zoos",
                 "mmdetection-readme,f,faster_rcnn X,COCO,V100,8,1,8,NVLink,FP32,2,16,peak_gpu_mem,"
                 "6,GB,DDP,config=faster-rcnn_x101-32x4d_fpn_1x_coco.py; raw",
                 "peak_gpu_mem", 8, 6 * 1073741824.0},
        Invented{
            "detection_zoos",
            "detectron2-model-zoo,f,R50 | RetinaNet:,COCO,V100 16GB,8,1,8,NVLink,FP32,2,16,"
            "step_time,0.2,s,DDP,config=configs/COCO-Detection/retinanet_R_50_FPN_1x.yaml; raw",
            "step_time", 8, 0.2},
        Invented{"detection_zoos",
                 "detectron-caffe2-model-zoo,f,R-101-FPN Kps | End-to-End Keypoint-Only,COCO,"
                 "P100 16GB,8,1,8,NVLink,FP32,2,16,step_time,0.9,s,sync,lr_schd=1x",
                 "step_time", 8, 0.9},
        Invented{
            "nvidia_examples",
            "s,TensorFlow1,Classification/ConvNets/resnet50v1.5,,V100 16GB,8,1,8,DGX-1: NVLink,x,"
            "128 (FP32) / 256 (AMP),,throughput,9000,img/s,ddp,\"col=\"\"Throughput - mixed\"\"\"",
            "throughput", 8, 9000}));

}  // namespace
}  // namespace foretrain::evaluate
