// SPDX-License-Identifier: Apache-2.0
// What the exchange of gradients costs besides the collectives themselves, by strategy.
// data/predictors/exchange.json has the numbers in use, each with its source.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foretrain/base/number_file.h"

namespace foretrain::comm {

struct ExchangeCosts {
  // PyTorch's DistributedDataParallel: a small first bucket so that communication starts early.
  struct Ddp {
    double first_bucket_bytes = 0;  // of gradients that are all-reduced together, the first time
    double bucket_bytes = 0;        // the same, each further time
    double copies = 0;              // of each gradient: into its bucket, and the sum back
  };
  // Horovod's tensor fusion, and the cycles in which each rank says what it has ready.
  struct Horovod {
    double fusion_bytes = 0;  // of gradients that are all-reduced together
    double cycle_s = 0;       // after which ranks say anew what they have ready
  };
  // nn.DataParallel handles every parameter tensor of every device on its own, from threads that
  // share one interpreter.
  struct DataParallel {
    double tensor_s = 0;         // host time of each parameter tensor and device
    double host_copy_share = 1;  // of the bus rate that copies reach without peer access
  };
  // Parameters that ranks share: FSDP, ZeRO.
  struct Sharded {
    double collective_host_s = 0;  // host time of a gather or scatter: hooks, flattening, events
    double kernel_slowdown_share = 0;  // of a GPU's speed, which kernels lose beside a collective
    double bucket_bytes = 0;           // of gradients that DeepSpeed and Megatron scatter together
  };
  // Where a CPU computes, the threads that exchange gradients take its time: hooks, copies to and
  // from buckets or sockets, and sums.
  struct Cpu {
    double ddp_gradient_s = 0;     // all-reduce, of each gradient tensor
    double ddp_byte_s = 0;         // all-reduce, of each byte
    double server_gradient_s = 0;  // parameter servers, of each gradient tensor
    // What the server's own CPU needs beside its updates.
    double server_message_s = 0;        // of each gradient that a worker sends
    double server_received_byte_s = 0;  // of each byte received, with the sum over workers
    double server_sent_byte_s = 0;      // of each byte sent
  };
  Ddp ddp;
  Horovod horovod;
  DataParallel data_parallel;
  Sharded sharded;
  Cpu cpu;
};

// Every number in the order of the file. Pointers into `costs`.
std::vector<NumberPlace> named_numbers(ExchangeCosts& costs);

inline constexpr std::string_view kExchangeFormat = "foretrain-exchange";

// Throws Error(BadInput) naming `where`.
ExchangeCosts read_exchange_costs(std::string_view text, const std::string& where);
std::string write_exchange_costs(const ExchangeCosts& costs, std::span<const std::string> notes);

}  // namespace foretrain::comm
