#include <forerun/forerun.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "base/dtype.h"
#include "base/error.h"
#include "cpu/cgroup_limits.h"
#include "cpu/threads.h"
#include "engine/engine.h"
#include "memory/caching_allocator.h"

namespace forerun::embed {

namespace {

constexpr std::chrono::milliseconds kSlice{50};
constexpr DType kDTypes[] = {DType::b1,  DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                             DType::u16, DType::u32, DType::u64, DType::f32, DType::f64};

thread_local bool in_kernel = false;

void must_not_be_in_a_kernel(const char* call) {
  if (in_kernel) throw Error(std::string(call) + ": a kernel must not wait for arrays, nor queue operations");
}

void drain() {
  Engine& engine = Engine::get();
  uint64_t mark = engine.ring.next();
  while (!engine.waiter.wait_mark(mark, kSlice)) {
  }
}

// At exit: queued operations end before static objects of the program, which kernels may use, are destroyed.
void stop() {
  drain();
  while (!Engine::get().stop_workers(kSlice)) {
  }
}

void apply(const Settings& settings) {
  Engine& engine = Engine::get();
  int cores = granted_cores(), workers = settings.workers > 0 ? settings.workers : cores;
  size_t memory = granted_memory();
  drain();
  while (!engine.stop_workers(kSlice)) {
  }
  engine.configure({workers}, std::max(workers, cores), 1);
  engine.set_ops_ahead(settings.ops_ahead);
  size_t budget = settings.memory_budget ? settings.memory_budget : memory / 2;
  size_t limit = settings.memory_limit ? settings.memory_limit : memory - memory / 10;
  MemoryBudget& of_device = *engine.devices[0].budget;
  of_device.soft.store(budget), of_device.hard.store(limit);
  CachingAllocator::get().set_limits(limit / 4, limit);
}

std::once_flag configured;

Engine& engine() {
  std::call_once(configured, [] {
    use_cpu_workers(Engine::get());
    apply({});
    std::atexit(stop);
  });
  return Engine::get();
}

// The engine and its traces keep names by their addresses.
const char* kept(const std::string& name) {
  static std::mutex mutex;
  static auto* names = new std::set<std::string>;
  std::lock_guard<std::mutex> held(mutex);
  return names->insert(name).first->c_str();
}

struct Use {
  size_t size;
  Type type;
  bool output;
};

class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(const char* name, bool pure, int64_t tiles, std::vector<Use> uses,
                 std::function<void(Operands&, int64_t)> function)
      : name_(name), pure_(pure), tiles_(tiles), uses_(std::move(uses)), function_(std::move(function)) {}
  const char* name() const override { return name_; }
  int64_t tiles() const override { return tiles_; }
  bool droppable() const override { return pure_; }
  void run(Op& op, int64_t tile) override {
    std::vector<Operands::Operand> inputs, outputs;
    for (size_t i = 0; i < uses_.size(); ++i) {
      const Use& use = uses_[i];
      (use.output ? outputs : inputs).push_back({operand_data(op, static_cast<int>(i), 0), use.size, use.type});
    }
    Operands operands;
    operands.inputs = inputs, operands.outputs = outputs;
    bool before = std::exchange(in_kernel, true);
    try {
      function_(operands, tile);
    } catch (...) {
      in_kernel = before;
      throw;
    }
    in_kernel = before;
  }

 private:
  const char* name_;
  bool pure_;
  int64_t tiles_;
  std::vector<Use> uses_;
  std::function<void(Operands&, int64_t)> function_;
};

size_t size_of(const std::vector<int64_t>& shape) {
  size_t size = 1;
  for (int64_t extent : shape) {
    if (extent < 0) throw Error("Array: extents must not be negative, got " + std::to_string(extent));
    size *= static_cast<size_t>(extent);
  }
  return size;
}

}  // namespace

