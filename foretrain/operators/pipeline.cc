// SPDX-License-Identifier: Apache-2.0
#include "foretrain/operators/detail/pipeline.h"

#include <algorithm>
#include <map>
#include <optional>

#include "foretrain/base/error.h"
#include "foretrain/operators/breakdown.h"
#include "foretrain/operators/detail/memory.h"
#include "foretrain/operators/detail/pass_times.h"
#include "foretrain/parallel/schedule.h"

namespace foretrain::operators {
namespace {

using parallel::Pipeline;
using parallel::PipelinePass;

// Passes of all stages and transfers between them: a second of work and 500 MB.
constexpr double kMostTasks = 4e6;

constexpr sim::TaskId kNever = -1;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// One kind of stage, lowered by itself.
struct StageKind {
  Stages alone;
  StagePasses passes;
};

void refuse_too_many(const Pipeline& pipeline) {
  const double passes =
      4.0 * pipeline.stages * pipeline.parts * static_cast<double>(pipeline.micro_batches);
  if (passes <= kMostTasks) return;
  throw Error(ErrorKind::Unsupported,
              "pipeline: " + std::to_string(pipeline.micro_batches) + " micro-batches through " +
                  std::to_string(pipeline.stages * pipeline.parts) +
                  " stages are too many to simulate; use a larger micro_batch or a smaller batch");
}

// The tasks of all stages. A stage has a stream and a link in each direction.
class Scheduling {
 public:
  Scheduling(const std::vector<const StagePasses*>& stages, const Pipeline& pipeline,
             const std::vector<StageSteps::Shared>& shared, const Resolved& resolved, int shown)
      : stages_(stages), pipeline_(pipeline), shared_(shared), resolved_(resolved), shown_(shown) {
    for (int s = 0; s < pipeline.stages; ++s) {
      streams_.push_back(sim::add_resource(program_.program));
      passes_.push_back(parallel::passes_of(pipeline, s));
    }
    for (int s = 0; s < pipeline.stages; ++s) {
      forward_links_.push_back(link_to(s, (s + 1) % pipeline.stages));
      backward_links_.push_back(link_to(s, (s + pipeline.stages - 1) % pipeline.stages));
    }
    const std::size_t slots = at(pipeline.micro_batches) * at(pipeline.parts) * at(pipeline.stages);
    forward_done_.assign(slots, kNever);
    backward_done_.assign(slots, kNever);
    program_.program.tasks.reserve(4 * slots);
  }

  StepProgram run() {
    list_passes();
    for (int s = 0; s < pipeline_.stages; ++s) add_pass(s, start_[at(s)], {});
    emit_passes();
    for (int s = 0; s < pipeline_.stages; ++s) add_pass(s, exchange_[at(s)], {});
    const std::vector<std::vector<sim::TaskId>> shared = reduce_shared();
    for (int s = 0; s < pipeline_.stages; ++s) add_pass(s, update_[at(s)], shared[at(s)]);
    if (resolved_.input_rate) {
      const Seconds prepared{static_cast<double>(resolved_.batch) / *resolved_.input_rate};
      sim::add_task(program_.program,
                    {sim::add_resource(program_.program), prepared, kInputTask, 0}, {});
    }
    return std::move(program_);
  }

 private:
  struct Link {
    parallel::StageLink between;
    sim::ResourceId resource = 0;
    int to = 0;
  };

  // Numbers of a stage's passes in StepProgram::passes, by part.
  struct Listed {
    std::vector<std::int32_t> forward;
    std::vector<std::int32_t> backward;
    std::vector<std::int32_t> last_forward;
    std::vector<std::int32_t> last_backward;
    std::vector<std::int32_t> sent_forward;  // in StepProgram::sends
    std::vector<std::int32_t> sent_backward;
  };

  Link link_to(int from, int to) {
    return {parallel::stage_link(resolved_, from, to), sim::add_resource(program_.program), to};
  }

