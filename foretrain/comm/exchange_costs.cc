// SPDX-License-Identifier: Apache-2.0
#include "foretrain/comm/exchange_costs.h"

namespace foretrain::comm {

std::vector<NumberPlace> named_numbers(ExchangeCosts& c) {
  return {{"ddp", "first_bucket_bytes", &c.ddp.first_bucket_bytes},
          {"ddp", "bucket_bytes", &c.ddp.bucket_bytes},
          {"ddp", "copies", &c.ddp.copies},
          {"horovod", "fusion_bytes", &c.horovod.fusion_bytes},
          {"horovod", "cycle_s", &c.horovod.cycle_s},
          {"dataparallel", "tensor_s", &c.data_parallel.tensor_s},
          {"dataparallel", "host_copy_share", &c.data_parallel.host_copy_share},
          {"sharded", "collective_host_s", &c.sharded.collective_host_s},
          {"sharded", "kernel_slowdown_share", &c.sharded.kernel_slowdown_share},
          {"sharded", "bucket_bytes", &c.sharded.bucket_bytes},
          {"cpu", "ddp_gradient_s", &c.cpu.ddp_gradient_s},
          {"cpu", "ddp_byte_s", &c.cpu.ddp_byte_s},
          {"cpu", "server_gradient_s", &c.cpu.server_gradient_s},
          {"cpu", "server_message_s", &c.cpu.server_message_s},
          {"cpu", "server_received_byte_s", &c.cpu.server_received_byte_s},
          {"cpu", "server_sent_byte_s", &c.cpu.server_sent_byte_s}};
}

ExchangeCosts read_exchange_costs(std::string_view text, const std::string& where) {
  ExchangeCosts costs;
  assign_numbers(read_number_file(text, where, kExchangeFormat), named_numbers(costs), where);
  return costs;
}

std::string write_exchange_costs(const ExchangeCosts& costs, std::span<const std::string> notes) {
  ExchangeCosts copy = costs;
  return write_number_file(kExchangeFormat, named_numbers(copy), notes);
}

}  // namespace foretrain::comm
