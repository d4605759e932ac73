#include "placement/placement.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/copy/zeros.h"
#include "device/accelerator.h"
#include "device/op_spec.h"
#include "engine/engine.h"

namespace forerun {

namespace {

constexpr int kHost = 0;  // the device whose queues run host ops of accelerators

Accelerator* accelerator_of(const Storage& storage) { return storage.budget->accelerator; }
MemoryBudget* budget_of_device(int device) { return Engine::get().devices[device].budget.get(); }

void check_usable(const MemoryBudget& budget) {
  if (!budget.lost.load(std::memory_order_relaxed)) return;
  throw Error(ErrorKind::runtime,
              budget.accelerator->name() + ": must be used by the process that has opened it, got a forked child");
}

// A device always writes whole storages.
void write_as_a_whole(Op& op) {
  for (int i = 0; i < op.n_access; ++i) op.access(i).place = 0;
}

// Whether no op has written the storage: then it has no values on any device.
bool is_new(const Storage& storage) { return storage.issued.load(std::memory_order_relaxed) == 0 && !storage.failure; }

// An op that is discarded unless it is submitted.
class Owned {
 public:
  explicit Owned(Op* op) : op_(op) {}
  Owned(const Owned&) = delete;
  ~Owned() {
    if (op_) Engine::get().discard(op_);
  }
  Op& operator*() const { return *op_; }
  Op* operator->() const { return op_; }
  Op* release() { return std::exchange(op_, nullptr); }

 private:
  Op* op_;
};

// A description that reuses this thread's last one, unless that is in use.
class Description {
 public:
  Description() {
    if (std::exchange(used_, true))
      own_.emplace();
    else
      kept_.clear();
  }
  ~Description() {
    if (!own_) used_ = false;
  }
  Description(const Description&) = delete;
  OpSpec& spec() { return own_ ? *own_ : kept_; }

 private:
  static thread_local bool used_;
  static thread_local OpSpec kept_;
  std::optional<OpSpec> own_;
};
thread_local bool Description::used_ = false;
thread_local OpSpec Description::kept_;

// Finds, storage by storage, the devices with the operands' values and submits the op, with the copies that it needs
// before and after.
class Placing {
 public:
  Placing(Op* op, Queue::Kind kind, const Submit& submit) : op_(op), kind_(kind), submit_(submit) {}

  Placed run(int device) {
    check_usable(*budget_of_device(device));
    Accelerator* const here = budget_of_device(device)->accelerator;
    const bool together = all_in_memory_of(here);
    if (together && !here) return op_.release(), Placed::as_it_is;
    for (int i = 0; i < op_->n_access; ++i) {
      const Access& a = op_->access(i);
      check_usable(*a.storage->budget);
      if (accelerator_of(*a.storage) && a.mode != Mode::write) write_if_new(*a.storage);
    }
    Description description;
    OpSpec& spec = description.spec();
    const bool described = op_->kernel()->describe(*op_, spec);
    spec.locate(*op_);
    if (!together && described && copies_between(spec)) return copy_between(spec), Placed::on_device;
    if (here && described && (together || writes_only(here)) && kind_ != Queue::Kind::io && run_on(device, *here, spec))
      return Placed::on_device;
    run_on_host(here ? kHost : device);
    return here ? Placed::on_host : Placed::on_device;
  }

 private:
  template <class F>
  bool all_accesses(F f) const {
    for (int i = 0; i < op_->n_access; ++i)
      if (!f(op_->access(i))) return false;
    return true;
  }
  bool all_in_memory_of(const Accelerator* here) const {
    return all_accesses([&](const Access& a) { return accelerator_of(*a.storage) == here; });
  }
  bool writes_only(const Accelerator* here) const {
    return all_accesses([&](const Access& a) { return a.mode == Mode::read || accelerator_of(*a.storage) == here; });
  }

  // Builds the op as the device runs it, behind copies of operands that are elsewhere; false: the device has no code
  // for it.
  bool run_on(int device, Accelerator& here, OpSpec& spec) {
    if (!here.lower(*op_, spec)) return false;
    for (int i = 0; i < op_->n_access; ++i)
      if (Access& a = op_->access(i); accelerator_of(*a.storage) != &here) use(a, mirror(*a.storage, device));
    submit(op_.release(), device);
    return true;
  }

  void run_on_host(int device) {
    for (int i = 0; i < op_->n_access; ++i) {
      Access& a = op_->access(i);
      if (!accelerator_of(*a.storage)) continue;
      Array original(static_cast<Buffer*>(a.storage), Layout());
      const Array& there = mirror(*a.storage, device, a.mode == Mode::write);
      use(a, there);
      if (a.mode != Mode::read) remember_write(original, there);
    }
    submit_(op_.release(), device, kind_, device);
    for (auto& [original, there] : written_) transfer(there, original);
  }

  // Before a part of a storage is written or read.
  void write_if_new(Storage& storage) {
    if (!is_new(storage)) return;
    const auto dtype = storage.form.dtype == DebugShape::kNone ? DType::u8 : static_cast<DType>(storage.form.dtype);
    const auto items = static_cast<int64_t>(storage.bytes / item_size(dtype));
    Owned op(Engine::get().make_op());
    build_zeros(*op, Array(static_cast<Buffer*>(&storage), Layout::dense(dtype, Dims{items})));
    place(op.release(), storage.budget->device, Queue::Kind::compute, submit_);
  }