  std::int32_t list(Pass pass, int stage) {
    pass.stage = stage;
    program_.passes.push_back(pass);
    return static_cast<std::int32_t>(program_.passes.size()) - 1;
  }

  std::int32_t list(const StageSend& send) {
    program_.sends.push_back(send);
    return static_cast<std::int32_t>(program_.sends.size()) - 1;
  }

  void list_passes() {
    const auto all = [&](const std::vector<Pass>& passes, int stage) {
      std::vector<std::int32_t> listed;
      for (const Pass& pass : passes) listed.push_back(list(pass, stage));
      return listed;
    };
    for (int s = 0; s < pipeline_.stages; ++s) {
      const StagePasses& stage = *stages_[at(s)];
      start_.push_back(list(stage.start, s));
      listed_.push_back({all(stage.each.forward, s),
                         all(stage.each.backward, s),
                         all(stage.last.forward, s),
                         all(stage.last.backward, s),
                         {},
                         {}});
      for (int part = 0; part < pipeline_.parts; ++part) {
        listed_.back().sent_forward.push_back(
            list({s, forward_links_[at(s)].to, false, stage.sent_forward_bytes[at(part)]}));
        listed_.back().sent_backward.push_back(
            list({s, backward_links_[at(s)].to, true, stage.sent_backward_bytes[at(part)]}));
      }
      exchange_.push_back(list(stage.exchange, s));
      update_.push_back(list(stage.update, s));
    }
  }

  sim::TaskId add_pass(int stage, std::int32_t listed, const std::vector<sim::TaskId>& after) {
    const Pass& pass = program_.passes[at(listed)];
    const bool optional = pass.kind != PassKind::Forward && pass.kind != PassKind::Backward;
    if (optional && pass.time <= Seconds{0} && after.empty()) return kNever;
    const sim::TaskId task =
        sim::add_task(program_.program, {streams_[at(stage)], pass.time, kPassTask, listed}, after);
    if (stage == shown_ && pass.traffic.worker_tx_bytes > 0) {
      program_.transfers.push_back({task, pass.traffic});
    }
    return task;
  }

  // Where a micro-batch's passes through the model's part `part` stand.
  std::size_t slot(int part, std::int64_t micro_batch) const {
    return at(part) * at(pipeline_.micro_batches) + at(micro_batch);
  }

  // Stage by stage what its next pass waits for is there, until nothing is left.
  void emit_passes() {
    std::vector<std::size_t> next(at(pipeline_.stages), 0);
    for (bool progress = true; progress;) {
      progress = false;
      for (int s = 0; s < pipeline_.stages; ++s) {
        std::size_t& i = next[at(s)];
        while (i < passes_[at(s)].size() && emit(s, passes_[at(s)][i])) {
          ++i;
          progress = true;
        }
      }
    }
  }

  // False where the neighbour is not so far yet.
  bool emit(int stage, const PipelinePass& pass) {
    const int part = pass.part * pipeline_.stages + stage;
    const int parts = pipeline_.stages * pipeline_.parts;
    const int before = pass.backward ? part + 1 : part - 1;
    std::vector<sim::TaskId> after;
    if (before >= 0 && before < parts) {
      const sim::TaskId arrived =
          (pass.backward ? backward_done_ : forward_done_)[slot(before, pass.micro_batch)];
      if (arrived == kNever) return false;
      after.push_back(arrived);
      if (resolved_.framework->blocking_receives) after.push_back(receive(stage, arrived));
    }
    const bool last = pass.micro_batch + 1 == pipeline_.micro_batches;
    const Listed& listed = listed_[at(stage)];
    const std::int32_t number = pass.backward
                                    ? (last ? listed.last_backward : listed.backward)[at(pass.part)]
                                    : (last ? listed.last_forward : listed.forward)[at(pass.part)];
    const sim::TaskId task = add_pass(stage, number, after);
    const std::size_t place = slot(part, pass.micro_batch);
    if (pass.backward) {
      backward_done_[place] = part == 0 ? task : send(stage, pass, task);
    } else {
      forward_done_[place] = part + 1 == parts ? task : send(stage, pass, task);
    }
    return true;
  }

