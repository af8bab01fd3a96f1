// SPDX-License-Identifier: Apache-2.0
#include "foretrain/memory/lifetimes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "foretrain/graph/offload.h"
#include "foretrain/graph/op.h"
#include "foretrain/memory/detail/scratch.h"

namespace foretrain::memory {
namespace {

using graph::Attr;
using graph::Bound;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using graph::NodeView;
using graph::Phase;
using graph::Role;
using graph::Tensor;
using graph::TensorId;

constexpr std::int32_t kNone = -1;
// Small things that come and go together lie beside each other, so they count as one up to here.
constexpr std::int64_t kTogetherBytes = 256 << 10;
constexpr std::uint8_t kWritten = 1;   // by a node
constexpr std::uint8_t kGradient = 2;  // of a parameter
constexpr std::uint8_t kScattered = 4;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool is_kept_for_backward(const Storage& s, NodeId first, NodeId end, NodeId last_forward) {
  return s.born >= first && s.born < end && s.last != kForever && s.last > last_forward;
}

// A collective of parameters or their gradients; one of activations is like any other operator.
bool is_of_parameters(const Node& node) {
  return graph::is_communication(node) && !graph::is_activation_exchange(node);
}

class Lifetimes {
 public:
  Lifetimes(const Bound& step, const Options& options)
      : step_(step),
        graph_(*step.graph),
        options_(options),
        end_(static_cast<NodeId>(graph_.nodes.size())),
        last_read_(graph_.tensors.size(), kNone),
        storage_of_(graph_.tensors.size(), kNone),
        marks_(graph_.tensors.size(), 0) {
    storages_.reserve(graph_.tensors.size() + 16);
  }

  std::vector<Storage> run() {
    find_relu_inputs();
    find_last_reads();
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      add_kept(static_cast<TensorId>(t), graph_.tensors[t]);
    }
    for (const double bytes : options_.flat_buffers) {
      add(bytes, kBeforeStep, kForever, Part::Gradients);
    }
    for (NodeId n = 0; n < end_; ++n) add_node(n, graph_.nodes[at(n)]);
    if (options_.held_bytes > 0) hold_others();
    join_small();
    return std::move(storages_);
  }

 private:
  void find_last_reads() {
    for (NodeId n = 0; n < end_; ++n) {
      const Node& node = graph_.nodes[at(n)];
      if (node.phase == Phase::Forward) last_forward_ = n;
      if (node.phase != Phase::Update) last_backward_ = n;
      const bool scatters = is_of_parameters(node) && node.kind == Kind::ReduceScatter;
      for (const TensorId id : node.outputs) {
        marks_[at(id)] |= kWritten;
        if (scatters) marks_[at(id)] |= kScattered;
      }
      // A collective without results sends from where its tensors lie.
      if (graph::is_communication(node) && node.outputs.empty()) continue;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const bool keeps_none =
            i == 1 && (is_composed_norm_grad(node) || is_mean_grad(node) || adds_scattered(node));
        if (!keeps_none) last_read_[at(read_in_place_of(node, i))] = n;
        if (scatters) {
          marks_[at(node.inputs[i])] |= kGradient;
        }
      }
    }
    keep_while_sent();
    keep_until_arrived();
    keep_convolutions();
    for (const auto& [parameter, gradient] : graph_.gradients) {
      last_read_[at(gradient)] = end_;
      marks_[at(gradient)] |= kGradient;
    }
    // The training loop's own variables hold the results until the next step.
    for (const TensorId id : graph_.outputs) last_read_[at(id)] = end_;
    if (graph_.loss) last_read_[at(*graph_.loss)] = end_;
  }

  // What a gradient reads where the graph gives it input `i`: a ReLU's output, which is the same as
  // its input to it.
  TensorId read_in_place_of(const Node& node, std::size_t i) const {
    const TensorId id = node.inputs[i];
    const bool of_relu =
        i == 1 && node.kind == Kind::PointwiseGrad &&
        node.attributes.number(Attr::Of, 0) == static_cast<std::int64_t>(Kind::Relu);
    if (!of_relu) return id;
    const auto found = relu_inputs_.find(id);
    return found == relu_inputs_.end() ? id : found->second;
  }

