#include "pjrt/backend/backend.h"

#include <utility>

#include "pjrt/backend/device_kernels.h"

namespace forerun::pjrt {

const Module& Code::module(ModuleCache& modules, const char* name, uint32_t site) {
  modules.executed(text_);
  std::lock_guard held(mutex_);
  if (!module_) module_ = modules.get(text_, {name, site});
  return *module_;
}

// One device, with a lane for computation and one for copies. A plugin orders operations by the values on its devices,
// so a computation may be handed over behind any operation, and any operation behind a computation. It does not order
// copies by the host's memory: one copy may read memory that another one writes.
class Backend::DeviceOf final : public Accelerator {
 public:
  DeviceOf(Backend& backend, const Device& device) : name_(device.kind()), backend_(backend), device_(device) {}

  std::string name() const override { return name_; }
  forerun::Lane& lane(Queue::Kind kind) override { return kind == Queue::Kind::compute ? compute_ : copy_; }

  bool lower(Op& op, OpSpec& spec) override {
    spec.separate_offsets();
    std::shared_ptr<Code> code = backend_.code(spec);
    if (!code) return false;
    const BriefSpec brief(op);
    make_module_kernel(op, spec, std::move(code));
    if (!brief.empty()) backend_.recent_.remember(brief, op);
    return true;
  }
  bool lower_again(Op& op) override {
    const BriefSpec brief(op);
    return !brief.empty() && backend_.recent_.make(op, brief);
  }
  std::shared_ptr<const JoinedOps> join(const DeviceProgram& program) override {
    return join_ops(program, backend_.writer());
  }
  void build_upload(Op& op) override { make_upload_kernel(op); }
  void build_download(Op& op) override { make_download_kernel(op); }
  bool build_transfer(Op& op, const Accelerator& from) override {
    const auto* other = dynamic_cast<const DeviceOf*>(&from);
    if (!other || &other->backend_ != &backend_) return false;
    make_transfer_kernel(op);
    return true;
  }

  std::string name_;

 private:
  class Lane final : public forerun::Lane {
   public:
    explicit Lane(DeviceOf& device) : device_(device) {}
    Outcome hand_over(Op& op) override {
      device_.device_.client().check_process();
      auto& kernel = static_cast<DeviceKernel&>(*op.kernel());
      try {
        return kernel.hand_over(op, device_.device_, device_.shared_);
      } catch (const PluginError& error) {
        throw Error(error.kind, std::string(kernel.name()) + ": " + error.what());
      }
    }
    bool follows(const forerun::Lane& before) const override {
      const auto* other = dynamic_cast<const Lane*>(&before);
      return other && &other->device_.backend_ == &device_.backend_ && !(copies() && other->copies());
    }

   private:
    bool copies() const { return this == &device_.copy_; }
    DeviceOf& device_;
  };

  Backend& backend_;
  const Device& device_;
  ScalarCache scalars_{device_};
  Shared shared_{backend_.modules(), scalars_, backend_.staging_};
  Lane compute_{*this}, copy_{*this};
};

Backend::Backend(std::unique_ptr<Client> client, std::optional<std::filesystem::path> folder, size_t most,
                 std::unique_ptr<Writer> writer)
    : client_(std::move(client)), modules_(*client_, std::move(folder), most), staging_(*client_),
      writer_(std::move(writer)) {
  for (const Device& device : client_->devices()) devices_.push_back(std::make_unique<DeviceOf>(*this, device));
}

Backend::~Backend() = default;

Accelerator& Backend::device(size_t i) const { return *devices_.at(i); }
void Backend::set_name(size_t i, std::string name) { devices_.at(i)->name_ = std::move(name); }

std::shared_ptr<Code> Backend::code(const OpSpec& spec) {
  key_.clear();
  spec.append_key(key_);
  if (const auto* known = find(key_)) return *known;
  const std::string key = key_;  // while Python writes the text, other threads may call this
  std::optional<std::string> text = writer_->operation(spec);
  if (const auto* known = find(key)) return *known;
  known_.push_front({key, text ? std::make_shared<Code>(std::move(*text), spec) : nullptr});
  places_.emplace(known_.front().key, known_.begin());
  if (known_.size() > kMostCodes) {
    places_.erase(known_.back().key);
    known_.pop_back();
  }
  return known_.front().code;
}

const std::shared_ptr<Code>* Backend::find(const std::string& key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  known_.splice(known_.begin(), known_, found->second);
  return &known_.front().code;
}

}  // namespace forerun::pjrt
