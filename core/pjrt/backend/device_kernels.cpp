#include "pjrt/backend/device_kernels.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "memory/buffer.h"
#include "pjrt/backend/backend.h"
#include "pjrt/backend/scalar_cache.h"
#include "pjrt/buffer.h"

namespace forerun::pjrt {

namespace {

// Whether an execution or a copy has failed, for the buffers that it creates: those then have the plugin's error.
using Failed = std::shared_ptr<std::atomic<bool>>;
Failed not_failed() { return std::make_shared<std::atomic<bool>>(false); }

// The values of a storage: a vector of its elements, which is ready or will be.
struct Values final : DeviceValues {
  Values(const Client& client, Buffer&& buffer, Failed failed)
      : client(client), buffer(std::move(buffer)), failed(std::move(failed)) {}
  ~Values() override {
    if (client.in_child()) buffer.forget();
  }
  const Client& client;
  Buffer buffer;
  const Failed failed;
};

forerun::Buffer& storage_of(Op& op, int access) { return static_cast<forerun::Buffer&>(*op.access(access).storage); }

const Buffer& values_of(Op& op, int access) {
  const auto* values = static_cast<const Values*>(storage_of(op, access).values.get());
  if (!values) throw Error(ErrorKind::runtime, "the device must have the values of the operand, which were lost");
  return values->buffer;
}

void set_values(Op& op, int access, const Device& device, Buffer&& buffer, Failed failed) {
  storage_of(op, access).values = std::make_unique<Values>(device.client(), std::move(buffer), std::move(failed));
}

// The values of a storage, copied from host memory, which must not change until `done`.
Buffer upload(const Device& device, const forerun::Buffer& storage, const void* data, Event& done) {
  const DType dtype = dtype_of_storage(storage);
  const int64_t shape[] = {static_cast<int64_t>(storage.bytes / item_size(dtype))};
  return Buffer::from_host(device, data, dtype, shape, false, done);
}

// Gives an access zeros if it has no values, or those of a failed operation: an execution is to reuse their memory, and
// must not inherit their error.
void fill_if_absent(Op& op, int access, const Device& device) {
  const forerun::Buffer& storage = storage_of(op, access);
  const auto* values = static_cast<const Values*>(storage.values.get());
  if (values && !values->failed->load(std::memory_order_acquire)) return;
  const std::vector<char> zeros(storage.bytes);
  Event copied;
  set_values(op, access, device, upload(device, storage, zeros.data(), copied), not_failed());
  if (std::unique_ptr<PluginError> error = copied.wait()) throw PluginError(*error);
}

FailurePtr failure_of(const Op& op, ErrorKind kind, const std::string& text) {
  return Engine::get().failures.made(kind, op, [&] { return std::string(op.kernel()->name()) + ": " + text; });
}

// Completes an op when all of some events are ready, with the first error that they report.
class Completing {
 public:
  // failed: the flag of the values that the op creates, if any.
  Completing(Op& op, int events, Failed failed = nullptr) : op_(op), left_(events), failed_(std::move(failed)) {}
  virtual ~Completing() = default;
  void wait_for(Event&& event) {
    std::move(event).on_ready([this](std::unique_ptr<PluginError> error) { ended(std::move(error)); });
  }

 protected:
  // Called when all events are ready without an error. Returns the op's failure, if it has failed.
  virtual FailurePtr finish() { return nullptr; }
  Op& op_;

 private:
  void ended(std::unique_ptr<PluginError> error) {
    if (error && !has_error_.exchange(true)) error_ = std::move(error);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (error_ && failed_) failed_->store(true, std::memory_order_release);
    FailurePtr failed = error_ ? failure_of(op_, error_->kind, error_->what()) : finish();
    Op& op = op_;
    delete this;
    Engine::get().complete(op, std::move(failed));
  }

