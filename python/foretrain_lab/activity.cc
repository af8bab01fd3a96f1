// SPDX-License-Identifier: Apache-2.0
// Loaded into a training process: what its operators move, and what its tensors occupy.
//
// A callback around each operator adds the bytes of its input and output tensors, spread evenly
// over the time it took, to windows of CLOCK_MONOTONIC (window i begins at i * window). An operator
// is what PyTorch's dispatcher runs and is not made of others: of aten::linear the GEMM inside
// counts, of aten::lstm every GEMM of every step, and in the backward pass, whose outermost
// records are the autograd engine's, what its functions call. Bytes come from shapes, not from
// hardware: caches and what an operator does inside are not seen. An operator that only makes a
// view or reserves memory moves nothing.
//
// Compiled by activity.py with -DNDEBUG, without which PyTorch's structs have another layout.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::size_t kMostWindows = 1 << 20;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Log {
  std::mutex mutex;
  double window = 0.01;
  double first = 0;  // number of the first window
  std::vector<double> bytes;

  void add(double start, double end, double moved) {
    const std::lock_guard lock(mutex);
    const double length = std::max(end - start, 1e-9);
    const double last = std::floor(end / window);
    for (double i = std::floor(start / window); i <= last; ++i) {
      const double part = std::min(end, (i + 1) * window) - std::max(start, i * window);
      const double place = i - first;
      if (place < 0 || place >= kMostWindows) continue;
      const auto at = static_cast<std::size_t>(place);
      if (bytes.size() <= at) bytes.resize(at + 1);
      bytes[at] += moved * std::max(part, 0.0) / length;
    }
  }
};

Log& log() {
  static Log instance;
  return instance;
}

struct Seen {
  double bytes = 0;
  std::vector<const void*> storages;
};

void look_at(const at::Tensor& tensor, Seen& seen) {
  if (!tensor.defined() || !tensor.has_storage()) return;
  const auto whole = static_cast<double>(tensor.storage().nbytes());
  seen.bytes += std::min(whole, static_cast<double>(tensor.nbytes()));
  seen.storages.push_back(tensor.storage().unsafeGetStorageImpl());
}

template <typename Values>
Seen look(const Values& values) {
  Seen seen;
  for (const c10::IValue& value : values) {
    if (value.isTensor()) look_at(value.toTensor(), seen);
    if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) look_at(tensor, seen);
    }
  }
  return seen;
}

bool shares(const Seen& a, const Seen& b) {
  return std::any_of(a.storages.begin(), a.storages.end(), [&](const void* storage) {
    return std::find(b.storages.begin(), b.storages.end(), storage) != b.storages.end();
  });
}

// Whether an operator is made of others, which are looked at in its place.
bool made_of_others(const c10::OperatorName& name) {
  const auto found = c10::Dispatcher::singleton().findOp(name);
  return found && found->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
}

// Whether a record is an operator that counts; the answer is kept by name.
bool counts(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  if (!name) return false;  // of the autograd engine, or a user's range
  thread_local std::unordered_map<std::string, bool> known;
  std::string key = name->name + '.' + name->overload_name;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known[std::move(key)] = !made_of_others(*name);
}

// Whether the tensor that it returns, an input too, is written without being read.
bool overwrites(std::string_view name) {
  return name == "aten::copy_" || name == "aten::fill_" || name == "aten::zero_" ||
         name == "aten::bernoulli_";
}

// Of the outermost operator that counts on this thread.
thread_local int depth = 0;
thread_local double began = 0;
thread_local Seen inputs;

struct Counted : at::ObserverContext {};

// Inputs can be looked at only now: a call may end after they are gone.
std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& function) {
  if (!counts(function)) return nullptr;
  if (depth++ == 0) {
    inputs = look(function.inputs());
    began = now();
  }
  return std::make_unique<Counted>();
}

void leave(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr || --depth != 0) return;
  const double end = now();
  const std::string_view name = function.name();
  if (name.starts_with("aten::empty") || name.starts_with("aten::new_empty")) return;
  const Seen outputs = look(function.outputs());
  if (shares(inputs, outputs) && !name.ends_with("_")) return;  // a view
  const double read = overwrites(name) ? inputs.bytes - outputs.bytes : inputs.bytes;
  log().add(began, end, std::max(read, 0.0) + outputs.bytes);
}

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};

// PyTorch's own memory with a header that holds the size. A header as long as an alignment of
// tensors leaves them aligned.
constexpr std::size_t kHeader = 64;

struct Counting : c10::Allocator {
  c10::DataPtr allocate(std::size_t size) override {
    if (size == 0) return {nullptr, nullptr, &release, c10::DeviceType::CPU};
    char* block = static_cast<char*>(c10::alloc_cpu(size + kHeader));
    std::memcpy(block, &size, sizeof(size));
    const auto bytes = static_cast<std::int64_t>(size);
    const std::int64_t total = live.fetch_add(bytes) + bytes;
    if (total > peak.load()) peak.store(total);
    return {block + kHeader, block + kHeader, &release, c10::DeviceType::CPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t size) const override {
    default_copy_data(to, from, size);
  }
  static void release(void* data) {
    if (data == nullptr) return;
    char* block = static_cast<char*>(data) - kHeader;
    std::size_t size = 0;
    std::memcpy(&size, block, sizeof(size));
    live.fetch_sub(static_cast<std::int64_t>(size));
    c10::free_cpu(block);
  }
};

at::CallbackHandle handle = 0;

}  // namespace

extern "C" {

// From now on tensors are counted; before any other call of these.
void foretrain_count_tensors() {
  static Counting counting;
  c10::SetCPUAllocator(&counting, 100);
}

// The most bytes that tensors had at once since the last call.
double foretrain_peak_bytes() { return static_cast<double>(peak.exchange(live.load())); }

double foretrain_live_bytes() { return static_cast<double>(live.load()); }

void foretrain_start_log(double window_s) {
  Log& all = log();
  all.window = window_s;
  all.first = std::floor(now() / window_s);
  all.bytes.clear();
  handle = at::addGlobalCallback(at::RecordFunctionCallback(enter, leave)
                                     .needsInputs(true)
                                     .needsOutputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
}

// Ends the log; returns how many windows it has and where the first begins.
double foretrain_stop_log(double* first_s) {
  if (handle != 0) at::removeCallback(handle);
  handle = 0;
  *first_s = log().first * log().window;
  return static_cast<double>(log().bytes.size());
}

void foretrain_copy_log(double* bytes) {
  std::memcpy(bytes, log().bytes.data(), log().bytes.size() * sizeof(double));
}
}
