// Buffer reuse: an output takes the memory of an input of the same size that ends with the op.
#pragma once
#include <array>

#include "engine/operations/op.h"

namespace forerun {

// All with the engine's lock.
class BufferReuse {
 public:
  // How many bytes of an op's outputs, or of its group's outputs, need not be allocated.
  size_t possible(Op* op) { return pair(op, false); }
  // Gives the outputs their memory; returns the same number.
  size_t commit(Op* op) {
    const size_t saved = pair(op, true);
    bytes_ += saved;
    return saved;
  }
  // Undoes it for an op that has not run.
  static void undo(Op* op);
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr int kMost = 64;

  int find_last_read(Op* first);
  size_t pair(Op* first, bool commit);

  std::array<Storage*, kMost> last_read_;  // storages read last by a group, whose memory its outputs may take
  uint64_t bytes_ = 0;
};

}  // namespace forerun