  std::atomic<int> left_;
  std::atomic<bool> has_error_{false};
  std::unique_ptr<PluginError> error_;  // of the first event with an error; read when all are ready
  const Failed failed_;
};

// If the plugin is out of memory, the op tries again when there is more.
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

}  // namespace

// The call of a module: the accesses of its arguments and results.
struct Call {
  std::vector<int> arguments;    // accesses of the op, or ~numbers of scalars
  std::vector<int64_t> donated;  // positions of arguments whose memory results may reuse
  std::vector<int64_t> unread;   // those of the donated ones whose values are not read
  std::vector<int> outputs;      // accesses
  std::vector<Error> errors;     // a further result says, for each of these, whether values were bad
  struct Draw {
    size_t scalar;    // the seed; the number follows it
    uint64_t number;  // offset from the op's number
  };
  std::vector<Draw> draws;

  // Whether it is the call of another op with the same code: the code does not determine the numbers of its accesses,
  // or the message for bad values.
  bool fits(const OpSpec& spec) const {
    size_t at = 0, result = 0;
    for (const OpSpec::Operand& in : spec.inputs) {
      const int from = arguments[at++];
      if (in.access >= 0 ? from != in.access : from >= 0) return false;
    }
    for (const OpSpec::Operand& out : spec.outputs)
      if (outputs[result++] != out.access) return false;
    if (errors.empty()) return spec.error_message.empty();
    return errors[0].kind == spec.error && spec.error_message == errors[0].what();
  }

  // For an op with a code of its own.
  static std::shared_ptr<const Call> of(const OpSpec& spec, bool draws) {
    auto call = std::make_shared<Call>();
    int scalars = 0;
    for (const OpSpec::Operand& in : spec.inputs) call->arguments.push_back(in.access >= 0 ? in.access : ~scalars++);
    for (const OpSpec::Operand& out : spec.outputs) {
      call->outputs.push_back(out.access);
      if (out.mode != Mode::update) continue;
      call->donated.push_back(static_cast<int64_t>(call->arguments.size()));
      call->arguments.push_back(out.access);
    }
    if (!spec.error_message.empty()) call->errors.emplace_back(spec.error, spec.error_message);
    if (draws) call->draws.push_back({0, 0});
    return call;
  }
};

// A module and its call.
struct Execution {
  std::shared_ptr<Code> code;
  std::shared_ptr<const Call> call;
};

namespace {

// Executes a module. Each run of an op has a kernel of its own.
class ModuleKernel final : public DeviceKernel {
 public:
  struct Facts {
    const char* name;
    bool droppable, draws;
  };
  ModuleKernel(Facts facts, std::shared_ptr<const Execution> execution, std::vector<Scalar> scalars)
      : facts_(facts), execution_(std::move(execution)), scalars_(std::move(scalars)) {}
  const char* name() const override { return facts_.name; }
  bool droppable() const override { return facts_.droppable; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  uint64_t* key() override { return facts_.draws ? key_ : nullptr; }

  Lane::Outcome hand_over(Op& op, const Device& device, Shared& shared) override {
    const Module& module = code().module(shared.modules, facts_.name, op.site);
    return unless_out_of_memory([&] { execute(op, device, shared, module); });
  }

  const std::shared_ptr<const Execution>& execution() const { return execution_; }
  Code& code() const { return *execution_->code; }
  const Call& call() const { return *execution_->call; }
  const std::vector<Scalar>& scalars() const { return scalars_; }

 private:
  void execute(Op& op, const Device& device, Shared& shared, const Module& module) {
    std::vector<Event> copied;
    std::vector<std::shared_ptr<const Buffer>> numbers = this->numbers(device, shared.scalars, copied);
    std::vector<abi::Buffer*> arguments;
    arguments.reserve(call().arguments.size());
    for (int64_t at : call().unread) fill_if_absent(op, call().arguments[static_cast<size_t>(at)], device);
    for (int from : call().arguments)
      arguments.push_back(from < 0 ? numbers[static_cast<size_t>(~from)]->raw() : values_of(op, from).raw());
    std::vector<int64_t> kept;  // arguments that are read elsewhere, too
    for (int64_t at : call().donated)
      if (std::count(arguments.begin(), arguments.end(), arguments[static_cast<size_t>(at)]) > 1) kept.push_back(at);
    Event done;
    std::vector<Buffer> results = module.execute(device, arguments, kept, nullptr, &done);
    const size_t outputs = call().outputs.size();
    const Failed failed = not_failed();
    for (size_t i = 0; i < outputs; ++i) set_values(op, call().outputs[i], device, std::move(results[i]), failed);
    if (call().errors.empty()) return (new Completing(op, 1, failed))->wait_for(std::move(done));
    auto checking = std::make_unique<Checking>(op, failed, execution_->call, shared.staging);
    Event checks_read = results[outputs].to_host(checking->bad(), call().errors.size());
    checking->wait_for(std::move(checks_read));
    checking.release()->wait_for(std::move(done));  // after this the op may have been destroyed
  }

  std::vector<std::shared_ptr<const Buffer>> numbers(const Device& device, ScalarCache& cache,
                                                     std::vector<Event>& copied) {
    std::vector<std::shared_ptr<const Buffer>> all(scalars_.size());
    for (const Call::Draw& draw : call().draws)
      for (size_t i = 0; i < 2; ++i) {
        Scalar& scalar = scalars_[draw.scalar + i];
        const uint64_t word = key_[i] + (i ? draw.number : 0);
        std::memcpy(scalar.value.data(), &word, sizeof word);
        // The kernel, and the number with it, is kept until the execution has ended.
        all[draw.scalar + i] = std::make_shared<const Buffer>(ScalarCache::make(device, scalar, copied.emplace_back()));
      }
    for (size_t i = 0; i < scalars_.size(); ++i)
      if (!all[i]) all[i] = cache.get(scalars_[i]);
    return all;
  }

  // Reads the result that reports bad values, when it is ready.
  class Checking final : public Completing {
   public:
    Checking(Op& op, Failed failed, std::shared_ptr<const Call> call, StagingPool& pool)
        : Completing(op, 2, std::move(failed)), call_(std::move(call)), staged_(pool.take(call_->errors.size())) {
      if (!staged_) own_.resize(call_->errors.size());
    }
    char* bad() { return staged_ ? staged_.data() : own_.data(); }  // one for each error
    FailurePtr finish() override {
      const char* end = bad() + call_->errors.size();
      const char* first = std::find(static_cast<const char*>(bad()), end, 1);
      if (first == end) return nullptr;
      const Error& error = call_->errors[static_cast<size_t>(first - bad())];
      return Engine::get().failures.made(error.kind, op_, [&] { return std::string(error.what()); });
    }

   private:
    const std::shared_ptr<const Call> call_;
    StagingPool::Place staged_;
    std::vector<char> own_;  // used if the pool has no free place
  };

  const Facts facts_;
  const std::shared_ptr<const Execution> execution_;
  uint64_t key_[2] = {};  // of random numbers
  std::vector<Scalar> scalars_;
};

// --- programs --------------------------------------------------------------------------------------------------------

class Joined final : public JoinedOps {
 public:
  Joined(std::shared_ptr<const Execution> execution, std::vector<Scalar> scalars, bool droppable)
      : execution_(std::move(execution)), scalars_(std::move(scalars)), droppable_(droppable) {}
  void make_kernel(Op& op, const char* name, uint64_t seed, uint64_t number) const override {
    const ModuleKernel::Facts facts{name, droppable_, !execution_->call->draws.empty()};
    auto& made = op.emplace<ModuleKernel>(facts, execution_, scalars_);
    if (uint64_t* key = made.key()) key[0] = seed, key[1] = number;
  }

