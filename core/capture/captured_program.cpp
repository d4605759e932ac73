#include "capture/captured_program.h"

#include <algorithm>

#include "capture/fused_steps.h"
#include "engine/devices/memory_budget.h"
#include "engine/engine.h"

namespace forerun {

namespace {

constexpr uint64_t kWholeCost = 200'000;  // ns: above, workers share the steps

}  // namespace

// Runs all steps in order, on the thread that runs the op.
class ProgramKernel final : public Kernel {
 public:
  ProgramKernel(std::shared_ptr<const Program> program, uint64_t seed, uint64_t number)
      : program_(std::move(program)), seed_(seed), number_(number) {}
  const char* name() const override { return program_->name_; }
  bool droppable() const override { return program_->droppable_; }

  void run(Op& op, int64_t) override {
    auto instance = program_->take_instance();
    struct GiveBack {
      const Program& program;
      std::unique_ptr<Program::Instance>& instance;
      ~GiveBack() {
        std::lock_guard held(program.mutex_);
        if_memory_allows([&] { program.free_.push_back(std::move(instance)); });  // else it is made anew
      }
    } give_back{*program_, instance};
    for (auto [access, outer] : instance->patches) access->storage = op.access(outer).storage;
    for (size_t i = 0; i < instance->ops.size(); ++i) {
      Op& inner = *instance->ops[i];
      Kernel& kernel = *inner.kernel();
      if (uint64_t* key = kernel.key()) key[0] = seed_, key[1] = number_ + program_->steps_[i]->number;
      kernel.prepare(inner);
      for (int64_t tile = 0, n = kernel.tiles(); tile < n; ++tile) kernel.run(inner, tile);
    }
  }

 private:
  std::shared_ptr<const Program> program_;
  uint64_t seed_, number_;
};

std::unique_ptr<Program::Instance> Program::take_instance() const {
  {
    std::lock_guard held(mutex_);
    if (!free_.empty()) {
      auto instance = std::move(free_.back());
      free_.pop_back();
      return instance;
    }
  }
  return make_instance();
}

std::unique_ptr<Program::Instance> Program::make_instance() const {
  auto made = std::make_unique<Instance>();
  std::vector<Buffer*> buffers(slots_.size());
  std::vector<int> outer(slots_.size(), -1);
  for (size_t i = 0; i < outer_.size(); ++i) outer[outer_[i]] = static_cast<int>(i);
  for (size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].kind != SlotKind::temporary || !slots_[s].used) continue;
    Layout bytes;
    made->own.emplace_back(buffers[s] = make(s), bytes);
    if (!buffers[s]->take()) throw std::bad_alloc();
  }
  for (auto& step : steps_) {
    auto op = step->inner_op([&](int slot) { return buffers[slot]; });
    for (int i = 0; i < op->n_access; ++i)
      if (int at = outer[step->uses[i].slot]; at >= 0) made->patches.push_back({&op->access(i), at});
    made->ops.push_back(std::move(op));
  }
  return made;
}

bool Program::takes(const std::vector<const Array*>& inputs) const {
  if (inputs.size() != inputs_.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Layout &have = inputs[i]->layout, &want = inputs_[i].layout;
    const Slot& slot = slots_[inputs_[i].slot];
    Buffer* buffer = inputs[i]->storage();
    bool same = buffer && have.dtype == want.dtype && have.offset == want.offset && have.shape == want.shape &&
                have.strides == want.strides;
    if (!same || buffer->budget != slot.budget || (slot.written && buffer->bytes != slot.bytes)) return false;
    if (buffer != inputs[slot.first]->storage()) return false;  // they shared memory when the program was captured
  }
  return !writes_inputs_ || apart(inputs);
}

// Whether written inputs share memory with other inputs only where they did at capture.
bool Program::apart(const std::vector<const Array*>& inputs) const {
  constexpr size_t kFew = 24;
  if (inputs.size() <= kFew) {
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        if (inputs[i]->storage() == inputs[k]->storage() && inputs_[i].slot != inputs_[k].slot &&
            (writes(i) || writes(k)))
          return false;
    return true;
  }
  std::unordered_map<const Buffer*, int> slots;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto [at, fresh] = slots.try_emplace(inputs[i]->storage(), inputs_[i].slot);
    if (!fresh && at->second != inputs_[i].slot && (slots_[at->second].written || slots_[inputs_[i].slot].written))
      return false;
  }
  return true;
}

