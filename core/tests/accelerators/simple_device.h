// The smallest kind of device: memory of its own, a thread that runs the ops handed over, and code for a few
// operations. An example of the functions that a kind of device must implement (device/accelerator.h), and a substitute
// for real ones in tests.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "device/accelerator.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"
#include "engine/engine.h"
#include "memory/buffer.h"

namespace forerun::test {

// A block of the device's memory. Its values are written by the device's thread alone.
struct DeviceMemory {
  DeviceMemory(size_t bytes, std::atomic<size_t>& used) : bytes(bytes), used(used) { used += bytes; }
  ~DeviceMemory() { used -= bytes.size(); }
  std::vector<char> bytes;
  std::atomic<size_t>& used;
  bool failed = false;  // the operation that was to write it has failed
};
using MemoryPtr = std::shared_ptr<DeviceMemory>;

struct ValuesInMemory final : DeviceValues {
  explicit ValuesInMemory(MemoryPtr memory) : memory(std::move(memory)) {}
  MemoryPtr memory;
};

// A kernel of the device: `at` has the address of each operand, in the memory of the device or of the host.
struct DeviceKernel : Kernel {
  virtual void compute(Op& op, const std::vector<char*>& at) = 0;
  void run(Op&, int64_t) final { throw Error(ErrorKind::runtime, "simple: a worker of the host has it"); }
};

struct CopyKernel final : DeviceKernel {
  const char* name() const override { return "copy between memories"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void compute(Op& op, const std::vector<char*>& at) override {
    std::copy_n(at[0], op.access(0).storage->bytes, at[1]);
  }
};

// The offset of an element, in C order: bytes from the start of its storage.
inline int64_t offset(const Layout& layout, int64_t i) {
  int64_t bytes = layout.offset;
  for (int axis = layout.ndim(); axis-- > 0; i /= layout.shape[axis])
    bytes += i % layout.shape[axis] * layout.strides[axis];
  return bytes;
}

// fill, zeros, copy, add, subtract and multiply, element after element.
struct ElementKernel final : DeviceKernel {
  const char* of = "";
  bool drops = false;
  char sign = '=';
  std::vector<OpSpec::Operand> in;
  OpSpec::Operand out;

  const char* name() const override { return of; }
  bool droppable() const override { return drops; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  void compute(Op&, const std::vector<char*>& at) override {
    out.layout.dtype == DType::f64 ? compute<double>(at) : compute<uint64_t>(at);
  }

 private:
  template <class T>
  void compute(const std::vector<char*>& at) {
    for (int64_t i = 0; i < out.layout.size; ++i) {
      T x[2] = {};
      for (size_t k = 0; k < in.size(); ++k)
        std::memcpy(&x[k], in[k].access < 0 ? in[k].value : bytes(at, in[k], i), sizeof(T));
      const T y = sign == '+' ? x[0] + x[1] : sign == '-' ? x[0] - x[1] : sign == '*' ? x[0] * x[1] : x[0];
      std::memcpy(bytes(at, out, i), &y, sizeof(T));
    }
  }
  static void* bytes(const std::vector<char*>& at, const OpSpec::Operand& operand, int64_t i) {
    return at[static_cast<size_t>(operand.access)] + offset(operand.layout, i);
  }
};

class SimpleDevice final : public Accelerator, public Lane {
 public:
  SimpleDevice(std::string name, size_t memory)
      : name_(std::move(name)), memory_(memory), thread_([this] { serve(); }) {}
  ~SimpleDevice() override {
    std::unique_lock lock(mutex_);
    stop_ = true, wake_.notify_all();
    lock.unlock();
    thread_.join();
  }

  // --- Accelerator: by issuing threads ---
  std::string name() const override { return name_; }
  Lane& lane(Queue::Kind) override { return *this; }
  bool lower(Op& op, OpSpec& spec) override {
    const std::string_view kind = spec.kind;
    auto computed = [&](const OpSpec::Operand& o) {
      return o.layout.dtype == spec.outputs[0].layout.dtype &&
             (o.layout.dtype == DType::f64 || o.layout.dtype == DType::i64);
    };
    const char sign = spec.name == "add" ? '+' : spec.name == "subtract" ? '-' : spec.name == "multiply" ? '*' : 0;
    const bool known = kind == "fill" || kind == "zeros" || kind == "copy" || (kind == "elementwise" && sign);
    if (!known || spec.outputs.size() != 1 || !computed(spec.outputs[0])) return false;
    for (const OpSpec::Operand& operand : spec.inputs)
      if (!computed(operand)) return false;
    for (const auto& [name, value] : spec.attributes)  // the loop's types
      if (const auto* types = std::get_if<std::vector<DType>>(&value))
        if (std::count(types->begin(), types->end(), spec.outputs[0].layout.dtype) != std::ssize(*types)) return false;
    const char* name = op.kernel()->name();
    const bool droppable = op.kernel()->droppable();
    const BriefSpec brief(op);
    op.drop_kernel();
    auto& kernel = op.emplace<ElementKernel>();
    kernel.of = name, kernel.drops = droppable, kernel.sign = sign ? sign : '=';
    kernel.in = spec.inputs, kernel.out = spec.outputs[0];
    ++lowered;
    std::lock_guard lock(known_mutex_);
    if (!brief.empty()) known_.emplace_back(brief, kernel);
    return true;
  }
  bool lower_again(Op& op) override {
    const BriefSpec brief(op);
    if (brief.empty()) return false;
    std::unique_lock lock(known_mutex_);
    const auto known =
        std::find_if(known_.begin(), known_.end(), [&](const auto& each) { return each.first == brief; });
    if (known == known_.end()) return false;
    ElementKernel kernel = known->second;
    lock.unlock();
    kernel.of = op.kernel()->name(), kernel.drops = op.kernel()->droppable();
    size_t scalars = 0;
    for (OpSpec::Operand& in : kernel.in)
      if (in.access < 0) std::memcpy(in.value, brief.scalar(scalars++).value.data(), sizeof in.value);
    op.drop_kernel();
    op.emplace<ElementKernel>(std::move(kernel));
    ++lowered_again;
    return true;
  }
  void build_upload(Op& op) override { op.emplace<CopyKernel>(), ++uploads; }
  void build_download(Op& op) override { op.emplace<CopyKernel>(), ++downloads; }
  bool build_transfer(Op& op, const Accelerator& from) override {
    if (!reaches_others || !dynamic_cast<const SimpleDevice*>(&from)) return false;
    op.emplace<CopyKernel>(), ++transfers;
    return true;
  }