  // Of ReLUs that are not in place, by output, where the framework keeps those.
  void find_relu_inputs() {
    if (!options_.relu_keeps_input) return;
    for (const Node& node : graph_.nodes) {
      if (node.kind != Kind::Relu || node.attributes.number(Attr::Inplace, 0) != 0) continue;
      relu_inputs_.emplace(node.outputs.front(), node.inputs.front());
    }
  }

  // A collective runs beside the nodes that follow it, until the next of its kind begins; what
  // follows the last of them waits for it.
  void keep_while_sent() {
    std::map<Kind, NodeId> next;
    for (NodeId n = end_; n-- > 0;) {
      const Node& node = graph_.nodes[at(n)];
      if (!is_of_parameters(node) || node.outputs.empty()) continue;
      NodeId& until = next.try_emplace(node.kind, n).first->second;
      for (const TensorId id : node.inputs)
        last_read_[at(id)] = std::max(last_read_[at(id)], until);
      if (node.kind == Kind::ReduceScatter) {
        for (const TensorId id : node.outputs)
          last_read_[at(id)] = std::max(last_read_[at(id)], until);
      }
      until = n;
    }
  }

  // What a rank sends around a ring stays until somebody reads what it gets in return.
  void keep_until_arrived() {
    std::vector<NodeId> sender(graph_.tensors.size(), kNone);
    for (NodeId n = 0; n < end_; ++n) {
      const Node& node = graph_.nodes[at(n)];
      for (const TensorId id : node.inputs) {
        if (sender[at(id)] == kNone) continue;
        for (const TensorId sent : graph_.nodes[at(sender[at(id)])].inputs) {
          last_read_[at(sent)] = std::max(last_read_[at(sent)], n);
        }
        sender[at(id)] = kNone;
      }
      if (node.kind != Kind::CollectivePermute) continue;
      for (const TensorId id : node.outputs) sender[at(id)] = n;
    }
  }

  // Where passes add up, what is scattered is added to the sum of earlier ones as soon as it has
  // come (PyTorch: _fully_shard/_fsdp_collectives.py, foreach_reduce), whatever the place of the
  // addition among the nodes.
  bool adds_scattered(const Node& node) const {
    return node.kind == Kind::Add && node.label == "accumulate" &&
           (marks_[at(node.inputs[1])] & kScattered) != 0;
  }

  // An average over all of an image is a mean, whose gradient needs the sizes alone.
  // Source: PyTorch, AdaptiveAveragePooling.cpp.
  bool is_mean_grad(const Node& node) const {
    if (node.kind != Kind::PoolGrad ||
        node.attributes.number(Attr::Of, 0) != static_cast<std::int64_t>(Kind::AdaptiveAvgPool)) {
      return false;
    }
    const graph::Extent& out = step_.extent(node.inputs[0]);
    for (int axis = 2; axis < out.rank; ++axis) {
      if (out[axis] != 1) return false;
    }
    return true;
  }

  // Convolutions that read one tensor, and the last gradient of each size that they may have made.
  struct Sharing {
    std::vector<const Node*> convolutions;
    std::map<double, NodeId> last;
    bool again = false;  // some run again; the second run is differentiated
  };

  // A convolution's gradient is one function, which keeps input and weights though only one of its
  // results may be wanted. Source: PyTorch, derivatives.yaml, convolution_backward.
  void keep_convolutions() {
    std::map<TensorId, Sharing> by_input;
    std::map<TensorId, Sharing> by_weight;
    for (NodeId n = 0; n < end_; ++n) {
      const Node& node = graph_.nodes[at(n)];
      if (node.kind == Kind::Conv && graph::is_forward(node)) {
        add_convolution(by_input[node.inputs[0]], node, 1);
        add_convolution(by_weight[node.inputs[1]], node, 0);
      }
      if (node.kind != Kind::ConvWeightGrad && node.kind != Kind::ConvInputGrad) continue;
      auto& sharing = node.kind == Kind::ConvWeightGrad ? by_input : by_weight;
      sharing[node.inputs[1]].last[step_.count(node.outputs.front())] = n;
    }
    for (const auto& [input, sharing] : by_input) keep_other(sharing, 1);
    for (const auto& [weight, sharing] : by_weight) keep_other(sharing, 0);
  }