  // The transfer of what a pass gives to the next stage.
  sim::TaskId send(int stage, const PipelinePass& pass, sim::TaskId after) {
    const Listed& listed = listed_[at(stage)];
    const Link& link = pass.backward ? backward_links_[at(stage)] : forward_links_[at(stage)];
    const std::int32_t number =
        (pass.backward ? listed.sent_backward : listed.sent_forward)[at(pass.part)];
    const double bytes = program_.sends[at(number)].bytes;
    if (bytes == 0) return after;
    const bool waits = resolved_.framework->blocking_sends;
    const sim::TaskId task =
        sim::add_task(program_.program,
                      {waits ? streams_[at(stage)] : link.resource,
                       parallel::send_time(bytes, link.between), kCommunicationTask, number},
                      {after});
    const double leaving = bytes * link.between.sent_by_node;
    if (stage == shown_) program_.transfers.push_back({task, {leaving, 0, 0, 0}});
    if (link.to == shown_) program_.transfers.push_back({task, {0, leaving, 0, 0}});
    return task;
  }

  // A stage that computes nothing while it receives either: as long as the neighbour's transfer,
  // from when that can begin.
  sim::TaskId receive(int stage, sim::TaskId arrived) {
    const sim::Task sent = program_.program.tasks[at(arrived)];
    if (sent.kind != kCommunicationTask) return arrived;
    const sim::TaskId given = sim::dependencies(program_.program, arrived).front();
    return sim::add_task(program_.program,
                         {streams_[at(stage)], sent.duration, kReceiveTask, sent.tag}, {given});
  }

  // Gradients of parameters that several stages have are summed before these update them.
  std::vector<std::vector<sim::TaskId>> reduce_shared() {
    std::vector<std::vector<sim::TaskId>> tasks(at(pipeline_.stages));
    if (resolved_.mode == Mode::Inference || shared_.empty()) return tasks;
    std::map<std::vector<int>, double> bytes;
    for (const StageSteps::Shared& one : shared_) bytes[one.stages] += one.bytes;
    for (const auto& [stages, sum] : bytes) {
      std::vector<sim::TaskId> after;
      for (const int s : stages) after.push_back(last_of(s));
      const Seconds time = parallel::reduce_shared(sum, stages, resolved_);
      const sim::TaskId task =
          sim::add_task(program_.program,
                        {sim::add_resource(program_.program), time, kCommunicationTask,
                         list({stages.front(), stages.back(), true, sum})},
                        after);
      for (const int s : stages) {
        tasks[at(s)].push_back(task);
        if (s == shown_) program_.transfers.push_back({task, {}});
      }
    }
    return tasks;
  }

  // The task that a stage has run last so far.
  sim::TaskId last_of(int stage) const {
    const std::vector<sim::Task>& tasks = program_.program.tasks;
    std::size_t t = tasks.size() - 1;
    while (tasks[t].resource != streams_[at(stage)]) --t;
    return static_cast<sim::TaskId>(t);
  }