 private:
  const std::shared_ptr<const Execution> execution_;
  const std::vector<Scalar> scalars_;
  const bool droppable_;
};

// Combines the calls of the steps of a program.
class Joining {
 public:
  Joining(const DeviceProgram& program, const Writer& writer) : program_(program), writer_(writer) {
    for (const DeviceProgram::Slot& slot : program.slots) slots_.push_back({slot.dtype, slot.size, slot.kept, false});
  }

  std::shared_ptr<const JoinedOps> join() {
    bool droppable = true;
    for (const DeviceProgram::Step& step : program_.steps) {
      const auto* kernel = dynamic_cast<const ModuleKernel*>(step.op->kernel());
      if (!kernel || kernel->code().joined()) return nullptr;
      droppable = droppable && kernel->droppable();
      add(step, *kernel);
    }
    for (auto* marks : {&needed_, &written_}) marks->resize(slots_.size());
    auto call = std::make_shared<Call>(std::move(call_));
    std::vector<int> donated;
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      const bool result = written_[slot] && slots_[slot].kept;
      const bool donates = result && (needed_[slot] || program_.slots[slot].old);
      const auto place = static_cast<int64_t>(call->arguments.size());
      if (donates) donated.push_back(static_cast<int>(slot)), call->donated.push_back(place);
      if (donates && !needed_[slot]) call->unread.push_back(place);
      if (donates || needed_[slot]) call->arguments.push_back(place_of(slot));
      if (result) call->outputs.push_back(place_of(slot));
    }
    std::optional<std::string> text = writer_.program(steps_, slots_, donated);
    if (!text) return nullptr;
    auto code = std::make_shared<Code>(std::move(*text), std::nullopt);
    auto execution = std::make_shared<const Execution>(Execution{std::move(code), std::move(call)});
    return std::make_shared<Joined>(std::move(execution), std::move(scalars_), droppable);
  }

