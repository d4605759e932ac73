// A device with memory of its own, which runs operations itself: what the front end and the engine need of any kind.
//
// An operation gets there in four steps. The front end builds it as for the CPU. Its kernel describes it (OpSpec). The
// device replaces the kernel by one of its own (lower()); what it cannot do runs on the host, between copies. The
// device's lane hands it over (engine/graph/lane.h).
#pragma once
#include <string>

#include "engine/graph/lane.h"
#include "engine/graph/op.h"
#include "engine/graph/queue.h"

namespace forerun {

struct OpSpec;

class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual std::string name() const = 0;  // for messages: "gpu(0)"
  virtual Lane& lane(Queue::Kind kind) = 0;

  // By the issuing thread. All storages of `op` are in the memory of this device. Replaces its kernel, which `spec`
  // describes, by one that its lane takes; false, and nothing done: it has no code for that.
  virtual bool lower(Op& op, const OpSpec& spec) = 0;

  // Copies of all values of a storage into another one of the same size and element type. They fill an op whose
  // accesses are `from`, which is read, and `to`, which is written.
  virtual void build_upload(Op& op) = 0;    // from the host's memory to this device
  virtual void build_download(Op& op) = 0;  // from this device to the host's memory
  // From another device to this one; false, and nothing done: it takes a way through the host's memory.
  virtual bool build_transfer(Op& op, const Accelerator& from) = 0;
};

}  // namespace forerun