namespace detail {

struct Storage {
  Storage(std::vector<int64_t> extents, Type of) : shape(std::move(extents)), type(of), size(size_of(shape)) {
    size_t bytes = size * item_size(kDTypes[static_cast<int>(type)]);
    buffer = Buffer::make(bytes, engine().devices[0].budget.get());
    buffer->retain_handle();
  }
  Storage(const Storage&) = delete;
  ~Storage() { buffer->release_handle(); }

  const std::vector<int64_t> shape;
  const Type type;
  const size_t size;
  Buffer* buffer;
};

}  // namespace detail

void configure(const Settings& settings) {
  must_not_be_in_a_kernel("configure");
  engine();
  apply(settings);
}

void wait_all() {
  must_not_be_in_a_kernel("wait_all");
  engine();
  drain();
}

Array::Array(std::vector<int64_t> shape, Type type)
    : storage_(std::make_shared<detail::Storage>(std::move(shape), type)) {}

const std::vector<int64_t>& Array::shape() const { return storage_->shape; }
Type Array::type() const { return storage_->type; }
size_t Array::size() const { return storage_->size; }
bool Array::ready() const { return storage_->buffer->settled(); }

void Array::wait() const {
  must_not_be_in_a_kernel("wait");
  Buffer& buffer = *storage_->buffer;
  if (buffer.issued.load() == 0) throw Error("wait: an operation must have been queued that writes the array");
  while (!Engine::get().waiter.wait(buffer, kSlice)) {
  }
  if (FailurePtr failure = buffer.failure) {
    failure->see();
    throw Error(failure->message);
  }
}

void Array::check(Type type) const {
  if (type != storage_->type) throw Error("values: the type must be that of the array");
}

const void* Array::data() const {
  wait();
  return storage_->buffer->data();
}

const Operands::Operand& Operands::at(std::span<const Operand> operands, int i, Type type) {
  if (i < 0 || static_cast<size_t>(i) >= operands.size())
    throw Error("operand " + std::to_string(i) + " must be one of " + std::to_string(operands.size()));
  const Operand& found = operands[static_cast<size_t>(i)];
  if (found.type != type) throw Error("operand " + std::to_string(i) + " must be used with its type");
  return found;
}

Operation::Operation(std::string name) : name_(std::move(name)) {}
Operation& Operation::read(const Array& array) { return arrays_.push_back({array, Use::in}), *this; }
Operation& Operation::write(const Array& array) { return arrays_.push_back({array, Use::out}), *this; }
Operation& Operation::update(const Array& array) { return arrays_.push_back({array, Use::both}), *this; }
Operation& Operation::pure() { return pure_ = true, *this; }
Operation& Operation::nanoseconds(uint32_t cost) { return cost_ = cost, *this; }

void Operation::run(std::function<void(Operands&)> kernel) {
  run(1, [kernel = std::move(kernel)](Operands& operands, int64_t) { kernel(operands); });
}

void Operation::run(int64_t tiles, std::function<void(Operands&, int64_t)> kernel) {
  must_not_be_in_a_kernel("run");
  if (tiles < 1) throw Error(name_ + ": tiles must be positive, got " + std::to_string(tiles));
  std::vector<embed::Use> uses;
  for (const Named& named : arrays_) {
    if (named.use == Use::in && named.array.storage_->buffer->issued.load() == 0)
      throw Error(name_ + ": an input must have been written by an operation before");
    uses.push_back({named.array.size(), named.array.type(), named.use != Use::in});
  }
  Engine& here = engine();
  while (here.ring.full()) here.waiter.make_room(kSlice);
  Op* op = here.make_op();
  op->queue = here.devices[0].compute.get(), op->budget = here.devices[0].budget.get(), op->cost = cost_;
  op->emplace<FunctionKernel>(kept(name_), pure_, tiles, std::move(uses), std::move(kernel));
  for (const Named& named : arrays_)
    op->add(named.array.storage_->buffer, named.use == Use::in    ? Mode::read
                                          : named.use == Use::out ? Mode::write
                                                                  : Mode::update);
  here.issue(op);
}

}  // namespace forerun::embed