  void add_convolution(Sharing& sharing, const Node& node, std::size_t other) {
    if (node.phase == Phase::Recompute && !sharing.again) {
      keep_other(sharing, other);
      sharing.last.clear();
      sharing.again = true;
    }
    sharing.convolutions.push_back(&node);
  }

  // One pass over them for all gradients: layers that share weights, such as those of an attention
  // in each step of a decoder, may be thousands.
  void keep_other(const Sharing& sharing, std::size_t other) {
    for (const Node* convolution : sharing.convolutions) {
      if (sharing.again && convolution->phase != Phase::Recompute) continue;
      const TensorId id = convolution->inputs[other];
      const auto last = sharing.last.find(step_.count(id));
      if (last != sharing.last.end())
        last_read_[at(id)] = std::max(last_read_[at(id)], last->second);
    }
  }

  bool is_composed_norm(const Node& node) const {
    return options_.composed_rms_norm && node.kind == Kind::RmsNorm &&
           bytes_of(graph_.tensor(node.inputs.front()).type) < 4;
  }

  bool is_composed_norm_grad(const Node& node) const {
    return options_.composed_rms_norm && node.kind == Kind::NormGrad &&
           node.attributes.number(Attr::Of, 0) == static_cast<std::int64_t>(Kind::RmsNorm) &&
           bytes_of(graph_.tensor(node.inputs[1]).type) < 4;
  }

  // The fp32 copy of an RMS norm's input stays as long as its statistics, and the normalised
  // values do if the weights that they are multiplied by learn.
  void add_norm_copies(NodeId n, const Node& node) {
    const NodeId last = std::max(n, last_read_[at(node.outputs[1])]);
    const TensorId x = node.inputs.front();
    add(4 * step_.count(x), n, last, Part::Activations, varies(x));
    if (node.inputs.size() > 1 && graph_.tensor(node.inputs[1]).trainable) {
      add(step_.bytes(x), n, last, Part::Activations, varies(x));
    }
  }

  // Other micro-batches keep the same as this one, each in blocks of its own between those that
  // come and go; what is no whole micro-batch is one block.
  void hold_others() {
    const double own = kept_for_backward(storages_, graph_, 0, last_forward_ + 1);
    const double others = own > 0 ? std::floor(options_.held_bytes / own) : 0;
    std::vector<Storage> all;
    all.reserve(storages_.size() * static_cast<std::size_t>(others + 2));
    bool begun = false;
    for (const Storage& s : storages_) {
      if (s.born >= 0 && !begun) {
        begun = true;
        const double rest = options_.held_bytes - others * own;
        if (rest > 0) {
          all.push_back({static_cast<std::int64_t>(std::ceil(rest / kGranuleBytes)) * kGranuleBytes,
                         0, last_backward_, Part::Activations, false});
        }
      }
      all.push_back(s);
      if (!is_kept_for_backward(s, 0, last_forward_ + 1, last_forward_)) continue;
      Storage copy = s;
      copy.last = last_backward_;
      all.insert(all.end(), static_cast<std::size_t>(others), copy);
    }
    storages_ = std::move(all);
  }

