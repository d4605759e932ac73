// Chooses where an operation runs whose arrays are in the memory of accelerators.
//
// If all arrays are in the memory of one device, and the device has code for the operation, it runs there. Otherwise it
// runs on the host's cores: inputs are copied to the host first, and outputs are copied back. All of these are
// operations, so nothing waits. An input in the memory of another device is copied likewise.
#pragma once
#include <cstdint>
#include <functional>

#include "engine/devices/queue.h"

namespace forerun {

// Submits an op, which it owns even if it throws, to a queue of `device`; its outputs are in the memory of the device
// `memory`. It does not wait for the op. The ops of one placement follow each other without ops of other threads that
// write the same storages in between.
using Submit = std::function<void(Op* op, int device, Queue::Kind kind, int memory)>;

enum class Placed : uint8_t {
  as_it_is,   // all arrays are in the host's memory, and the host runs it: nothing has been done
  on_device,  // submitted, alone or behind copies
  on_host,    // submitted to the host, between copies: the device has no code for it
};

// Replaces the kernel of an op by code of this device, whose memory holds all operands, and which has lowered a similar
// op before; it remains to be submitted to a compute queue there. False: nothing has changed, and place() must examine
// the op.
bool place_again(Op& op, int device);

// Submits an op that is meant for a queue of this device. Throws the errors of `submit`; then the op is discarded.
Placed place(Op* op, int device, Queue::Kind kind, const Submit& submit);

}  // namespace forerun
