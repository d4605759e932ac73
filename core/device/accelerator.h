// A device with memory of its own that runs operations itself: the interface that the front end and the engine need.
//
// An operation reaches the device in four steps. The front end builds it as for the CPU. Its kernel describes it
// (OpSpec). The device replaces the kernel by one of its own (lower()); ops that it cannot lower run on the host,
// between copies. The device's lane hands the op over (engine/devices/lane.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "engine/devices/lane.h"
#include "engine/devices/queue.h"
#include "engine/operations/op.h"

namespace forerun {

struct OpSpec;

// Ops of one device, in their order, that are to be run as one. Storages are slots, by number.
struct DeviceProgram {
  struct Slot {
    DType dtype;
    int64_t size;  // elements
    bool kept;     // its values are used afterwards
    bool old;      // it has values before the program runs
  };
  struct Step {
    Op* op;                  // has a kernel of the device, and no accesses
    std::vector<int> slots;  // of its accesses
    uint64_t number;         // of a kernel that draws random numbers: how many the program drew before
  };
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<int> accesses;  // the slots that the op of the program accesses, in their order
};

// The code of a program.
class JoinedOps {
 public:
  virtual ~JoinedOps() = default;
  // Makes the kernel of an op that runs the whole program; seed and number are those of the next random number.
  virtual void make_kernel(Op& op, const char* name, uint64_t seed, uint64_t number) const = 0;
};

class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual std::string name() const = 0;  // for messages: "gpu(0)"
  virtual Lane& lane(Queue::Kind kind) = 0;

  // By the issuing thread. All storages of `op` are in the memory of this device. Replaces its kernel, which `spec`
  // describes, by one that its lane takes; false: it has no code for the operation. It may change the description.
  virtual bool lower(Op& op, OpSpec& spec) = 0;
  // The same, without a description, for an op like one that it has lowered recently (device/brief_spec.h). False: it
  // knows no such op, and nothing has changed.
  virtual bool lower_again(Op&) { return false; }

  // Compiles a program as a whole; null: its ops run one by one. By the issuing thread.
  virtual std::shared_ptr<const JoinedOps> join(const DeviceProgram&) { return nullptr; }

  // Builds a copy of all values of a storage into another one of the same size and element type. The accesses of `op`
  // are the source, which is read, and the destination, which is written.
  virtual void build_upload(Op& op) = 0;    // from the host's memory to this device
  virtual void build_download(Op& op) = 0;  // from this device to the host's memory
  // From another device to this one. False: nothing has changed, and the copy goes through the host's memory.
  virtual bool build_transfer(Op& op, const Accelerator& from) = 0;
};

}  // namespace forerun