 private:
  void add(const DeviceProgram::Step& step, const ModuleKernel& kernel) {
    const Call& call = kernel.call();
    const OpSpec& spec = kernel.code().spec();
    Writer::Step& made = steps_.emplace_back(Writer::Step{&spec, {}, {}});
    const auto first = static_cast<int>(scalars_.size());
    for (const Scalar& scalar : kernel.scalars()) {
      scalars_.push_back(scalar);
      slots_.push_back({scalar.dtype, 1, false, true});
    }
    const int storages = static_cast<int>(program_.slots.size());
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      const int from = call.arguments[i];
      made.inputs.push_back(from < 0 ? storages + first + ~from : step.slots[static_cast<size_t>(from)]);
      need(made.inputs.back());
    }
    for (size_t i = 0; i < spec.outputs.size(); ++i) {
      made.outputs.push_back(step.slots[static_cast<size_t>(call.outputs[i])]);
      if (spec.outputs[i].mode == Mode::update) need(made.outputs.back());
    }
    for (int slot : made.outputs) mark(written_, slot);
    for (const Error& error : call.errors) call_.errors.push_back(error);
    for (const Call::Draw& draw : call.draws)
      call_.draws.push_back({static_cast<size_t>(first) + draw.scalar, step.number});
  }
  void need(int slot) {
    mark(needed_, slot, static_cast<size_t>(slot) >= written_.size() || !written_[static_cast<size_t>(slot)]);
  }
  void mark(std::vector<bool>& marks, int slot, bool marked = true) {
    for (auto* each : {&needed_, &written_}) each->resize(std::max(each->size(), slots_.size()));
    if (marked) marks[static_cast<size_t>(slot)] = true;
  }
  // The slot's position in the op: an access, or ~number of a scalar.
  int place_of(size_t slot) const {
    if (slot >= program_.slots.size()) return ~static_cast<int>(slot - program_.slots.size());
    const auto& all = program_.accesses;
    return static_cast<int>(std::find(all.begin(), all.end(), static_cast<int>(slot)) - all.begin());
  }

