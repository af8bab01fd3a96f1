// SPDX-License-Identifier: Apache-2.0
#include "foretrain/request/request.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

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

// The strict fp32 is a precision of its own only as a word: what computes is fp32.
TEST(ParseRequest, KnowsStrictFp32) {
  const Request strict = parse_request(R"({"model":"x","precision":"fp32-ieee"})", "test");
  EXPECT_TRUE(strict.ieee);
  EXPECT_EQ(strict.precision, Precision::Fp32);
  EXPECT_EQ(parse_request(to_json(strict), "test"), strict);
  EXPECT_FALSE(parse_request(R"({"model":"x","precision":"fp32"})", "test").ieee);
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

// A row that was copied and kept the member of another would change two.
TEST(RequestFields, EachRowHoldsAMemberOfItsOwn) {
  std::vector<const RequestField*> rows;
  for (const auto fields : {request_fields(), strategy_fields()}) {
    for (const RequestField& field : fields) {
      if (field.type != FieldType::Object) rows.push_back(&field);
    }
  }
  const auto other_value = [](const RequestField& row) -> FieldValue {
    switch (row.type) {
      case FieldType::Boolean:
        return true;
      case FieldType::Number:
        return 2.5;
      case FieldType::Integer:
        return std::int64_t{3};
      case FieldType::Integers:
        return std::vector<int>{2, 1};
      case FieldType::Texts:
        return std::vector<std::string>{"a", "b"};
      case FieldType::Described:
        return Described{R"({"name":"x"})", true};
      default:
        for (const auto& word : row.words) {
          if (FieldValue(std::string(word)) != row.value(Request{})) return std::string(word);
        }
        return "x";
    }
  };
  for (const RequestField* row : rows) {
    Request request;
    row->store(request, other_value(*row));
    for (const RequestField* other : rows) {
      const bool changed = other->value(request) != other->value(Request{});
      EXPECT_EQ(changed, row == other) << row->name << " and " << other->name;
    }
  }
}

TEST(RequestFields, HelpHasWordsAndDefault) {
  const auto named = [](std::span<const RequestField> fields, std::string_view name) {
    return help_of(*std::find_if(fields.begin(), fields.end(),
                                 [&](const RequestField& field) { return field.name == name; }));
  };
  EXPECT_EQ(named(request_fields(), "mode"), "what a step does: train, inference (train)");
  EXPECT_EQ(named(request_fields(), "workers"), "devices that compute, in all (1)");
  EXPECT_EQ(named(request_fields(), "host_speed"),
            "speed of the host against the reference machine (by cloud or device)");
  EXPECT_EQ(named(request_fields(), "epochs"), "passes over the data set");
  EXPECT_EQ(named(request_fields(), "engine"),
            "what predicts: auto, operators, inspector, embedding, scaling (auto)");
  EXPECT_EQ(named(strategy_fields(), "server_device"), "what a server runs on (cpu)");
}

TEST(RequestFields, AWordThatIsNoneOfAFieldIsRefused) {
  EXPECT_EQ(error_of(R"({"model":"x","strategy":"dpp"})"),
            "request 7: strategy: 'kind' is 'dpp'; it must be one of ddp, allreduce, dataparallel, "
            "ps, horovod, fsdp, zero1, zero2, zero3; did you mean 'ddp'?");
  EXPECT_EQ(error_of(R"({"model":"x","precision":"half"})"),
            "request 7: 'precision' is 'half'; it must be one of fp32, tf32, fp16, bf16, fp8, "
            "fp64, fp32-ieee; did you mean 'fp16'?");
  EXPECT_EQ(error_of(R"({"model":"x","strategy":"tp"})"),
            "request 7: strategy: 'kind' is 'tp'; it must be one of ddp, allreduce, dataparallel, "
            "ps, horovod, fsdp, zero1, zero2, zero3; did you mean the field 'tensor'?");
}

TEST(RequestFields, AFieldsUsualNameLeadsToIt) {
  EXPECT_EQ(error_of(R"({"model":"x","gpus":8})"),
            "request 7: unknown field 'gpus'; did you mean 'workers'?");
}

TEST(WriteRequest, WritesWhatDiffersFromTheDefault) {
  EXPECT_EQ(to_json(parse_request(R"({"model":"x","workers":1,"precision":"fp32"})", "r")),
            R"({"model":"x"})");
  EXPECT_EQ(to_json(parse_request(R"({"strategy":"ps","network":{"bytes_per_s":1e9},"batch":8,
                                "device":"t4","model":"x","epochs":2})",
                                  "r")),
            R"({"model":"x","device":"t4","network":{"bytes_per_s":1000000000.0},"batch":8,)"
            R"("strategy":{"kind":"ps"},"epochs":2.0})");
}

TEST(WriteRequest, ComesBackForEveryRequestOfTheCorpus) {
  std::ifstream corpus("tests/corpus/requests.jsonl");
  std::string line;
  int compared = 0;
  while (std::getline(corpus, line)) {
    Request request;
    try {
      request = parse_request(line, "corpus");
    } catch (const Error&) {  // some are wrong on purpose
      continue;
    }
    const std::string json = to_json(request);
    ASSERT_EQ(parse_request(json, "written"), request) << line << "\n" << json;
    EXPECT_EQ(to_json(parse_request(json, "written")), json);
    ++compared;
  }
  EXPECT_GT(compared, 4000);
}

// Each range is told as it is; all were said to be 1e-9 to 1e18.
TEST(ParseRequest, SaysWhichNumbersAreInRange) {
  try {
    parse_request(R"({"model": "mlp", "strategy": {"expert_imbalance": 0.5}})", "test");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("at least 1 and at most 1e+06"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace foretrain