  // The copy of a storage's values in the memory of another device. The copy op is submitted, unless all values are
  // overwritten.
  const Array& mirror(Storage& storage, int device, bool overwritten = false) {
    for (Mirror& known : mirrors_)
      if (known.of == &storage) {
        if (!overwritten && !known.filled) fill(known, storage);
        return known.array;
      }
    auto& original = static_cast<Buffer&>(storage);
    Buffer* made = Buffer::make(original.bytes, budget_of_device(device));
    made->form = original.form;
    Mirror& added = mirrors_.emplace_back(Mirror{&storage, Array(made, Layout()), false});
    if (!overwritten) fill(added, storage);
    return added.array;
  }
  struct Mirror {
    Storage* of;
    Array array;
    bool filled;
  };
  void fill(Mirror& mirror, Storage& from) {
    mirror.filled = true;
    transfer(Array(static_cast<Buffer*>(&from), Layout()), mirror.array);
  }

  static void use(Access& a, const Array& array) {
    Storage* before = std::exchange(a.storage, array.storage());
    a.storage->retain();
    before->release();
  }

  void remember_write(const Array& original, const Array& there) {
    for (auto& [known, mirror] : written_)
      if (known.storage() == original.storage()) return;
    written_.emplace_back(original, there);
  }

  // --- copies ---

  // Whether the op copies from one memory to another.
  bool copies_between(const OpSpec& spec) const {
    return std::string_view(spec.kind) == "copy" && spec.inputs.size() == 1 && spec.outputs.size() == 1 &&
           spec.inputs[0].access >= 0;
  }
  Array operand(const OpSpec::Operand& operand) const {
    return Array(static_cast<Buffer*>(op_->access(operand.access).storage), operand.layout);
  }

  // Values are copied storage by storage; so parts of a storage are gathered before the copy, and scattered after it.
  void copy_between(const OpSpec& spec) {
    Array from = operand(spec.inputs[0]), to = operand(spec.outputs[0]);
    if (!whole(from) || from.layout.dtype != to.layout.dtype) {
      Array packed = Array::make(to.layout.dtype, from.layout.shape, from.storage()->budget);
      copy_within(from, packed);
      from = std::move(packed);
    }
    if (whole(to)) return transfer(from, to);
    Array arrived = Array::make(to.layout.dtype, from.layout.shape, to.storage()->budget);
    transfer(from, arrived);
    copy_within(arrived, to);
  }
  static bool whole(const Array& a) {
    return a.covers_storage() && a.storage()->form.dtype == static_cast<uint8_t>(a.layout.dtype);
  }
  void copy_within(const Array& from, const Array& to) {
    Owned op(Engine::get().make_op());
    build_copy(*op, from, to);
    const int device = to.storage()->budget->device;
    Op* made = op.release();
    if (place(made, device, Queue::Kind::compute, submit_) == Placed::as_it_is)
      submit_(made, device, Queue::Kind::compute, device);
  }

  // Copies all values of a storage to one of the same size on another device.
  void transfer(const Array& from, const Array& to) {
    Accelerator *source = accelerator_of(*from.storage()), *target = accelerator_of(*to.storage());
    const int here = from.storage()->budget->device, there = to.storage()->budget->device;
    Owned op(Engine::get().make_op());
    op->add(from.storage(), Mode::read);
    op->add(to.storage(), Mode::write);
    op->cost = static_cast<uint32_t>(std::min<size_t>(50 + from.storage()->bytes / 4, INT32_MAX));
    if (source && target && !target->build_transfer(*op, *source)) {
      Buffer* made = Buffer::make(from.storage()->bytes, budget_of_device(kHost));
      made->form = from.storage()->form;
      const Array half_way(made, Layout());
      transfer(from, half_way);
      return transfer(half_way, to);
    }
    if (!target) source->build_download(*op);
    if (!source) target->build_upload(*op);
    submit_(op.release(), target ? there : here, Queue::Kind::copy, there);
  }

  void submit(Op* op, int device) {
    write_as_a_whole(*op);
    submit_(op, device, kind_, device);
  }

  Owned op_;
  const Queue::Kind kind_;
  const Submit& submit_;
  std::vector<Mirror> mirrors_;
  std::vector<std::pair<Array, Array>> written_;  // storages on an accelerator, and the host copies that the op writes
};

}  // namespace

bool place_again(Op& op, int device) {
  const MemoryBudget& budget = *budget_of_device(device);
  if (!budget.accelerator || budget.lost.load(std::memory_order_relaxed)) return false;
  for (int i = 0; i < op.n_access; ++i)
    if (const Access& a = op.access(i); a.storage->budget != &budget || (a.mode != Mode::write && is_new(*a.storage)))
      return false;
  if (!budget.accelerator->lower_again(op)) return false;
  write_as_a_whole(op);
  return true;
}

Placed place(Op* op, int device, Queue::Kind kind, const Submit& submit) {
  return Placing(op, kind, submit).run(device);
}

}  // namespace forerun
