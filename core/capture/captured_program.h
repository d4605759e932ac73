// A recorded sequence of ops that is issued again with other arrays: as one op if it is small, else op by op.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/array.h"
#include "device/accelerator.h"
#include "engine/devices/queue.h"

namespace forerun {

class Program : public std::enable_shared_from_this<Program> {
 public:
  struct Use {
    int slot;
    Mode mode;
    std::optional<Region> region;  // no value: all of it
    bool loose;
  };
  // An op as it was issued. `op` itself never runs: it holds a kernel that has not run, and the facts about the op.
  struct Step {
    Op op;
    std::vector<Use> uses;
    uint64_t number = 0;  // of a kernel that draws random numbers: how many the program drew before it
    // Fills an op with a copy of the kernel, for runs within another op: its accesses hold no references.
    template <class F>
    std::unique_ptr<Op> inner_op(F storage_of_slot) const {
      auto made = std::make_unique<Op>();
      op.kernel()->copy_to(*made);
      for (const Use& use : uses) {
        Storage* storage = storage_of_slot(use.slot);
        use.region ? made->put(storage, use.mode, *use.region) : made->put(storage, use.mode);
        made->access(made->n_access - 1).loose = use.loose;
      }
      return made;
    }
  };
  // The role of a storage in the program.
  enum class SlotKind { input, constant, temporary, output };
  struct Slot {
    SlotKind kind;
    size_t bytes;
    MemoryBudget* budget;
    DebugShape form;
    Array held;            // of a constant
    size_t first;          // of an input: the first one that has this storage
    bool used = false;     // by a step, beyond the tiles of a group
    bool written = false;  // by a step
    Mode mode =
        Mode::read;  // of the program as a whole: of its first access, or update where it also reads or writes parts
  };
  Buffer* make(size_t slot) const;  // a new storage for the slot
  struct View {
    int slot;
    Layout layout;
  };

  // Whether the program may run on these inputs: they agree with the recorded ones in all but the values.
  bool takes(const std::vector<const Array*>& inputs) const;
  // The storages of one run by slot: the inputs', and new ones for outputs, and for temporaries if it runs op by op.
  struct Storages {
    std::vector<Buffer*> at;
    std::vector<Array> made;
  };
  Storages storages(const std::vector<const Array*>& inputs) const;
  bool whole() const { return whole_; }
  bool writes(size_t input) const { return slots_[inputs_[input].slot].written; }
  // Fills `op` so that it runs the whole program: seed and number are those of the next random number.
  void build(Op& op, const Storages& storages, uint64_t seed, uint64_t number) const;
  // Fills `op` so that it runs one step.
  void build_step(Op& op, const Step& step, const Storages& storages, uint64_t seed, uint64_t number) const;

  const std::vector<std::unique_ptr<Step>>& steps() const { return steps_; }
  // Of the recorded ops, in order; a step may do the work of several.
  const std::vector<const char*>& op_names() const { return op_names_; }
  const std::vector<View>& outputs() const { return outputs_; }
  uint64_t drawn() const { return drawn_; }  // random numbers of each run
  const char* name() const { return name_; }
  void set_name(const char* name) { name_ = name; }  // never freed

 private:
  friend class Recording;
  friend class ProgramKernel;

  // The data of one run of a whole program. Concurrent runs have instances of their own.
  struct Instance {
    std::vector<std::unique_ptr<Op>> ops;  // one per step; their accesses hold no references
    struct Patch {
      Access* access;
      int outer;  // access of the op that runs the program
    };
    std::vector<Patch> patches;
    std::vector<Array> own;  // temporaries
  };
  bool apart(const std::vector<const Array*>& inputs) const;
  std::unique_ptr<Instance> take_instance() const;
  std::unique_ptr<Instance> make_instance() const;

  const char* name_ = "program";
  std::vector<std::unique_ptr<Step>> steps_;
  std::vector<const char*> op_names_;
  std::vector<Slot> slots_;
  std::vector<View> inputs_, outputs_;
  std::vector<int> outer_;  // slots that the op of a whole program accesses
  std::vector<int> made_;   // slots that each run makes anew
  std::vector<int> constants_;
  uint64_t drawn_ = 0;
  uint64_t cost_ = 0;  // ns
  bool whole_ = false, droppable_ = true, writes_inputs_ = false;
  std::shared_ptr<const JoinedOps> joined_;  // of a whole program on an accelerator
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Instance>> free_;  // guarded by mutex_
};

using Intern = const char* (*)(const char* name);  // the same text, never freed

struct FuseSettings {
  // Steps that do not depend on each other are not fused: the inputs of the program are ready at different times, and
  // no step is to wait for more of them than it needs.
  bool apart = false;
  Intern intern = nullptr;  // interns the names of fused steps; null: they share one name
};

// The operations that a thread submits between begin and end. Storages are known by address and generation: the address
// of a freed one may be reused, also by storages whose first operations are not recorded.
class Recording {
 public:
  explicit Recording(const std::vector<Array>& inputs);
  void add(Op& op);  // about to be issued
  // A further input, behind the others; no recorded op has used it.
  void add_input(const Array& input);
  // Notes a value that cannot be repeated: there will be no program.
  void refuse(const char* why) {
    if (refused_.empty()) refused_ = why;
  }
  const std::string& refused() const { return refused_; }
  // The same for a read of values in this line, which ends the capture.
  void refuse_read(const std::string& why, std::string file, int line) {
    if (refused_.empty()) refused_ = why, read_file_ = std::move(file), read_line_ = line;
  }
  const std::string& read_file() const { return read_file_; }
  int read_line() const { return read_line_; }  // 0: no value was read
  bool repeatable() const { return strict || refused_.empty(); }
  bool strict = false;  // a read of values raises an error instead
  // The input number of a storage; or -1, and the name of the last op that wrote it ("constant" if no op did).
  std::pair<int, const char*> maker(const Storage* storage) const;
  std::shared_ptr<Program> finish(const std::vector<Array>& outputs, const FuseSettings& settings = {});

 private:
  int known_slot(const Storage* storage) const;  // -1: none
  int slot_of(Buffer* buffer, Mode mode);
  void join(Accelerator& device);
  void drop_dead();

  std::shared_ptr<Program> program_ = std::make_shared<Program>();
  struct Known {
    int slot;
    uint32_t generation;
  };
  std::unordered_map<const Storage*, Known> slots_;
  std::string refused_, read_file_;
  int read_line_ = 0;
};

}  // namespace forerun
