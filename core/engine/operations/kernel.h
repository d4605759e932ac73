// What an operation runs: a kernel of its own, or a group that stands for the kernels of several.
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

// Thrown by a kernel that is run in a thread of the program, at once (AtOnceRunner::run) or as a brief task during a
// wait, and cannot be: it is issued, or goes back to its queue, and runs on a thread of the engine.
struct RunLater {};

// The computation of an op. Made at issue; run once, cut into tiles by the shapes alone, so that results are the
// same on any threads. Different tiles of one kernel may run at once, on any thread, without the interpreter lock.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual const char* name() const = 0;
  // How many parts idle workers may share. Fixed once prepare() has been called.
  virtual int64_t tiles() const { return 1; }
  // Called once in each run, before the first tile and after the outputs have memory.
  virtual void prepare(Op&) {}
  // Computes one tile; operands are op.access(i). Throws forerun::Error for what only the values can tell.
  virtual void run(Op& op, int64_t tile) = 0;

  // For programs, which run kernels again and again, in runs that do not overlap.
  // Makes `op` run a copy of this kernel. False: what it does cannot be repeated. Any thread, unless the kernel owns
  // things of the front end.
  virtual bool copy_to(Op&) const { return false; }
  // The seed and the number that make its random numbers, different for each run; null if it draws none.
  virtual uint64_t* key() { return nullptr; }

  // It cannot fail and does nothing but write its outputs: if nothing reads them, it need not run.
  virtual bool droppable() const { return false; }
  // `out`, which it overwrites, may take the memory of `in`: no element is written before it has been read for the last
  // time.
  virtual bool may_share(Op&, const Storage*, const Storage*) const { return false; }
  // Describes what it computes to devices that have code of their own (device/op_spec.h). False: it has no description.
  virtual bool describe(Op&, OpSpec&) const { return false; }
  // Writes the facts that decide its description (device/brief_spec.h). False: it has no such short form.
  virtual bool describe_briefly(BriefSpec&) const { return false; }
  // It may be run within a group.
  virtual bool fusible() const { return false; }
  // A new group that has this kernel's op as its first; only of fusible kernels.
  virtual FusedGroup* new_group(Op&) const { return nullptr; }
};

// Ops that one worker runs in one go, tile by tile, in program order: the kernel that stands for theirs.
class FusedGroup : public Kernel {
 public:
  // Whether `op`, whose kernel is fusible, may be run in this group after those that are in it; if so it is in it now.
  virtual bool add(Op& op) = 0;
  // The values of a storage that ops of the group write may stay in the tiles: nothing else reads them. False: they may
  // not.
  virtual bool elide(Storage* storage) = 0;
  // Before elide() and may_share(), if another group has been put together since the last add().
  virtual void resume() {}
  // Decides how it is run, after the last elide(); then tiles() is known. prepare() decides it, too.
  virtual void plan() {}
};

// A group of which no op has started: all of it starts when nothing outside has to end before.
struct PlannedGroup {
  std::unique_ptr<FusedGroup> kernel;
  std::vector<Op*> members;  // the leader aside, in program order
  int waits = 0;             // dependencies of its ops on others that have not ended
};

}  // namespace forerun
