// SPDX-License-Identifier: Apache-2.0
#include "foretrain/train/inspector_examples.h"

#include "foretrain/base/csv.h"
#include "foretrain/base/format.h"
#include "foretrain/base/parallel_for.h"
#include "foretrain/inspector/question_features.h"
#include "foretrain/operators/stages.h"
#include "foretrain/request/request.h"

namespace foretrain::train {
namespace {

using measured::ResourceJob;
using resource::kResources;
using resource::kRoles;

std::vector<InspectorExample> examples_of(const ResourceJob& job, const Library& library,
                                          const std::optional<Grouping>& grouping) {
  const Request request = parse_request(job.request, "the request of " + job.model);
  const Resolved resolved = resolve(request, library);
  const Question question(resolved, library);
  const operators::Stages& stages = operators::stages_of(question);
  std::vector<InspectorExample> examples;
  for (const resource::Role role : kRoles) {
    if (!job.median.roles[index_of(role)]) continue;
    InspectorExample one{.job = &job, .role = role};
    one.replayed = inspector::replay(inspector::curves_of(stages, resolved, role));
    one.features = inspector::question_features(question, role, one.replayed);
    one.predicted_step_s = stages.timeline.end.count();
    if (grouping) one.groups = inspector::step_groups(stages, *grouping);
    examples.push_back(std::move(one));
  }
  return examples;
}

std::string text_of(const std::optional<double>& value) {
  return value ? format("%.9g", *value) : "";
}

std::string header_of(const InspectorExample& example) {
  std::string line = "model,setting,split,role,repeats,step_time_s,predicted_step_s,memory_used";
  for (const auto one : kResources) {
    for (const char* number :
         {"alternating", "amount", "idle_amount", "burst_s", "idle_s", "burst_share"}) {
      line += "," + std::string(name_of(one)) + "." + number;
    }
  }
  for (const std::string& name : example.features.names) line += ",f:" + name;
  return line + "\n";
}

std::string line_of(const InspectorExample& example) {
  const ResourceJob& job = *example.job;
  const measured::RoleUse& use = *job.median.roles[index_of(example.role)];
  std::vector<std::string> cells{job.model,
                                 job.setting,
                                 job.split,
                                 std::string(name_of(example.role)),
                                 std::to_string(job.repeats.size()),
                                 text_of(job.median.step_time_s),
                                 text_of(example.predicted_step_s),
                                 text_of(use.memory_used)};
  for (const auto& one : use.of) {
    const measured::ResourceUse empty;
    const measured::ResourceUse& numbers = one ? *one : empty;
    for (const std::optional<double>& value :
         {one ? std::optional(numbers.alternating) : std::nullopt, numbers.amount,
          numbers.idle_amount, numbers.burst_s, numbers.idle_s,
          one ? std::optional(numbers.burst_share) : std::nullopt}) {
      cells.push_back(text_of(value));
    }
  }
  for (const double value : example.features.values) cells.push_back(text_of(value));
  std::string line;
  for (const std::string& text : cells) line += (line.empty() ? "" : ",") + csv_field(text);
  return line + "\n";
}

}  // namespace

std::vector<InspectorExample> inspector_examples(const std::vector<ResourceJob>& jobs,
                                                 const Library& library, int threads,
                                                 const std::optional<Grouping>& grouping) {
  std::vector<std::vector<InspectorExample>> found(jobs.size());
  parallel_for(jobs.size(), threads,
               [&](std::size_t i) { found[i] = examples_of(jobs[i], library, grouping); });
  std::vector<InspectorExample> examples;
  for (std::vector<InspectorExample>& some : found) {
    for (InspectorExample& one : some) examples.push_back(std::move(one));
  }
  return examples;
}

std::string examples_csv(const std::vector<InspectorExample>& examples) {
  if (examples.empty()) return "";
  std::string text = header_of(examples.front());
  for (const InspectorExample& one : examples) text += line_of(one);
  return text;
}

}  // namespace foretrain::train
