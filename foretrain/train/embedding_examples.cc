// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/embedding_examples.h"

#include <cmath>
#include <fstream>
#include <map>
#include <numeric>

#include "foretrain/base/csv.h"
#include "foretrain/base/error.h"
#include "foretrain/base/file.h"
#include "foretrain/base/json.h"
#include "foretrain/base/near.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/measured/measurements.h"
#include "foretrain/measured/open_tables.h"
#include "foretrain/measured/report_number.h"
#include "foretrain/operators/answer.h"
#include "foretrain/predict/predict.h"
#include "foretrain/request/find_model.h"
#include "foretrain/request/request.h"
#include "foretrain/scaling/values.h"
#include "foretrain/zoo/zoo.h"

namespace foretrain::train {
namespace {

namespace fs = std::filesystem;

using Families = std::map<std::string, std::string>;

Families read_families(const fs::path& file) {
  Families families;
  if (file.empty()) return families;
  std::ifstream in(file);
  if (!in) throw Error(ErrorKind::Io, named(file.string()) + ": cannot be read");
  CsvReader reader(in, named(file.string()));
  std::vector<std::string> fields;
  while (reader.next(fields)) {
    if (fields.size() != 2 || (families.empty() && reader.line() == 1 &&
                               fields != std::vector<std::string>{"model", "family"})) {
      throw Error(ErrorKind::BadInput, named(file.string()) + ": line " +
                                           std::to_string(reader.line()) +
                                           ": not the columns model and family");
    }
    if (fields[0] != "model") families[fields[0]] = fields[1];
  }
  return families;
}

// The family of a built-in model, of random ones their own; of others the model itself.
std::string built_in_family(const std::string& name) {
  const std::string plain = name.substr(0, name.find(':'));
  if (plain == "random") return name.substr(0, name.find(','));
  for (const zoo::Model& model : zoo::models()) {
    if (model.name == plain) return model.family;
  }
  return name;
}

std::string family_of(const measured::Measurement& row, const std::string& model,
                      const EmbeddingSource& source, const Families& families) {
  if (source.by_model) return model;
  const auto known = families.find(row.model);
  return known != families.end() ? known->second : built_in_family(model);
}

struct Wanted {
  std::string request{};  // of facts alone
  std::string model{};    // as the mapping names it
  measured::Measurement row{};
  std::vector<double> measured_s{};
  std::string reason{};  // why there is no example
};

// With its model's file in the folder of models.
Wanted wanted_of(const measured::Measurement& row, const fs::path& models) {
  Wanted wanted{.request = row.plain ? *row.plain : *row.request, .row = row};
  Json json = parse_json(wanted.request, "request");
  const auto model = json.find("model");
  if (model == json.end() || !model->is_string()) return wanted;
  wanted.model = model->get<std::string>();
  if (models.empty() || !names_model_file(wanted.model)) return wanted;
  *model = (models / wanted.model).string();
  wanted.request = json_text(json);
  return wanted;
}

std::vector<Wanted> wanted_requests(const EmbeddingSource& source, std::size_t& rows) {
  const std::size_t number =
      measured::report_number_named(source.time == TimeOf::Step    ? "step_time_s"
                                    : source.time == TimeOf::Epoch ? "epoch_time_s"
                                                                   : "total_time_s");
  std::vector<Wanted> wanted;
  std::map<std::string, std::size_t> places;  // by request and metric
  for (measured::Table& table : measured::open_tables(source.data)) {
    measured::Measurements measurements(table);
    if (!measurements.obstacle().empty()) continue;
    for (std::vector<measured::Measurement> found; measurements.next(found); found.clear()) {
      for (const measured::Measurement& one : found) {
        if (!one.request || one.number != number || !(one.measured > 0)) continue;
        ++rows;
        Wanted next = wanted_of(one, source.models);
        const auto [place, added] =
            places.try_emplace(next.request + "\n" + one.metric + "\n" + one.split, wanted.size());
        if (added) wanted.push_back(std::move(next));
        wanted[place->second].measured_s.push_back(one.measured);
      }
    }
  }
  return wanted;
}

embedding::Embedding find_embedding(const fs::path& file) {
  constexpr std::uintmax_t kLargest = 16 << 20;
  if (file.empty()) return embedding::shipped_embedding();
  return embedding::read_embedding(read_file(file.string(), kLargest), named(file));
}

double log_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

EmbeddingExample example_of(const Wanted& one, const EmbeddingSource& source,
                            const Families& families, const embedding::Embedding& embedding,
                            const Library& library) {
  const Request request =
      parse_request(one.request, one.row.file + ", line " + std::to_string(one.row.line));
  const Resolved resolved = resolve_job(request, library);
  EmbeddingExample example;
  example.model = one.row.model;
  example.metric = one.row.metric;
  example.split = one.row.split;
  example.family = family_of(one.row, one.model, source, families);
  example.network = *embed_model(resolved, embedding, library);
  std::optional<embedding::OperatorsWord> word;
  if (source.with_operators) {
    const Question question(resolved, library);
    const operators::StepDetail& detail = operators::detail_of(question);
    word = embedding::OperatorsWord{detail.step.value, detail.breakdown};
  }
  auto job = embedding::job_features(resolved, example.network, source.time, word);
  if (!job) throw Error(ErrorKind::BadInput, "the request does not say how long the job is");
  example.job = std::move(*job);
  const double startup_s = source.time == TimeOf::Total ? resolved.startup_s : 0;
  if (word) example.operators_s = word->step_s * example.job.steps + startup_s;
  example.workers = resolved.workers;
  example.samples =
      example.job.steps * static_cast<double>(resolved.batch) * resolved.data_parallel;
  example.workload = one.model + " " + one.row.device;
  example.measured_s = one.measured_s;
  example.time_s = log_mean(one.measured_s);
  return example;
}

}  // namespace

EmbeddingData read_embedding_data(const EmbeddingSource& source, const Library& library) {
  const Families families = read_families(source.families);
  EmbeddingData data{.time = source.time,
                     .embedding = find_embedding(source.embedding),
                     .with_operators = source.with_operators};
  std::vector<Wanted> wanted = wanted_requests(source, data.rows);
  std::vector<std::optional<EmbeddingExample>> found(wanted.size());
  parallel_for(wanted.size(), source.threads, [&](std::size_t i) {
    try {
      found[i] = example_of(wanted[i], source, families, data.embedding, library);
    } catch (const Error& error) {
      wanted[i].reason = error.what();
    }
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i]) {
      data.examples.push_back(std::move(*found[i]));
      continue;
    }
    data.skipped += wanted[i].measured_s.size();
    if (data.reason.empty()) data.reason = wanted[i].reason;
  }
  if (data.examples.empty()) {
    throw Error(ErrorKind::NotFound,
                named(source.data.string()) + ": no measured " + std::string(name_of(source.time)) +
                    " of a job that can be predicted" +
                    (data.reason.empty() ? "" : "; the first: " + data.reason));
  }
  return data;
}

std::string embedding_examples_csv(const EmbeddingData& data) {
  std::string text = "model,family,metric,split,workload,time_s,operators_s,samples,workers";
  for (const std::string& name : embedding::term_names()) text += ",t:" + name;
  for (const std::string& name : embedding::job_feature_names(data.embedding.spread.size()))
    text += ",f:" + name;
  for (const std::string_view field : embedding::word_fields()) text += ",w:" + std::string(field);
  text += '\n';
  for (const EmbeddingExample& one : data.examples) {
    std::string line = csv_line(one.model, one.family, one.metric, one.split, one.workload,
                                one.time_s, one.operators_s, one.samples, one.workers);
    line.pop_back();
    for (const double value : one.job.terms) line += "," + csv_field(value);
    for (const double value : one.job.values) line += "," + csv_field(value);
    for (const std::string& word : one.job.words) line += "," + csv_field(word);
    text += line + "\n";
  }
  return text;
}

}  // namespace foretrain::train