  const std::vector<const StagePasses*>& stages_;
  const Pipeline& pipeline_;
  const std::vector<StageSteps::Shared>& shared_;
  const Resolved& resolved_;
  int shown_;
  StepProgram program_;
  std::vector<sim::ResourceId> streams_;
  std::vector<Link> forward_links_;
  std::vector<Link> backward_links_;
  std::vector<std::vector<PipelinePass>> passes_;
  std::vector<Listed> listed_;
  std::vector<std::int32_t> start_;
  std::vector<std::int32_t> exchange_;
  std::vector<std::int32_t> update_;
  std::vector<sim::TaskId> forward_done_;   // what the next part waits for; kNever: not yet there
  std::vector<sim::TaskId> backward_done_;  // likewise, of backward passes
};

StageKind lower_stage(const PipelineStage& stage, const Resolved& resolved, int parts) {
  const std::int64_t passes = std::min<std::int64_t>(resolved.passes, 2);
  StageKind kind;
  kind.alone.step = stage.step;
  kind.alone.bound = *stage.bound;
  kind.alone.program = lower_passes(*kind.alone.step, kind.alone.bound, resolved, passes);
  kind.alone.timeline = sim::run(kind.alone.program.program);
  kind.passes = time_passes(kind.alone, parts, passes);
  kind.alone.program.gemm_flops /= static_cast<double>(passes);  // of one pass
  return kind;
}

std::string describe(const Pipeline& pipeline, int shown) {
  const std::string order = pipeline.order == parallel::PassOrder::GPipe      ? "GPipe, "
                            : pipeline.order == parallel::PassOrder::OneFOneB ? "1F1B, "
                                                                              : "";
  return "pipeline of " + std::to_string(pipeline.stages) + " stages" +
         (pipeline.parts > 1 ? " with " + std::to_string(pipeline.parts) + " parts each" : "") +
         ": " + order + std::to_string(pipeline.micro_batches) +
         " micro-batches; operators, breakdown and resources are those of stage " +
         std::to_string(shown) + " (from 0), which works longest";
}

// What the report says of one stage.
void show(StageKind& kind, const Pipeline& pipeline, Stages& stages) {
  stages.bound = std::move(kind.alone.bound);
  WorkerClass worker = slowest_class(kind.alone);
  worker.host = worker.stream = stages.shown_stage;
  stages.program.classes.push_back(std::move(worker));
  stages.program.assumptions = std::move(kind.alone.program.assumptions);
  stages.program.assumptions.push_back(describe(pipeline, stages.shown_stage));
}

}  // namespace

StepProgram schedule(const std::vector<const StagePasses*>& stages, const Pipeline& pipeline,
                     const std::vector<StageSteps::Shared>& shared, const Resolved& resolved,
                     int shown) {
  return Scheduling(stages, pipeline, shared, resolved, shown).run();
}

// Of stages that work equally long the first is shown.
Stages run_pipeline(const Step& step, const Resolved& resolved) {
  const Pipeline pipeline = parallel::pipeline_of(resolved);
  refuse_too_many(pipeline);
  Stages stages;
  stages.pipeline = bind_stages(step, resolved);
  std::map<const Step*, StageKind> kinds;
  std::vector<const StagePasses*> passes;
  Seconds longest{-1};
  double flops = 0;
  double opaque = 0;
  for (const PipelineStage& stage : stages.pipeline) {
    auto found = kinds.find(stage.step.get());
    if (found == kinds.end()) {
      found = kinds.emplace(stage.step.get(), lower_stage(stage, resolved, pipeline.parts)).first;
    }
    const StageKind& kind = found->second;
    passes.push_back(&kind.passes);
    flops += kind.alone.program.gemm_flops;
    opaque = std::max(opaque, kind.alone.program.opaque_share);
    const Seconds busy = busy_time(kind.passes, pipeline.micro_batches);
    if (busy <= longest) continue;
    longest = busy;
    stages.shown_stage = static_cast<int>(passes.size()) - 1;
  }
  stages.step = stages.pipeline[at(stages.shown_stage)].step;
  stages.program = schedule(passes, pipeline, step.pipeline->shared, resolved, stages.shown_stage);
  stages.program.gemm_flops = flops * static_cast<double>(pipeline.micro_batches) / pipeline.stages;
  stages.program.opaque_share = opaque;
  stages.timeline = sim::run(stages.program.program);
  show(kinds.at(stages.step.get()), pipeline, stages);
  return stages;
}

}  // namespace foretrain::operators
