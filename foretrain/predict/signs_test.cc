// SPDX-License-Identifier: Apache-2.0
// The table of signs in docs/models/signs.md, held over random requests.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/hw/catalog.h"
#include "foretrain/predict/predict.h"

namespace foretrain {
namespace {

// Which way a number may move when one thing of a request grows.
enum class Sign { Up, Down, Same, Free };

struct Expectation {
  Sign step, communication, memory, total, cost;
};

// A request whose device and network are written out, so that each datasheet value can change.
struct Trial {
  std::string model = "resnet18";
  double peak = 15.7e12;
  double tensor_peak = 125e12;
  double bandwidth = 900e9;
  double memory_bytes = 16e9;
  double network_bytes_per_s = 1.25e9;
  double network_latency_s = 20e-6;
  double host_speed = 1;
  double input_rate = 1e5;
  double price = 2;
  double tdp_w = 300;  // 0: no power limit
  int nodes = 2;
  int per_node = 2;
  std::int64_t batch = 16;
  int epochs = 2;
  std::string precision = "fp32";
  std::string strategy = "\"ddp\"";

  Request request() const {
    std::string placement;
    for (int n = 0; n < nodes; ++n) placement += (n == 0 ? "" : ",") + std::to_string(per_node);
    const std::string json =
        R"({"model":")" + model + R"(","device":{"name":"trial","fp32_flops_per_s":)" +
        std::to_string(peak) + R"(,"tensor_fp16_flops_per_s":)" + std::to_string(tensor_peak) +
        R"(,"memory_bytes":)" + std::to_string(memory_bytes) + R"(,"memory_bytes_per_s":)" +
        std::to_string(bandwidth) +
        R"(,"sms":80,"fp32_cores_per_sm":64,"l2_bytes":6291456,"architecture":"volta",)" +
        (tdp_w > 0 ? "\"tdp_w\":" + std::to_string(tdp_w) + "," : "") +
        R"("process":"12nm","memory_type":"hbm2"},"network":{"bytes_per_s":)" +
        std::to_string(network_bytes_per_s) + R"(,"latency_s":)" +
        std::to_string(network_latency_s) + R"(},"intra_node":"nvlink2","placement":[)" +
        placement + R"(],"batch":)" + std::to_string(batch) + R"(,"host_speed":)" +
        std::to_string(host_speed) + R"(,"input_rate":)" + std::to_string(input_rate) +
        R"(,"samples":50000,"epochs":)" + std::to_string(epochs) + R"(,"price_per_device_hour":)" +
        std::to_string(price) + R"(,"precision":")" + precision + R"(","strategy":)" + strategy +
        "}";
    return parse_request(json, "trial");
  }
};

struct Change {
  const char* name;
  std::function<void(Trial&)> grow;
  Expectation expected;
};

using enum Sign;

// docs/models/signs.md. Columns: step, communication, memory peak, total time, cost.
const std::array kChanges{
    Change{"nodes", [](Trial& t) { t.nodes *= 2; }, {Up, Up, Up, Free, Free}},
    Change{"batch", [](Trial& t) { t.batch *= 2; }, {Up, Same, Up, Free, Free}},
    Change{"network bandwidth",
           [](Trial& t) { t.network_bytes_per_s *= 2; },
           {Down, Down, Same, Down, Down}},
    Change{"network latency", [](Trial& t) { t.network_latency_s *= 2; }, {Up, Up, Same, Up, Up}},
    Change{"peak",
           [](Trial& t) { t.peak *= 1.5, t.tensor_peak *= 1.5; },
           {Down, Same, Same, Down, Down}},
    Change{
        "memory bandwidth", [](Trial& t) { t.bandwidth *= 1.5; }, {Down, Same, Same, Down, Down}},
    Change{"memory size", [](Trial& t) { t.memory_bytes *= 2; }, {Same, Same, Same, Same, Same}},
    Change{"host speed", [](Trial& t) { t.host_speed *= 1.5; }, {Down, Same, Same, Down, Down}},
    Change{"input rate", [](Trial& t) { t.input_rate *= 2; }, {Down, Same, Same, Down, Down}},
    Change{"epochs", [](Trial& t) { t.epochs *= 2; }, {Same, Same, Same, Up, Up}},
    Change{"price", [](Trial& t) { t.price *= 2; }, {Same, Same, Same, Same, Up}},
};

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  Trial trial() {
    Trial t;
    t.model = pick({"resnet18", "resnet50", "vgg11", "mobilenet_v2", "densenet40-k12", "lstm-lm",
                    "bert-base:seq=128", "gpt:layers=4,hidden=512,heads=8,seq=256,vocab=8000",
                    "mlp:in=784,hidden=512,layers=3", "neumf", "resnet20-cifar",
                    "random:family=any,seed=3"});
    t.peak = range(2e12, 60e12);
    t.tensor_peak = t.peak * range(1, 10);
    t.bandwidth = range(200e9, 3000e9);
    t.memory_bytes = range(1e9, 80e9);
    t.network_bytes_per_s = range(0.05e9, 50e9);
    t.network_latency_s = range(1e-6, 100e-6);
    t.host_speed = range(0.4, 2);
    t.input_rate = range(200, 1e6);
    t.price = range(0.1, 5);
    t.nodes = static_cast<int>(range(1, 5));
    t.per_node = static_cast<int>(range(1, 9));
    t.batch = static_cast<std::int64_t>(range(1, 65));
    t.precision = pick({"fp32", "fp32", "fp16"});
    t.strategy = pick({"\"ddp\"", "\"allreduce\"", "\"horovod\"", R"({"kind":"ps","servers":2})",
                       R"({"kind":"ps","servers":1,"asynchronous":true})"});
    return t;
  }

