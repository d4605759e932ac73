// A group of steps of a captured program, which runs as one step.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/captured_program.h"

namespace forerun {

// Built by one thread, then constant.
class StepGroup {
 public:
  // The part that a run changes. Concurrent runs have instances of their own.
  struct Instance {
    std::vector<std::unique_ptr<Op>> ops;  // of the steps, in order; their accesses hold no references
    std::unique_ptr<FusedGroup> group;     // of these ops
    struct Patch {
      Access* access;
      int outer;  // access of the op that runs the group
    };
    std::vector<Patch> patches;
  };

  // Adds the step, to run after those in the group, if it may be part of the group; returns whether it was added.
  bool add(std::unique_ptr<Program::Step>& step, const std::vector<Program::Slot>& slots);
  // After the last add(). inner: for each slot, whether it is a temporary that no other step uses.
  void complete(const std::vector<bool>& inner);
  // The step that runs the group.
  static std::unique_ptr<Program::Step> step_of(std::shared_ptr<const StepGroup> group);
  void set_name(Intern intern) { name_ = intern(name_of_ops().c_str()); }
  const char* name() const { return name_; }
  size_t taken(const std::vector<Program::Slot>& slots) const;  // bytes of the results

  std::unique_ptr<Instance> take() const;
  void give_back(std::unique_ptr<Instance> instance) const {
    std::lock_guard held(mutex_);
    if_memory_allows([&] { free_.push_back(std::move(instance)); });  // else the next run makes a new one
  }
  int64_t parts() const { return parts_; }
  std::vector<std::unique_ptr<Program::Step>>& steps() { return steps_; }

 private:
  std::unique_ptr<Op> op_of(const Program::Step& step) const;
  static bool join(Instance& instance, std::unique_ptr<Op> op);
  void finish(Instance& instance) const;
  void merge(const Program::Use& use);
  std::string name_of_ops() const;

  const char* name_ = "fused";
  std::vector<std::unique_ptr<Program::Step>> steps_;
  // By slot, the storages with which the ops are built. They never have memory: the storages of a run take their
  // places, and values that stay in tiles need none.
  std::unordered_map<int, Array> storages_;
  std::vector<int> elided_;                              // slots of these values
  std::vector<Program::Use> uses_;                       // of the other slots, by all steps
  uint64_t cost_ = 0;                                    // ns
  int64_t parts_ = 1;                                    // that threads may share
  mutable std::mutex mutex_;                             // also held while an instance is built from storages_
  mutable std::vector<std::unique_ptr<Instance>> free_;  // guarded by mutex_
};

}  // namespace forerun
