#include "pjrt/backend/device_kernels.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "memory/buffer.h"
#include "pjrt/backend/backend.h"
#include "pjrt/buffer.h"

namespace forerun::pjrt {

namespace {

// The values of a storage: a vector of its elements, which is ready or will be.
struct Values final : DeviceValues {
  explicit Values(Buffer&& buffer) : buffer(std::move(buffer)) {}
  Buffer buffer;
};

forerun::Buffer& storage_of(Op& op, int access) { return static_cast<forerun::Buffer&>(*op.access(access).storage); }

const Buffer& values_of(Op& op, int access) {
  const auto* values = static_cast<const Values*>(storage_of(op, access).values.get());
  if (!values) throw Error(ErrorKind::runtime, "the device must have the values of the operand, which were lost");
  return values->buffer;
}

void set_values(Op& op, int access, Buffer&& buffer) {
  storage_of(op, access).values = std::make_unique<Values>(std::move(buffer));
}

DType dtype_of_storage(const Storage& storage) {
  return storage.form.dtype == DebugShape::kNone ? DType::u8 : static_cast<DType>(storage.form.dtype);
}

FailurePtr failure_of(const Op& op, ErrorKind kind, const std::string& text) {
  return Engine::get().failures.made(kind, op, [&] { return std::string(op.kernel()->name()) + ": " + text; });
}

// Completes an op when all of some events are there, with the first error that they report.
class Completing {
 public:
  // `bad`, if not null, tells at the end whether the values were such that the op has failed, with this text.
  Completing(Op& op, int events) : op_(op), left_(events) {}
  virtual ~Completing() = default;
  void wait_for(Event&& event) {
    std::move(event).on_ready([this](std::unique_ptr<PluginError> error) { ended(std::move(error)); });
  }

 protected:
  virtual FailurePtr failure() { return nullptr; }
  Op& op_;

 private:
  void ended(std::unique_ptr<PluginError> error) {
    if (error && !said_.exchange(true)) error_ = std::move(error);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    FailurePtr failed = error_ ? failure_of(op_, error_->kind, error_->what()) : failure();
    Op& op = op_;
    delete this;
    Engine::get().complete(op, std::move(failed));
  }