 private:
  double range(double low, double high) {
    return low * std::pow(high / low, static_cast<double>(random_() % 1000) / 1000);
  }
  std::string pick(const std::vector<std::string>& list) { return list[random_() % list.size()]; }

  std::mt19937 random_;
};

void expect_sign(Sign sign, double before, double after, const char* number, const char* change,
                 const Trial& trial) {
  // Where power limits a device, what one operator saves moves to others that overlap differently
  // with communication: up to 1.1e-6. Without a power limit the signs are exact.
  const double slack = (trial.tdp_w > 0 ? 2e-6 : 1e-9) * std::abs(before) + 1e-12;
  const bool fine = sign == Free || (sign == Up && after >= before - slack) ||
                    (sign == Down && after <= before + slack) ||
                    (sign == Same && std::abs(after - before) <= slack);
  EXPECT_TRUE(fine) << number << " moved from " << before << " to " << after << " with more "
                    << change << ": " << trial.model << " batch " << trial.batch << " nodes "
                    << trial.nodes << "x" << trial.per_node << " " << trial.precision << " "
                    << trial.strategy << " peak " << trial.peak << " bandwidth " << trial.bandwidth;
}

constexpr int kTrials = 200;

void expect_signs(double tdp_w) {
  const Library library = load_library();
  Draw draw(20);
  for (int i = 0; i < kTrials; ++i) {
    Trial trial = draw.trial();
    trial.tdp_w = tdp_w;
    const Report before = predict(trial.request(), library);
    for (const Change& change : kChanges) {
      Trial grown = trial;
      change.grow(grown);
      const Report after = predict(grown.request(), library);
      const Expectation& e = change.expected;
      expect_sign(e.step, before.step_time_s.value, after.step_time_s.value, "step time",
                  change.name, trial);
      expect_sign(e.communication, before.communication.count(), after.communication.count(),
                  "communication", change.name, trial);
      expect_sign(e.memory, before.memory.allocated, after.memory.allocated, "memory", change.name,
                  trial);
      expect_sign(e.total, before.total_time_s->value, after.total_time_s->value, "total time",
                  change.name, trial);
      expect_sign(e.cost, before.cost_usd->value, after.cost_usd->value, "cost", change.name,
                  trial);
    }
  }
}

TEST(Signs, HoldOverRandomRequests) { expect_signs(300); }

TEST(Signs, AreExactWithoutAPowerLimit) { expect_signs(0); }

TEST(Signs, TheBreakdownAddsUpToTheStep) {
  const Library library = load_library();
  Draw draw(21);
  for (int i = 0; i < kTrials; ++i) {
    const Trial trial = draw.trial();
    const Report report = predict(trial.request(), library);
    const Breakdown& parts = report.breakdown;
    const Seconds sum = parts.compute + parts.memory + parts.exposed_communication + parts.host +
                        parts.bubble + parts.input;
    EXPECT_NEAR(sum.count(), report.step_time_s.value, 1e-9 * report.step_time_s.value)
        << trial.model;
    const Phases& phases = report.phases;
    const Seconds all = phases.forward + phases.backward + phases.update;
    EXPECT_NEAR(all.count(), report.step_time_s.value, 1e-9 * report.step_time_s.value);
    EXPECT_GE(std::min({phases.forward, phases.backward, phases.update}).count(), 0);
    EXPECT_LE(parts.exposed_communication.count(),
              report.communication.count() * (1 + 1e-9) + 1e-2);
    const MemoryReport& memory = report.memory;
    EXPECT_NEAR(memory.parameters + memory.gradients + memory.optimizer + memory.activations +
                    memory.workspace,
                memory.allocated, 1);
    EXPECT_NEAR(memory.allocated + memory.fragmentation + memory.framework, memory.peak, 1);
  }
}

TEST(Signs, OneWorkerHasNoCommunication) {
  const Library library = load_library();
  Draw draw(22);
  for (int i = 0; i < kTrials; ++i) {
    Trial trial = draw.trial();
    trial.nodes = trial.per_node = 1;
    trial.strategy = "\"ddp\"";
    const Report report = predict(trial.request(), library);
    EXPECT_EQ(report.communication.count(), 0);
    EXPECT_EQ(report.breakdown.exposed_communication.count(), 0);
    ASSERT_TRUE(report.resources.worker.net_tx.has_value());
    EXPECT_EQ(report.resources.worker.net_tx->bursts.pattern, resource::Pattern::I);
  }
}

// The fastest network that a request may name, without latency, leaves what one worker needs alone,
// were there no stragglers.
TEST(Signs, InfiniteBandwidthLeavesPureCompute) {
  Library library = load_library();
  library.straggling = std::make_shared<const cost::Straggling>();
  Draw draw(23);
  for (int i = 0; i < kTrials; ++i) {
    Trial trial = draw.trial();
    trial.strategy = "\"allreduce\"";
    trial.network_bytes_per_s = 1e13;
    trial.network_latency_s = 0;
    trial.nodes = 4;
    trial.per_node = 1;
    trial.input_rate = 1e12;
    const double together = predict(trial.request(), library).step_time_s.value;
    trial.nodes = 1;
    const double alone = predict(trial.request(), library).step_time_s.value;
    EXPECT_NEAR(together, alone, 0.01 * alone) << trial.model;
  }
}

}  // namespace
}  // namespace foretrain