  void join_small() {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < storages_.size(); ++i) {
      Storage& before = storages_[kept];
      const Storage& s = storages_[i];
      if (s.born == before.born && s.last == before.last && s.part == before.part &&
          s.varies == before.varies && s.bytes + before.bytes <= kTogetherBytes) {
        before.bytes += s.bytes;
      } else {
        storages_[++kept] = s;
      }
    }
    storages_.resize(std::min(storages_.size(), kept + 1));
  }

  // Whether a tensor has a value for every sample; told apart where that matters.
  bool varies(TensorId id) const {
    return !options_.batch_shares.empty() &&
           !graph::is_number(graph::elements(graph_.tensor(id).shape));
  }

  std::int32_t add(double bytes, NodeId born, NodeId last, Part part, bool varies = false) {
    auto size = static_cast<std::int64_t>(bytes);
    if (options_.caching_allocator) {
      size = (size + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
    }
    storages_.push_back({size, born, last, part, varies});
    return static_cast<std::int32_t>(storages_.size()) - 1;
  }

  // What is there before the step starts: the model, and what nodes read but none writes, such
  // as inputs and the gradients that are zeroed and added to.
  void add_kept(TensorId id, const Tensor& tensor) {
    const bool of_model = tensor.role == Role::Parameter || tensor.role == Role::Buffer;
    const bool given = last_read_[at(id)] != kNone && (marks_[at(id)] & kWritten) == 0;
    if (!of_model && !given) return;
    if (options_.half_with_master && tensor.trainable && bytes_of(tensor.type) < 4) {
      add(4 * step_.count(id), kBeforeStep, kForever, Part::Optimizer);
    }
    const Part part = of_model                        ? Part::Parameters
                      : tensor.role == Role::Gradient ? Part::Gradients
                                                      : Part::Activations;
    storage_of_[at(id)] = add(step_.bytes(id), kBeforeStep, kForever, part);
  }

  // The results of a collective lie in one flat buffer.
  void add_collective(NodeId n, const Node& node) {
    if (node.outputs.empty() || graph::is_copy_out(node)) return;  // that one's lie on the host
    if (graph::is_copy_in(node)) {  // the others are views of the first
      const TensorId first = node.outputs.front();
      const std::int32_t copy = add(step_.bytes(first), n, n, Part::Activations, varies(first));
      for (const TensorId id : node.outputs) hold(id, copy);
      return;
    }
    double bytes = 0;
    for (const TensorId id : node.outputs) bytes += step_.bytes(id);
    const bool gathers = node.kind == Kind::AllGather;
    const std::int32_t flat = add(bytes, n, n, gathers ? Part::Parameters : Part::Gradients);
    for (const TensorId id : node.outputs) hold(id, flat);
  }

  void add_node(NodeId n, const Node& node) {
    if (is_of_parameters(node)) return add_collective(n, node);
    if (node.phase == Phase::Update) {
      if (node.kind == Kind::Update) add_update(n, node);
      return;
    }
    add_inner_temporary(n, node);
    if (is_composed_norm(node)) add_norm_copies(n, node);
    const bool is_view = graph::is_view(node) || undoes_layout(n, node);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      const bool shares =
          is_view || (i == 0 && overwrites_input(n, node)) || (i == 1 && keeps_logits(node));
      hold(id, shares ? storage_of_[at(node.inputs.front())]
                      : add(step_.bytes(id), n, n, Part::Activations, varies(id)));
    }
    const double scratch = scratch_bytes(NodeView{step_, node}, options_);
    if (scratch > 0) add(scratch, n, n, Part::Workspace, varies(node.inputs.front()));
    if (is_cached_cast(node)) {
      Storage& copy = storages_[at(storage_of_[at(node.outputs.front())])];
      copy.last = std::max(copy.last, last_forward_);
    }
  }

  void hold(TensorId id, std::int32_t storage) {
    storage_of_[at(id)] = storage;
    Storage& held = storages_[at(storage)];
    held.last = std::max(held.last, last_read_[at(id)]);
    if ((marks_[at(id)] & kGradient) != 0) held.part = Part::Gradients;
  }

  // A fused attention kernel writes [batch, length, heads, size] and shows it transposed, so
  // transposing back finds contiguous memory and nothing is copied.
  bool undoes_layout(NodeId n, const Node& node) const {
    if (node.kind != Kind::Contiguous || n < 2) return false;
    const Node& transpose = graph_.nodes[at(n - 1)];
    const Node& attention = graph_.nodes[at(n - 2)];
    const bool attends =
        attention.kind == Kind::Attention ||  // or the last merge of a ring's blocks
        (attention.kind == Kind::Fused && graph::among(attention) == graph::Among::Context);
    return transpose.kind == Kind::Transpose && attends &&
           node.inputs.front() == transpose.outputs.front() &&
           transpose.inputs.front() == attention.outputs.front();
  }

  bool overwrites_input(NodeId n, const Node& node) const {
    if (node.inputs.empty()) return false;
    const TensorId in = node.inputs.front();
    if (step_.bytes(in) != step_.bytes(node.outputs.front())) return false;
    if (node.attributes.number(Attr::Inplace, 0) != 0) {
      // Where backward wants the value from before, PyTorch clones it; leaky ReLU's gradient
      // does as well with the output.
      const NodeId last = last_read_[at(in)];
      return last <= n || last == end_ || graph_.nodes[at(last)].phase != Phase::Backward ||
             node.kind == Kind::LeakyRelu;
    }
    // Autograd adds a further gradient into the sum so far if nobody else holds that.
    // Source: PyTorch, input_buffer.cpp.
    return node.kind == Kind::Add && node.phase == Phase::Backward && !options_.keeps_blobs &&
           storages_[at(storage_of_[at(in)])].last <= n;
  }

  // The half-precision copies of parameters stay cached until autocast ends with the forward pass.
  bool is_cached_cast(const Node& node) const {
    return node.kind == Kind::Cast && node.phase == Phase::Forward &&
           graph_.tensor(node.inputs.front()).role == Role::Parameter;
  }

  // A fused cross entropy's second result are the logits that it was given.
  bool keeps_logits(const Node& node) const {
    return options_.fused_loss && node.kind == Kind::CrossEntropy &&
           step_.bytes(node.inputs.front()) == step_.bytes(node.outputs[1]);
  }

  // Cross entropy is two operators, so its gradient passes through that of the
  // log-probabilities, which is as large.
  void add_inner_temporary(NodeId n, const Node& node) {
    if (options_.fused_loss || node.kind != Kind::LossGrad || node.inputs.size() < 2) return;
    if (node.attributes.number(Attr::Of, 0) != static_cast<std::int64_t>(Kind::CrossEntropy)) {
      return;
    }
    const TensorId logits = node.inputs[1];
    add(step_.bytes(logits), n, n, Part::Activations, varies(logits));
  }

  // States appear when the first update runs; then its temporaries, for all parameters at once
  // or, on a CPU, for one after the other.
  void add_update(NodeId n, const Node& node) {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (graph_.tensors[t].role != Role::OptimizerState) continue;
      add(step_.bytes(static_cast<TensorId>(t)), n, kForever, Part::Optimizer);
    }
    const auto optimizer =
        static_cast<graph::Optimizer>(node.attributes.number(Attr::Optimizer, 0));
    if (options_.flat_update) return add_flat_update(n, node);
    if (options_.fused_update) return;
    const int temporaries = update_temporaries(optimizer);
    double largest = 0;
    std::vector<double> each(node.inputs.size() / 2);
    for (std::size_t i = 0; i < each.size(); ++i) {
      const double full = 4 * step_.count(node.inputs[i]);
      const double own = step_.bytes(node.inputs[i]);  // of states in the parameters' type
      each[i] = options_.half_with_master ? full : std::min(full, own);
      largest = std::max(largest, each[i]);
    }
    for (int k = 0; k < temporaries && options_.caching_allocator; ++k) {
      for (const double bytes : each) add(bytes, n, n, Part::Optimizer);
    }
    if (!options_.caching_allocator && temporaries > 0) add(2 * largest, n, n, Part::Optimizer);
    const int of_one = update_temporaries_of_one(optimizer);
    if (of_one > 0) add(of_one * largest, n, n, Part::Optimizer);
  }

  // The shard's 16-bit gradients in one flat copy, and that in fp32.
  void add_flat_update(NodeId n, const Node& node) {
    double count = 0;
    for (std::size_t i = 0; i < node.inputs.size() / 2; ++i) count += step_.count(node.inputs[i]);
    for (const double bytes : {2 * count, 4 * count}) add(bytes, n, n, Part::Optimizer);
  }

  const Bound& step_;
  const Graph& graph_;
  const Options& options_;
  NodeId end_;
  NodeId last_forward_ = kNone;
  NodeId last_backward_ = 0;
  std::vector<NodeId> last_read_;         // of each tensor; kNone: never
  std::vector<std::int32_t> storage_of_;  // likewise
  std::vector<std::uint8_t> marks_;       // likewise: kWritten, ...
  std::map<TensorId, TensorId> relu_inputs_;
  std::vector<Storage> storages_;
};

}  // namespace