Buffer* Program::make(size_t slot) const {
  Buffer* buffer = Buffer::make(slots_[slot].bytes, slots_[slot].budget);
  buffer->form = slots_[slot].form;
  return buffer;
}

Program::Storages Program::storages(const std::vector<const Array*>& inputs) const {
  Storages run{std::vector<Buffer*>(slots_.size()), {}};
  for (size_t i = 0; i < inputs.size(); ++i) run.at[inputs_[i].slot] = inputs[i]->storage();
  run.made.reserve(made_.size());
  for (int s : made_) run.made.emplace_back(run.at[s] = make(static_cast<size_t>(s)), Layout{});
  for (int s : constants_) run.at[s] = slots_[s].held.storage();
  return run;
}

void Program::build(Op& op, const Storages& storages, uint64_t seed, uint64_t number) const {
  if (joined_)
    joined_->make_kernel(op, name_, seed, number);
  else
    op.emplace<ProgramKernel>(shared_from_this(), seed, number);
  op.cost = static_cast<uint32_t>(std::min<uint64_t>(cost_, INT32_MAX));
  for (int s : outer_) op.add(storages.at[s], slots_[s].mode);
}

void Program::build_step(Op& op, const Step& step, const Storages& storages, uint64_t seed, uint64_t number) const {
  step.op.kernel()->copy_to(op);
  if (uint64_t* key = op.kernel()->key()) key[0] = seed, key[1] = number + step.number;
  op.cost = step.op.cost, op.elsewhere = step.op.elsewhere, op.brief = step.op.brief;
  for (const Use& use : step.uses) {
    use.region ? op.add(storages.at[use.slot], use.mode, *use.region) : op.add(storages.at[use.slot], use.mode);
    op.access(op.n_access - 1).loose = use.loose;
  }
}

// --- recording -------------------------------------------------------------------------------------------------------

Recording::Recording(const std::vector<Array>& inputs) {
  for (const Array& a : inputs) add_input(a);
}

void Recording::add_input(const Array& input) {
  const Buffer& buffer = *input.storage();
  int slot = known_slot(&buffer);
  if (slot < 0) {
    slot = static_cast<int>(program_->slots_.size());
    slots_[&buffer] = {slot, buffer.generation};
    program_->slots_.push_back(
        {Program::SlotKind::input, buffer.bytes, buffer.budget, buffer.form, {}, program_->inputs_.size()});
  }
  program_->inputs_.push_back({slot, input.layout});
}

int Recording::known_slot(const Storage* storage) const {
  const auto at = slots_.find(storage);
  return at != slots_.end() && at->second.generation == storage->generation ? at->second.slot : -1;
}

int Recording::slot_of(Buffer* buffer, Mode mode) {
  if (const int known = known_slot(buffer); known >= 0) return known;
  auto& all = program_->slots_;
  const bool fresh = mode == Mode::write && buffer->issued.load() == 0 && !buffer->taken();
  int slot = static_cast<int>(all.size());
  slots_[buffer] = {slot, buffer->generation};
  // A constant is kept alive from now on: no other storage takes its address.
  all.push_back({fresh ? Program::SlotKind::temporary : Program::SlotKind::constant, buffer->bytes, buffer->budget,
                 buffer->form, fresh ? Array() : Array(buffer, Layout{}), 0});
  return slot;
}

void Recording::add(Op& op) {
  if (!refused_.empty()) return;
  auto step = std::make_unique<Program::Step>();
  if (!op.kernel()->copy_to(step->op)) return refuse("it issues an operation that cannot be repeated");
  step->op.queue = op.queue, step->op.budget = op.budget, step->op.cost = op.cost;
  step->op.elsewhere = op.elsewhere, step->op.brief = op.brief;
  if (op.kernel()->key()) step->number = program_->drawn_++;
  for (int i = 0; i < op.n_access; ++i) {
    const Access& a = op.access(i);
    step->uses.push_back({slot_of(static_cast<Buffer*>(a.storage), a.mode), a.mode, {}, a.loose});
    if (a.place) step->uses.back().region = op.region(a);
  }
  program_->steps_.push_back(std::move(step));
}

std::pair<int, const char*> Recording::maker(const Storage* storage) const {
  const int known = known_slot(storage);
  if (known < 0) return {-1, "constant"};
  const Program::Slot& slot = program_->slots_[known];
  if (slot.kind == Program::SlotKind::input) return {static_cast<int>(slot.first), nullptr};
  auto& steps = program_->steps_;
  auto writes = [&](auto& step) {
    return std::any_of(step->uses.begin(), step->uses.end(),
                       [&](auto use) { return use.slot == known && use.mode != Mode::read; });
  };
  auto last = std::find_if(steps.rbegin(), steps.rend(), writes);
  return {-1, last == steps.rend() ? "constant" : (*last)->op.kernel()->name()};
}