  const DeviceProgram& program_;
  const Writer& writer_;
  std::vector<Writer::Step> steps_;
  std::vector<Writer::Slot> slots_;     // storages, followed by scalars
  std::vector<bool> needed_, written_;  // slots that are arguments; slots that are written so far
  std::vector<Scalar> scalars_;
  Call call_;
};

// --- copies ----------------------------------------------------------------------------------------------------------

class UploadKernel final : public DeviceKernel {
 public:
  const char* name() const override { return "copy to device"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  Lane::Outcome hand_over(Op& op, const Device& device, Shared&) override {
    return unless_out_of_memory([&] {
      const forerun::Buffer& from = storage_of(op, 0);
      from.register_with(device.client());
      Event done;
      Buffer made = upload(device, storage_of(op, 1), from.data(), done);
      Event ready = made.ready();
      const Failed failed = not_failed();
      set_values(op, 1, device, std::move(made), failed);
      auto* completing = new Completing(op, 2, failed);
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
  Lane::Outcome hand_over(Op& op, const Device& device, Shared& shared) override {
    device.client().check_process();
    forerun::Buffer& to = storage_of(op, 1);
    if (StagingPool::Place place = shared.staging.take(to.bytes)) {
      auto landing = std::make_unique<Landing>(op, std::move(place), to);
      Event copied = values_of(op, 0).to_host(landing->data(), to.bytes);
      landing.release()->wait_for(std::move(copied));
      return Lane::Outcome::accepted;
    }
    to.register_with(device.client());
    (new Completing(op, 1))->wait_for(values_of(op, 0).to_host(to.data(), to.bytes));
    return Lane::Outcome::accepted;
  }

 private:
  // Copies the values from their staging place to the storage.
  class Landing final : public Completing {
   public:
    Landing(Op& op, StagingPool::Place place, forerun::Buffer& to)
        : Completing(op, 1), place_(std::move(place)), to_(to) {}
    char* data() const { return place_.data(); }
    FailurePtr finish() override {
      std::memcpy(to_.data(), place_.data(), to_.bytes);
      return nullptr;
    }

   private:
    StagingPool::Place place_;
    forerun::Buffer& to_;
  };
};

class TransferKernel final : public DeviceKernel {
 public:
  const char* name() const override { return "copy between devices"; }
  bool droppable() const override { return true; }
  bool copy_to(Op& op) const override { return op.copy(*this); }
  Lane::Outcome hand_over(Op& op, const Device& device, Shared&) override {
    return unless_out_of_memory([&] {
      Buffer made = values_of(op, 0).copy_to(device);
      Event ready = made.ready();
      const Failed failed = not_failed();
      set_values(op, 1, device, std::move(made), failed);
      (new Completing(op, 1, failed))->wait_for(std::move(ready));
    });
  }
};

}  // namespace

void DeviceKernel::run(Op&, int64_t) {
  throw Error(ErrorKind::runtime, "the device's lane must be handed the operation, got a worker of the host");
}

void make_module_kernel(Op& op, const OpSpec& spec, std::shared_ptr<Code> code) {
  Kernel& before = *op.kernel();
  const ModuleKernel::Facts facts{before.name(), before.droppable(), before.key() != nullptr};
  uint64_t drawn[2] = {};
  if (facts.draws) std::memcpy(drawn, before.key(), sizeof drawn);
  std::vector<Scalar> scalars;
  for (const OpSpec::Operand& in : spec.inputs) {
    if (in.access >= 0) continue;
    Scalar& scalar = scalars.emplace_back(Scalar{in.layout.dtype, {}});
    std::memcpy(scalar.value.data(), in.value, item_size(scalar.dtype));
  }
  op.drop_kernel();
  if (!code->call || !code->call->fits(spec)) code->call = Call::of(spec, facts.draws);
  auto execution = std::make_shared<const Execution>(Execution{code, code->call});
  auto& made = op.emplace<ModuleKernel>(facts, std::move(execution), std::move(scalars));
  if (facts.draws) std::memcpy(made.key(), drawn, sizeof drawn);
}

void RecentModuleKernels::remember(const BriefSpec& brief, const Op& op) {
  const auto& kernel = static_cast<const ModuleKernel&>(*op.kernel());
  const auto own = static_cast<ptrdiff_t>(brief.scalars());
  known_.put(brief, {kernel.execution(), {kernel.scalars().begin() + own, kernel.scalars().end()}});
}

bool RecentModuleKernels::make(Op& op, const BriefSpec& brief) const {
  const Known* known = known_.find(brief);
  if (!known) return false;
  const ModuleKernel::Facts facts{op.kernel()->name(), op.kernel()->droppable(), false};
  std::vector<Scalar> scalars;
  scalars.reserve(brief.scalars() + known->starts.size());
  for (size_t i = 0; i < brief.scalars(); ++i) scalars.push_back({brief.scalar(i).dtype, brief.scalar(i).value});
  scalars.insert(scalars.end(), known->starts.begin(), known->starts.end());
  op.drop_kernel();
  op.emplace<ModuleKernel>(facts, known->execution, std::move(scalars));
  return true;
}

std::shared_ptr<const JoinedOps> join_ops(const DeviceProgram& program, const Writer& writer) {
  return Joining(program, writer).join();
}
void make_upload_kernel(Op& op) { op.emplace<UploadKernel>(); }
void make_download_kernel(Op& op) { op.emplace<DownloadKernel>(); }
void make_transfer_kernel(Op& op) { op.emplace<TransferKernel>(); }

}  // namespace forerun::pjrt