std::vector<Storage> lifetimes(const Bound& step, const Options& options) {
  return Lifetimes(step, options).run();
}

double kept_for_backward(const std::vector<Storage>& storages, const Graph& step, NodeId first,
                         NodeId end) {
  NodeId last_forward = kNone;
  for (std::size_t n = 0; n < step.nodes.size(); ++n) {
    if (step.nodes[n].phase == Phase::Forward) last_forward = static_cast<NodeId>(n);
  }
  double bytes = 0;
  for (const Storage& s : storages) {
    if (is_kept_for_backward(s, first, end, last_forward)) bytes += static_cast<double>(s.bytes);
  }
  return bytes;
}

std::vector<std::int32_t> events(const std::vector<Storage>& storages) {
  NodeId end = 0;
  for (const Storage& s : storages) end = std::max(end, s.last == kForever ? s.born : s.last);
  // Storages that a later node ends, as linked lists by that node.
  std::vector<std::int32_t> ended(at(end) + 1, kNone);
  std::vector<std::int32_t> next(storages.size(), kNone);
  for (std::size_t i = storages.size(); i-- > 0;) {
    if (storages[i].last == kForever || storages[i].last == storages[i].born) continue;
    std::int32_t& first = ended[at(storages[i].last)];
    next[i] = first;
    first = static_cast<std::int32_t>(i);
  }
  std::vector<std::int32_t> result;
  result.reserve(2 * storages.size());
  std::size_t i = 0;
  for (NodeId n = kBeforeStep; n <= end; ++n) {
    const std::size_t first = i;
    for (; i < storages.size() && storages[i].born == n; ++i) {
      result.push_back(static_cast<std::int32_t>(i));
    }
    if (n < 0) continue;
    for (std::size_t s = i; s-- > first;) {
      if (storages[s].last == n) result.push_back(~static_cast<std::int32_t>(s));
    }
    for (std::int32_t s = ended[at(n)]; s != kNone; s = next[at(s)]) result.push_back(~s);
  }
  return result;
}

