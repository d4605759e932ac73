// The kernels for lanes of PJRT devices: an execution of a module, or a copy of the values of a storage.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "base/containers/recent_map.h"
#include "device/accelerator.h"
#include "device/brief_spec.h"
#include "device/op_spec.h"
#include "engine/devices/lane.h"
#include "engine/operations/op.h"
#include "pjrt/backend/scalar_cache.h"
#include "pjrt/backend/staging_pool.h"
#include "pjrt/client.h"
#include "pjrt/modules/module_cache.h"

namespace forerun::pjrt {

class Code;
class Writer;
struct Execution;

// The caches and pools that the ops of a device share.
struct Shared {
  ModuleCache& modules;
  ScalarCache& scalars;
  StagingPool& staging;
};

class DeviceKernel : public Kernel {
 public:
  // By the thread of a lane. As Lane::hand_over().
  virtual Lane::Outcome hand_over(Op& op, const Device& device, Shared& shared) = 0;
  void run(Op& op, int64_t tile) final;  // never called
};

// Replaces the kernel of an op by an execution of the code for the described computation.
void make_module_kernel(Op& op, const OpSpec& spec, std::shared_ptr<Code> code);

// The executions created last, by the short descriptions of their operations. Guarded by the interpreter lock.
class RecentModuleKernels {
 public:
  // Remembers the execution that has replaced the kernel described by `brief`.
  void remember(const BriefSpec& brief, const Op& op);
  // Replaces the kernel of an op by such an execution; false: none is known.
  bool make(Op& op, const BriefSpec& brief) const;

 private:
  struct Known {
    std::shared_ptr<const Execution> execution;
    std::vector<Scalar> starts;  // offsets of parts of storages: behind the scalars of the op
  };
  RecentMap<BriefSpec, Known, 1024> known_;
};
// The code that runs a whole program; null: one of its ops has no code.
std::shared_ptr<const JoinedOps> join_ops(const DeviceProgram& program, const Writer& writer);
// Copies of a whole storage (device/accelerator.h).
void make_upload_kernel(Op& op);
void make_download_kernel(Op& op);
void make_transfer_kernel(Op& op);

}  // namespace forerun::pjrt