// Drops steps whose results are not read. The side effects of a host task are not known: it stays.
void Recording::drop_dead() {
  auto& steps = program_->steps_;
  std::vector<bool> wanted(program_->slots_.size());
  for (size_t s = 0; s < wanted.size(); ++s) wanted[s] = program_->slots_[s].kind != Program::SlotKind::temporary;
  std::vector<std::unique_ptr<Program::Step>> live;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    bool lives = (*step)->op.cost == UINT32_MAX;
    for (const auto& use : (*step)->uses) lives = lives || (use.mode != Mode::read && wanted[use.slot]);
    if (!lives) continue;
    for (const auto& use : (*step)->uses) wanted[use.slot] = true;
    live.push_back(std::move(*step));
  }
  std::reverse(live.begin(), live.end());
  steps = std::move(live);
}

void Recording::join(Accelerator& device) {
  DeviceProgram joint;
  for (const Program::Slot& slot : program_->slots_) {
    using Kind = Program::SlotKind;
    const DType dtype = slot.form.dtype == DebugShape::kNone ? DType::u8 : static_cast<DType>(slot.form.dtype);
    joint.slots.push_back({dtype, static_cast<int64_t>(slot.bytes / item_size(dtype)), slot.kind != Kind::temporary,
                           slot.kind == Kind::input || slot.kind == Kind::constant});
  }
  for (const auto& step : program_->steps_) {
    auto& made = joint.steps.emplace_back(DeviceProgram::Step{&step->op, {}, step->number});
    for (const Program::Use& use : step->uses) made.slots.push_back(use.slot);
  }
  joint.accesses = program_->outer_;
  program_->joined_ = device.join(joint);
}

std::shared_ptr<Program> Recording::finish(const std::vector<Array>& outputs, const FuseSettings& settings) {
  Program& p = *program_;
  for (const Array& a : outputs) {
    int slot = slot_of(a.storage(), Mode::read);
    if (p.slots_[slot].kind == Program::SlotKind::temporary) p.slots_[slot].kind = Program::SlotKind::output;
    p.outputs_.push_back({slot, a.layout});
  }
  drop_dead();
  Queue* queue = p.steps_.empty() ? nullptr : p.steps_[0]->op.queue;
  Accelerator* accelerator = queue && queue->lane ? queue->budget->accelerator : nullptr;
  bool together = true;
  for (auto& step : p.steps_) {
    p.op_names_.push_back(step->op.kernel()->name());
    p.droppable_ = p.droppable_ && step->op.kernel()->droppable();
    together = together && step->op.queue == queue && queue->kind == Queue::Kind::compute && !step->op.is_task();
    p.cost_ += step->op.cost;
  }
  const bool joins = together && accelerator && p.steps_.size() > 1;
  if (!joins && Engine::get().passes.on(Pass::fuse)) p.steps_ = fuse_steps(std::move(p.steps_), p.slots_, settings);
  for (auto& step : p.steps_) {
    for (const auto& use : step->uses) {
      Program::Slot& slot = p.slots_[use.slot];
      if (!slot.used) slot.mode = use.mode;
      if (slot.used && use.mode != Mode::read && slot.mode == Mode::read) slot.mode = Mode::update;
      slot.used = true, slot.written = slot.written || use.mode != Mode::read;
    }
  }
  for (size_t s = 0; s < p.slots_.size(); ++s)
    if (p.slots_[s].used && p.slots_[s].kind != Program::SlotKind::temporary) p.outer_.push_back(static_cast<int>(s));
  if (joins) join(*accelerator);
  p.whole_ = p.joined_ || (together && !(queue && queue->lane) && p.cost_ <= kWholeCost);  // a worker runs it
  for (auto& slot : p.slots_)
    p.writes_inputs_ = p.writes_inputs_ || (slot.written && slot.kind == Program::SlotKind::input);
  for (size_t s = 0; s < p.slots_.size(); ++s) {
    auto kind = p.slots_[s].kind;
    if (kind == Program::SlotKind::constant) p.constants_.push_back(static_cast<int>(s));
    if (kind == Program::SlotKind::output || (kind == Program::SlotKind::temporary && p.slots_[s].used && !p.whole_))
      p.made_.push_back(static_cast<int>(s));
  }
  return std::move(program_);
}

}  // namespace forerun