double most_without_workspace(const std::vector<Storage>& storages,
                              const std::vector<std::int32_t>& step) {
  double live = 0;
  const auto counts = [](const Storage& s) { return s.part != Part::Workspace; };
  for (const Storage& s : storages) {
    if (s.last == kForever && counts(s)) live += static_cast<double>(s.bytes);
  }
  double most = live;
  for (const std::int32_t event : step) {
    const Storage& s = storages[at(event >= 0 ? event : ~event)];
    if (s.last == kForever || !counts(s)) continue;
    live += static_cast<double>(event >= 0 ? s.bytes : -s.bytes);
    most = std::max(most, live);
  }
  return most;
}

PartBytes peak(const std::vector<Storage>& storages, const std::vector<std::int32_t>& step) {
  PartBytes live{};
  double total = 0;
  for (const Storage& s : storages) {
    if (s.last != kForever) continue;
    live[static_cast<std::size_t>(s.part)] += static_cast<double>(s.bytes);
    total += static_cast<double>(s.bytes);
  }
  PartBytes most = live;
  double most_total = total;
  for (const std::int32_t event : step) {
    const Storage& s = storages[at(event >= 0 ? event : ~event)];
    if (s.last == kForever) continue;
    const auto bytes = static_cast<double>(event >= 0 ? s.bytes : -s.bytes);
    live[static_cast<std::size_t>(s.part)] += bytes;
    total += bytes;
    if (total > most_total) {
      most_total = total;
      most = live;
    }
  }
  return most;
}

}  // namespace foretrain::memory
