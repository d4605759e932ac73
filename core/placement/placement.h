// Where an operation runs whose arrays are in the memory of accelerators.
//
// Where all is in the memory of one device, and the device has code for it, it runs there. Otherwise it runs on the
// host's cores: what it reads is copied there first, what it has written is copied back. All of these are operations,
// so nothing waits. Values that a device reads and another one has are copied to it likewise.
#pragma once
#include <cstdint>
#include <functional>

#include "engine/devices/queue.h"

namespace forerun {

// Submits an op, which it takes over also where it throws, to a queue of `device`; its outputs are in the memory of
// the device `memory`. It does not wait for the op: the ops of one placement follow each other, and those of other
// threads that write the same storages must not come between them.
using Submit = std::function<void(Op* op, int device, Queue::Kind kind, int memory)>;

enum class Placed : uint8_t {
  as_it_is,   // all is in the memory of the host, which runs it: nothing has been done
  on_device,  // submitted, in one piece or behind copies
  on_host,    // submitted to the host, between copies: the device has no code for it
};

// Replaces the kernel of an op by code of this device, which has all that it uses, and which has lowered one like it
// before; it remains to be submitted to a compute queue there. False, and nothing done: place() must find out more.
bool place_again(Op& op, int device);

// Submits an op that is meant for a queue of this device. Throws what `submit` throws; then the op is gone.
Placed place(Op* op, int device, Queue::Kind kind, const Submit& submit);

}  // namespace forerun