  // --- Lane: by the threads of its queues ---
  Outcome hand_over(Op& op) override {
    std::lock_guard lock(mutex_);
    if (broken) throw Error(ErrorKind::runtime, name_ + " is broken");
    Task task{&op, {}, {}};
    size_t wanted = 0;
    for (int i = 0; i < op.n_access; ++i) {
      const Access& a = op.access(i);
      task.from.push_back(here(a) && a.mode != Mode::write ? values_of(a) : nullptr);
      wanted += here(a) && a.mode != Mode::read ? a.storage->bytes : 0;
    }
    if (wanted > 0 && used + wanted > memory_) return Outcome::no_memory;
    for (int i = 0; i < op.n_access; ++i) {
      const Access& a = op.access(i);
      const bool writes = here(a) && a.mode != Mode::read;
      task.to.push_back(writes ? std::make_shared<DeviceMemory>(a.storage->bytes, used) : nullptr);
      if (writes) static_cast<Buffer*>(a.storage)->values = std::make_unique<ValuesInMemory>(task.to.back());
    }
    todo_.push_back(std::move(task));
    wake_.notify_all();
    return Outcome::accepted;
  }

  void hold(bool held) {  // no op that has been handed over runs
    std::lock_guard lock(mutex_);
    held_ = held, wake_.notify_all();
  }

  std::atomic<int> lowered{0}, lowered_again{0}, uploads{0}, downloads{0}, transfers{0};  // operations built,
  std::atomic<int> done{0};                                                               // and run
  std::atomic<size_t> used{0};                                                            // bytes
  std::atomic<bool> broken{false};                                                        // refuses all hand-overs
  std::atomic<int> fails{0};               // operations fail from this number on; 0: none fails
  std::atomic<bool> reaches_others{true};  // copies from other devices do not go through the host

 private:
  struct Task {
    Op* op;
    std::vector<MemoryPtr> from, to;  // of operands that are read, before and after; and written, on a device
  };
  static bool here(const Access& a) { return a.storage->budget->accelerator != nullptr; }
  MemoryPtr values_of(const Access& a) const {
    const auto* values = static_cast<const ValuesInMemory*>(static_cast<Buffer*>(a.storage)->values.get());
    if (!values) throw Error(ErrorKind::runtime, name_ + " has no values");
    return values->memory;
  }

  void serve() {
    for (std::unique_lock lock(mutex_);;) {
      wake_.wait(lock, [&] { return stop_ || (!held_ && !todo_.empty()); });
      if (stop_) return;
      Task task = std::move(todo_.front());
      todo_.pop_front();
      lock.unlock();
      run(task);
      lock.lock();
    }
  }

  void run(Task& task) {
    Op& op = *task.op;
    std::string failure = fails > 0 && --fails == 0 ? name_ + " has failed" : "";
    std::vector<char*> at;
    for (size_t i = 0; i < task.to.size(); ++i) {
      const MemoryPtr &from = task.from[i], &to = task.to[i];
      if (from && from->failed) failure = name_ + ": an operand was lost";
      if (from && to) to->bytes = from->bytes;
      auto* storage = static_cast<Buffer*>(op.access(static_cast<int>(i)).storage);
      at.push_back(to ? to->bytes.data() : from ? from->bytes.data() : storage->data());
    }
    if (failure.empty()) static_cast<DeviceKernel&>(*op.kernel()).compute(op, at);
    for (const MemoryPtr& to : task.to)
      if (to) to->failed = !failure.empty();
    task.from.clear(), task.to.clear();
    ++done;
    FailurePtr failed;
    if (!failure.empty()) failed = Engine::get().failures.made(ErrorKind::runtime, op, [&] { return failure; });
    Engine::get().complete(op, std::move(failed));
  }

  const std::string name_;
  const size_t memory_;
  std::mutex known_mutex_;
  std::vector<std::pair<BriefSpec, ElementKernel>> known_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> todo_;
  bool held_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace forerun::test
