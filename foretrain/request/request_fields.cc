// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/request_fields.h"

#include <array>

namespace foretrain {
namespace {

using enum FieldType;

constexpr std::array kFields{
    RequestField{"model", Text,
                 "a built-in name (foretrain models) or a file: .onnx, .ftg.json, config.json; "
                 "sizes go behind "
                 "a colon, as in model.onnx:height=224; required"},
    RequestField{"device", Text, "a name (foretrain devices), or a datasheet as JSON or file"},
    RequestField{"workers", Integer, "devices that compute, in all (1)"},
    RequestField{"workers_per_node", Integer, "devices on each node (all on one node up to 8)"},
    RequestField{"placement", List, "devices on each node, e.g. [3,3,4,4]"},
    RequestField{"intra_node", Text,
                 "link inside a node: pcie3-x16, nvlink2, nvswitch, ... or JSON"},
    RequestField{"network", Text, "link between nodes: 10gbe, 4xhdr, 50gbps, ... or JSON"},
    RequestField{"cluster", Text, "file or JSON of a cluster with mixed devices or links"},
    RequestField{"batch", Integer, "samples per data-parallel rank and step (32)"},
    RequestField{"global_batch", Integer, "samples per step over all ranks, instead of batch"},
    RequestField{"precision", Text, "fp32, tf32, fp16, bf16, fp8, fp64 (fp32)"},
    RequestField{"framework", Text, "pytorch, pytorch-compile, tensorflow, ... (pytorch)"},
    RequestField{"optimizer", Text, "sgd, momentum, adam, adamw, lamb, ..., none (sgd)"},
    RequestField{"strategy", Object,
                 "ddp, allreduce, dataparallel, ps, horovod, or an object (ddp)"},
    RequestField{"mode", Text, "train or inference (train)"},
    RequestField{"trainable", Text, "all, head or lora:rank=16 (all)"},
    RequestField{"attention", Text, "math or flash (by framework and precision)"},
    RequestField{"autotune", Boolean, "convolutions try algorithms first, as cudnn.benchmark does"},
    RequestField{"dataset", Text, "imagenet, cifar10, ...: sets samples"},
    RequestField{"samples", Number, "samples in the data set"},
    RequestField{"epochs", Number, "passes over the data set"},
    RequestField{"steps", Number, "length of the job in steps"},
    RequestField{"tokens", Number, "length of the job in tokens"},
    RequestField{"host_speed", Number, "speed of the host against the reference machine (1)"},
    RequestField{"input_rate", Number, "samples per second that one worker's input delivers"},
    RequestField{"copy_rate", Number, "bytes/s of an input copy that each step waits for (none)"},
    RequestField{"power_limit_w", Number, "watts that a device may draw (its datasheet's)"},
    RequestField{"context_bytes", Number, "device memory taken by driver and libraries"},
    RequestField{"price_per_device_hour", Number, "in USD, for the cost"},
    RequestField{"cloud", Text, "cloud instance (foretrain clouds), for network and cost"},
    RequestField{"predictors", List,
                 "files written by fit: operators, calibration, framework, intervals"},
    RequestField{"engine", Text, "auto or operators (auto)"},
};

constexpr std::array kStrategyFields{
    RequestField{"kind", Text, "ddp, allreduce, dataparallel, ps, horovod"},
    RequestField{"servers", Integer, "parameter servers (1)"},
    RequestField{"asynchronous", Boolean,
                 "workers do not wait for each other: true or false (false)"},
    RequestField{"server_device", Text, "what a server runs on (cpu)"},
    RequestField{"server_placement", List, "servers on each node (round-robin)"},
    RequestField{"tensor", Integer, "tensor-parallel degree (1)"},
    RequestField{"pipeline", Integer, "pipeline stages (1)"},
    RequestField{"expert", Integer, "expert-parallel degree (1)"},
    RequestField{"context", Integer, "context-parallel degree (1)"},
    RequestField{"micro_batch", Integer, "samples per forward pass"},
    RequestField{"interleave", Integer, "model chunks per pipeline stage (1)"},
    RequestField{"recompute", Text, "none, selective or full (none)"},
};

}  // namespace

std::span<const RequestField> request_fields() { return kFields; }
std::span<const RequestField> strategy_fields() { return kStrategyFields; }

}  // namespace foretrain
