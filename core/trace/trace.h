// The recording of operations and waits for a profiler, in memory that is allocated at the start and never grows.
//
// Ops are recorded in blocks of 1024 that were issued one after the other: a short run is recorded completely, a long
// one as a sample of blocks (block_sample.h). The times of all waits are summed by line.
//
// The memory may be a file's: the records then survive even if the process is killed.
#pragma once
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/simd/cycles.h"
#include "trace/block_sample.h"
#include "trace/name_table.h"
#include "trace/record.h"
#include "trace/recording_memory.h"

namespace forerun {

// Any thread.
class Trace {
 public:
  Trace() = default;
  Trace(const Trace&) = delete;
  bool on() const { return key_.load(std::memory_order_relaxed) != 0; }

  // BlockSample::apart. Set while nothing is recorded; returns the old value.
  uint64_t set_apart(uint64_t ticks) { return std::exchange(blocks_.apart, ticks); }

  // Starts with op `next`; `oldest` is the oldest op that has not ended. `path`: a file; null: in memory. Returns 0 or
  // an errno: EBUSY if another process records into that file.
  int start(const char* path, uint64_t next, uint64_t oldest, int cores);
  // The recording until now, in one piece, without unused parts; `next`: the next op to be issued.
  std::string so_far(uint64_t next);
  // Ends the recording; then take() returns it. `next` and `oldest` are read after stop().
  void stop() { key_.store(0); }
  std::string take(uint64_t next, uint64_t oldest);
  // In the child of a fork: the recording, its memory and its file belong to the parent.
  void abandon();

  // The record of an op that is being issued; null: it is not recorded.
  OpRecord* place(uint64_t seq) {
    uint64_t key = key_.load(std::memory_order_relaxed);
    if (!key) [[likely]]
      return nullptr;
    if (here_.key != (key | seq >> kBlockShift)) enter(key, seq >> kBlockShift);
    return here_.block ? here_.block + (seq & (kBlockOps - 1)) : nullptr;
  }
  // With the engine's lock.
  void depends(OpRecord& op, uint64_t on);
  void named(OpRecord& op, const char* name);  // which lives as long as the process

  void tile(const OpRecord& op, uint64_t started, uint64_t ended);
  // Waits, and reads of computed values: by one thread at a time (which holds the interpreter lock).
  // A wait of this thread. `seq`: the op waited for, or 0; `next`: the next op to be issued.
  void waited(const char* name, uint32_t site, uint64_t seq, uint64_t next, uint64_t started, uint64_t ended);
  void read(const char* name, uint32_t site);  // values that were computed already
  // Lines and devices by number: the meaning of the numbers in records.
  void say(char kind, uint64_t number, const std::string& text);

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  static uint64_t now() { return cycles(); }
  static uint16_t thread_number() {  // small, in order of first use
    if (!thread_) thread_ = next_thread();
    return static_cast<uint16_t>(thread_ - 1);
  }

 private:
  struct Here {  // the block in which this thread records
    uint64_t key;
    OpRecord* block;  // null: the block is not kept
  };
  struct Last {  // the last wait of this thread
    uint64_t key, ticks, ended;
    LineRecord* line;
  };
  struct Old {  // memory of a recording that has ended, and the last op whose thread may still write there
    char* memory;
    uint64_t next;
  };

  void enter(uint64_t key, uint64_t block);
  static uint32_t next_thread();
  LineRecord& line(const char* name, uint32_t site);
  void settle_last(uint64_t key, uint64_t now);
  // With mutex_.
  std::string copy(uint64_t next);
  void release_memory(uint64_t next);
  void release_ended(uint64_t oldest);

  static constinit inline thread_local Here here_{};
  static constinit inline thread_local Last last_{};
  static constinit inline thread_local uint32_t thread_ = 0;

  std::atomic<uint64_t> key_{0};  // 0: off; else the number of the recording in the upper 16 bits. Written with mutex_
  NameTable names_;
  std::mutex mutex_;
  // Guarded by mutex_.
  uint64_t count_ = 0;  // recordings
  RecordingMemory memory_;
  BlockSample blocks_{memory_};
  std::vector<Old> old_;
};

}  // namespace forerun
