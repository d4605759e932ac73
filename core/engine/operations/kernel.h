// The computation of an operation: its own kernel, or a group that runs the kernels of several operations.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace forerun {

class BriefSpec;
class FusedGroup;
class Op;
class Storage;
struct OpSpec;

// Thrown by a kernel that cannot run in a thread of the program, where it was run at once (AtOnceRunner::run) or as a
// brief task during a wait: its op is issued, or goes back to its queue, and runs on a thread of the engine.
struct RunLater {};

// The computation of an op. Made at issue; run once, cut into tiles by the shapes alone, so that results do not depend
// on the threads. Different tiles of one kernel may run at once, on any thread, without the interpreter lock.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual const char* name() const = 0;
  // The number of parts that idle workers may share. Fixed once prepare() has been called.
  virtual int64_t tiles() const { return 1; }
  // Called once in each run, before the first tile and after the outputs have memory.
  virtual void prepare(Op&) {}
  // Computes one tile; operands are op.access(i). Throws forerun::Error for errors that depend on the values.
  virtual void run(Op& op, int64_t tile) = 0;

  // For programs, which run kernels repeatedly, in runs that do not overlap.
  // Makes `op` run a copy of this kernel. False: its work cannot be repeated. Any thread, unless the kernel owns
  // objects of the front end.
  virtual bool copy_to(Op&) const { return false; }
  // The seed and the number from which it makes random numbers, different for each run; null if it draws none.
  virtual uint64_t* key() { return nullptr; }

  // Whether it cannot fail and does nothing but write its outputs: if nothing reads them, it need not run.
  virtual bool droppable() const { return false; }
  // Whether `out`, which it overwrites, may take the memory of `in`: no element is written before it has been read for
  // the last time.
  virtual bool may_share(Op&, const Storage*, const Storage*) const { return false; }
  // Describes its computation to devices that have code of their own (device/op_spec.h). False: it has no description.
  virtual bool describe(Op&, OpSpec&) const { return false; }
  // Writes the facts that determine its description (device/brief_spec.h). False: it has no short form.
  virtual bool describe_briefly(BriefSpec&) const { return false; }
  // Whether it may run within a group.
  virtual bool fusible() const { return false; }
  // A new group that has this kernel's op as its first; only for fusible kernels.
  virtual FusedGroup* new_group(Op&) const { return nullptr; }
};

// Ops that one worker runs together, tile by tile, in program order: the kernel that runs all of theirs.
class FusedGroup : public Kernel {
 public:
  // Adds `op`, whose kernel is fusible, after the ops in the group, if it may run there; returns whether it was added.
  virtual bool add(Op& op) = 0;
  // Allows that the values of a storage that ops of the group write stay in the tiles: nothing else reads them. False:
  // they must be written.
  virtual bool elide(Storage* storage) = 0;
  // Before elide() and may_share(), if another group has been formed since the last add().
  virtual void resume() {}
  // Decides how the group runs, after the last elide(); then tiles() is known. prepare() decides it, too.
  virtual void plan() {}
};

// A group of which no op has started: all of it starts when no op outside the group must end before.
struct PlannedGroup {
  std::unique_ptr<FusedGroup> kernel;
  std::vector<Op*> members;  // without the leader, in program order
  int waits = 0;             // dependencies of its ops on pending ops outside the group
};

}  // namespace forerun