  std::atomic<int> left_;
  std::atomic<bool> said_{false};
  std::unique_ptr<PluginError> error_;  // of the first event with one; read by the last
};

// The plugin has no memory: the op tries again when there is more.
template <class F>
Lane::Outcome unless_out_of_memory(F f) {
  try {
    f();
  } catch (const PluginError& error) {
    if (error.out_of_memory()) return Lane::Outcome::no_memory;
    throw;
  }
  return Lane::Outcome::accepted;
}

// --- executions ------------------------------------------------------------------------------------------------------

class ModuleKernel final : public DeviceKernel {
 public:
  ModuleKernel(const char* name, bool droppable, bool draws, const OpSpec& spec, std::shared_ptr<Code> code)
      : name_(name), droppable_(droppable), draws_(draws), code_(std::move(code)) {
    for (const OpSpec::Operand& in : spec.inputs) {
      inputs_.push_back(in.access >= 0 ? in.access : ~static_cast<int>(scalars_.size()));
      if (in.access >= 0) continue;
      Scalar& scalar = scalars_.emplace_back(Scalar{in.layout.dtype, {}});
      std::memcpy(scalar.value, in.value, sizeof scalar.value);
    }
    for (const OpSpec::Operand& out : spec.outputs) outputs_.push_back(out.access);
    if (!spec.error_message.empty()) error_ = std::make_shared<const Error>(spec.error, spec.error_message);
  }
  const char* name() const override { return name_; }
  bool droppable() const override { return droppable_; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  uint64_t* key() override {
    if (!draws_) return nullptr;
    return key_;
  }

  Lane::Outcome hand_over(Op& op, const Device& device, ModuleCache& modules) override {
    const Module& module = code_->module(modules);
    return unless_out_of_memory([&] { execute(op, device, module); });
  }

 private:
  struct Scalar {
    DType dtype;
    alignas(16) unsigned char value[16];
  };

  void execute(Op& op, const Device& device, const Module& module) {
    if (draws_)
      for (int i = 0; i < 2; ++i) std::memcpy(scalars_[static_cast<size_t>(i)].value, &key_[i], sizeof key_[i]);
    std::vector<Buffer> numbers;
    std::vector<abi::Buffer*> arguments;
    std::vector<int64_t> kept;
    std::vector<Event> copied(scalars_.size());
    numbers.reserve(scalars_.size());
    for (int in : inputs_) {
      if (in < 0) {
        const auto i = static_cast<size_t>(~in);
        numbers.push_back(Buffer::from_host(device, scalars_[i].value, scalars_[i].dtype, {}, false, copied[i]));
        arguments.push_back(numbers.back().raw());
      } else {
        arguments.push_back(values_of(op, in).raw());
      }
    }
    const size_t read = arguments.size();
    for (int out : outputs_) {
      if (op.access(out).mode != Mode::update) continue;
      abi::Buffer* const old = values_of(op, out).raw();
      // It is read beside: its memory is needed.
      for (size_t i = 0; i < read; ++i)
        if (arguments[i] == old) kept.push_back(static_cast<int64_t>(arguments.size()));
      arguments.push_back(old);
    }
    Event done;
    std::vector<Buffer> results = module.execute(device, arguments, kept, nullptr, &done);
    for (size_t i = 0; i < outputs_.size(); ++i) set_values(op, outputs_[i], std::move(results[i]));
    complete(op, std::move(done), results.size() > outputs_.size() ? &results.back() : nullptr);
  }

  // Behind this the op may be gone.
  void complete(Op& op, Event&& done, const Buffer* bad) {
    if (!bad) return (new Completing(op, 1))->wait_for(std::move(done));
    auto* checking = new Checking(op, error_);
    checking->wait_for(std::move(done));
    checking->wait_for(bad->to_host(&checking->bad, 1));
  }

  class Checking final : public Completing {
   public:
    Checking(Op& op, std::shared_ptr<const Error> error) : Completing(op, 2), error_(std::move(error)) {}
    FailurePtr failure() override { return bad ? failure_of(op_, error_->kind, error_->what()) : nullptr; }
    char bad = 0;

   private:
    const std::shared_ptr<const Error> error_;
  };

  const char* name_;
  const bool droppable_, draws_;
  uint64_t key_[2] = {};
  std::vector<int> inputs_;  // accesses, or ~numbers of scalars
  std::vector<int> outputs_;
  std::vector<Scalar> scalars_;
  std::shared_ptr<Code> code_;
  std::shared_ptr<const Error> error_;  // null: it does not look at values
};

// --- copies ----------------------------------------------------------------------------------------------------------

class UploadKernel final : public DeviceKernel {
 public:
  const char* name() const override { return "copy to device"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  Lane::Outcome hand_over(Op& op, const Device& device, ModuleCache&) override {
    return unless_out_of_memory([&] {
      const forerun::Buffer& from = storage_of(op, 0);
      const DType dtype = dtype_of_storage(*op.access(1).storage);
      const int64_t shape[] = {static_cast<int64_t>(from.bytes / item_size(dtype))};
      Event done;
      Buffer made = Buffer::from_host(device, from.data(), dtype, shape, false, done);
      Event ready = made.ready();
      set_values(op, 1, std::move(made));
      auto* completing = new Completing(op, 2);
      completing->wait_for(std::move(done));
      completing->wait_for(std::move(ready));
    });
  }
};

class DownloadKernel final : public DeviceKernel {
 public:
  const char* name() const override { return "copy to host"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  Lane::Outcome hand_over(Op& op, const Device&, ModuleCache&) override {
    forerun::Buffer& to = storage_of(op, 1);
    (new Completing(op, 1))->wait_for(values_of(op, 0).to_host(to.data(), to.bytes));
    return Lane::Outcome::accepted;
  }
};

class TransferKernel final : public DeviceKernel {
 public:
  const char* name() const override { return "copy between devices"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  Lane::Outcome hand_over(Op& op, const Device& device, ModuleCache&) override {
    return unless_out_of_memory([&] {
      Buffer made = values_of(op, 0).copy_to(device);
      Event ready = made.ready();
      set_values(op, 1, std::move(made));
      (new Completing(op, 1))->wait_for(std::move(ready));
    });
  }
};

}  // namespace

void DeviceKernel::run(Op&, int64_t) {
  throw Error(ErrorKind::runtime, "the device's lane must be handed the operation, got a worker of the host");
}

void make_module_kernel(Op& op, const OpSpec& spec, std::shared_ptr<Code> code) {
  Kernel& before = *op.kernel();
  const char* name = before.name();
  const bool droppable = before.droppable(), draws = before.key() != nullptr;
  uint64_t drawn[2] = {};
  if (draws) std::memcpy(drawn, before.key(), sizeof drawn);
  op.drop_kernel();
  auto& made = op.emplace<ModuleKernel>(name, droppable, draws, spec, std::move(code));
  if (draws) std::memcpy(made.key(), drawn, sizeof drawn);
}
void make_upload_kernel(Op& op) { op.emplace<UploadKernel>(); }
void make_download_kernel(Op& op) { op.emplace<DownloadKernel>(); }
void make_transfer_kernel(Op& op) { op.emplace<TransferKernel>(); }

}  // namespace forerun::pjrt
