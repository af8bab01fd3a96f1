// SPDX-License-Identifier: Apache-2.0
#include "foretrain/evaluate/print.h"

#include "foretrain/base/csv.h"
#include "foretrain/base/format.h"
#include "foretrain/base/json.h"

namespace foretrain::evaluate {
namespace {

OrderedJson score_json(const Score& score) {
  OrderedJson json{
      {"rows", score.rows}, {"predicted", score.predicted}, {"refused", score.refused}};
  if (score.not_fitting > 0) json["not_fitting"] = score.not_fitting;
  const bool none = !has_errors(score);
  json["mape_percent"] = none ? OrderedJson() : OrderedJson(100 * score.mape);
  json["median_ape_percent"] = none ? OrderedJson() : OrderedJson(100 * score.median_ape);
  json["bias_percent"] = none ? OrderedJson() : OrderedJson(100 * score.bias);
  json["worst_model"] =
      score.worst_model.empty()
          ? OrderedJson()
          : OrderedJson{{"model", score.worst_model}, {"mape_percent", 100 * score.worst_mape}};
  return json;
}

}  // namespace

const char* to_string(Outcome outcome) {
  if (outcome == Outcome::Predicted) return "predicted";
  if (outcome == Outcome::Calibration) return "calibration";
  return outcome == Outcome::Refused ? "refused" : "unmapped";
}

std::string to_json(const Evaluation& evaluation) {
  OrderedJson json;
  json["groups"] = OrderedJson::array();
  for (const Group& group : evaluation.groups) {
    OrderedJson entry;
    for (std::size_t i = 0; i < evaluation.by.size(); ++i) entry[evaluation.by[i]] = group.key[i];
    entry.update(score_json(group.score));
    json["groups"].push_back(entry);
  }
  json["files"] = OrderedJson::array();
  for (const Group& file : evaluation.files) {
    OrderedJson entry{{"file", file.key.front()}};
    entry.update(score_json(file.score));
    json["files"].push_back(entry);
  }
  json["total"] = score_json(evaluation.total);
  json["unmapped"] = OrderedJson::array();
  for (const Reason& reason : evaluation.reasons) {
    json["unmapped"].push_back(OrderedJson{{"file", reason.file},
                                           {"outcome", to_string(reason.outcome)},
                                           {"reason", reason.text},
                                           {"rows", reason.rows},
                                           {"first_line", reason.first_line}});
  }
  json["ignored"] = OrderedJson::array();
  for (const IgnoredFile& file : evaluation.ignored) {
    json["ignored"].push_back(OrderedJson{{"file", file.file}, {"reason", file.reason}});
  }
  for (const CalibratedGroup& group : evaluation.calibrated) {
    const Calibration& found = group.calibration;
    json["calibrated"].push_back(OrderedJson{{"file", group.file},
                                             {"group", group.key},
                                             {"runs", group.runs},
                                             {"compute", found.compute},
                                             {"memory", found.memory},
                                             {"host", found.host},
                                             {"network", found.network},
                                             {"input", found.input},
                                             {"input_rate", found.input_rate}});
  }
  return json_text(json);
}

std::string rows_header() {
  return "file,line,source,model,device,precision,batch,workers,metric,measured,predicted,error,"
         "compute_s,memory_s,exposed_communication_s,host_s,fits,reason,request";
}

std::string rows_line(const Case& one) {
  const bool predicted = one.outcome == Outcome::Predicted;
  const auto number = [](bool present, double value) {
    return "," + (present ? format("%.9g", value) : std::string());
  };
  std::string line = csv_field(one.file) + "," + std::to_string(one.line);
  for (const std::string& text : {one.source, one.model, one.device, one.precision}) {
    line += "," + csv_field(text);
  }
  line += "," + (one.batch ? std::to_string(*one.batch) : "");
  line += "," + (one.workers ? std::to_string(*one.workers) : "");
  line += "," + csv_field(one.metric);
  line += number(one.measured > 0, one.measured) + number(predicted, one.predicted) +
          number(predicted, one.error);
  const Breakdown& parts = one.breakdown;
  for (const Seconds part :
       {parts.compute, parts.memory, parts.exposed_communication, parts.host}) {
    line += number(predicted, part.count());
  }
  line += predicted ? (one.fits ? ",yes" : ",no") : ",";
  return line + "," + csv_field(one.reason) + "," + csv_field(one.request);
}

}  // namespace foretrain::evaluate
