// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/request.h"

#include <gtest/gtest.h>

#include "foretrain/base/error.h"
#include "foretrain/request/request_fields.h"

namespace foretrain {
namespace {

std::string error_of(const std::string& json) {
  try {
    parse_request(json, "request 7");
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::Io);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "no error";
}

TEST(ParseRequest, FillsEveryField) {
  const Request request = parse_request(
      R"({"model":"resnet50","device":"v100","placement":[3,4],"batch":16,"precision":"fp16",
          "framework":"tensorflow","optimizer":"adamw","strategy":{"kind":"ps","servers":2,
          "asynchronous":true,"server_placement":[2,0]},"host_speed":0.7,"input_rate":900,
          "context_bytes":0,"attention":"flash","trainable":"head","samples":1000,"epochs":2.5,
          "mode":"train","price_per_device_hour":1.5,"network":{"bytes_per_s":1e9}})",
      "test");
  EXPECT_EQ(request.workers, 7);
  EXPECT_EQ(request.precision, Precision::Fp16);
  EXPECT_EQ(request.optimizer, graph::Optimizer::AdamW);
  EXPECT_EQ(request.strategy.kind, Parallel::ParameterServer);
  EXPECT_TRUE(request.strategy.asynchronous);
  EXPECT_EQ(request.strategy.server_placement, (std::vector<int>{2, 0}));
  EXPECT_TRUE(request.network->json);
  EXPECT_FALSE(request.device->json);
  EXPECT_EQ(request.epochs, 2.5);
  EXPECT_EQ(request.context_bytes, 0);
}

TEST(ParseRequest, NamesTheFieldThatIsWrong) {
  EXPECT_NE(error_of(R"({"device":"v100"})").find("request 7: 'model' is required"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","batch_size":3})").find("did you mean 'batch'"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","batch":-3})").find("'batch'"), std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","batch":1e300})").find("'batch'"), std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","batch":2.5})").find("'batch'"), std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","workers":0})").find("'workers'"), std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","host_speed":0})").find("'host_speed'"), std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","host_speed":NaN})").find("request 7"), std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","precision":"fp12"})").find("fp16"), std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","strategy":"dpp"})").find("ddp"), std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","strategy":{"kind":"ps","server":2}})").find("servers"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"model":"x","placement":[2,0]})").find("'placement'"), std::string::npos);
  EXPECT_NE(error_of(R"([1,2])").find("JSON object"), std::string::npos);
  EXPECT_NE(error_of("{").find("request 7"), std::string::npos);
  EXPECT_NE(error_of("").find("request 7"), std::string::npos);
}

TEST(ParseRequest, RefusesWhatContradictsItself) {
  for (const char* json :
       {R"({"model":"x","batch":1,"global_batch":8})", R"({"model":"x","epochs":1,"steps":8})",
        R"({"model":"x","samples":1,"dataset":"cifar10"})",
        R"({"model":"x","placement":[2,2],"workers":5})",
        R"({"model":"x","placement":[2,2],"workers_per_node":2})",
        R"({"model":"x","cluster":{"nodes":[]},"device":"v100"})",
        R"({"model":"x","model":"y"})"}) {
    EXPECT_NE(error_of(json), "no error") << json;
  }
}

// The table of fields is what the command offers; the reader must know each of them.
TEST(ParseRequest, KnowsEveryFieldOfTheTable) {
  for (const RequestField& field : request_fields()) {
    const std::string json = R"({"model":"x",")" + std::string(field.name) + R"(":[[]]})";
    if (field.name == "model") continue;
    EXPECT_EQ(error_of(json).find("unknown"), std::string::npos) << error_of(json);
    EXPECT_NE(error_of(json), "no error") << field.name;
  }
}

}  // namespace
}  // namespace foretrain
