// What happened when, kept while somebody asks for it, in memory that is taken at the start and never grows.
//
// Ops are recorded in blocks of 1024 that were issued one after the other. When the memory is full, every second block
// gives its place away, and from then on one of two is recorded, then one of four, and so on; which of them is chosen
// as if by chance, but always the same. So a short run is recorded whole, and of a long one there is a sample, evenly
// over all of it. Where ops are so small that recording each would slow them down, blocks are left out, too, but for
// the first few. The times of all waits are summed by line.
//
// The memory may be a file's: the records survive even if the process is killed.
#pragma once
#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "base/processor/cycles.h"
#include "trace/record.h"

namespace forerun {

// Any thread.
class Trace {
 public:
  Trace() = default;
  Trace(const Trace&) = delete;
  bool on() const { return key_.load(std::memory_order_relaxed) != 0; }

  // Ticks, some 4 ms, from the begin of a block to that of the next, more so where only one of several is recorded: to
  // record one takes a tenth of a millisecond. Tests set it to 0. Set while nothing is recorded.
  uint64_t apart = 10'000'000;

  // Begins with op `next`; `oldest` is the oldest that has not ended. `path`: of a file; null: in memory. Returns 0 or
  // an errno: EBUSY if another process records into that file.
  int start(const char* path, uint64_t next, uint64_t oldest, int cores);
  // The recording until now, in one piece, without unused parts; `next`: the next op to be issued.
  std::string so_far(uint64_t next);
  // Ends it; then take() is the last look. `next` and `oldest` are taken after stop().
  void stop() { key_.store(0); }
  std::string take(uint64_t next, uint64_t oldest);
  // In the child of a fork: the recording, its memory and its file are the parent's.
  void abandon();

  // Where an op that is being issued is recorded; null: it is not.
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
  // Waits, and reads of computed values: by one thread at a time (which has the interpreter lock).
  // A wait of this thread. `seq`: the op waited for, or 0; `next`: the next op to be issued.
  void waited(const char* name, uint32_t site, uint64_t seq, uint64_t next, uint64_t started, uint64_t ended);
  void read(const char* name, uint32_t site);  // values that were computed already
  // Lines and devices by number: what the numbers of records mean.
  void say(char kind, uint64_t number, const std::string& text);

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  static uint64_t now() { return cycles(); }
  static uint16_t thread_number() {  // small, in order of first use
    if (!thread_) thread_ = next_thread();
    return static_cast<uint16_t>(thread_ - 1);
  }

 private:
  struct Here {  // where this thread records: a block of a recording
    uint64_t key;
    OpRecord* block;  // null: the block is not kept
  };
  struct Kept {
    uint64_t block;
    uint8_t place;
  };
  struct Last {  // the last wait of this thread
    uint64_t key, ticks, ended;
    LineRecord* line;
  };
  struct Old {  // memory of a recording that has ended, and up to which op somebody may still write there
    char* memory;
    uint64_t next;
  };

  void enter(uint64_t key, uint64_t block);
  static uint32_t next_thread();
  LineRecord& line(const char* name, uint32_t site);
  void settle_last(uint64_t key, uint64_t now);
  // With mutex_.
  const Kept* kept(uint64_t block);        // null: it is not
  const Kept* find(uint64_t block) const;  // the same for one of which that is known
  bool chosen(uint64_t block) const;
  void decide(uint64_t block);
  void rarer();
  void drop_more();
  MoreRecord* more(uint64_t block);
  void write(char kind, uint64_t number, const char* text);
  void know(const char* name);
  void calibrate();
  std::string copy(uint64_t next);
  void release_ended(uint64_t oldest);
  // Where a name stands, or would: a free place, or one of another name if there is none.
  std::atomic<const char*>& find(const char* name);

  template <class T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(memory_ + offset);
  }
  Head& head() const { return *at<Head>(0); }

  static constinit inline thread_local Here here_{};
  static constinit inline thread_local Last last_{};
  static constinit inline thread_local uint32_t thread_ = 0;
  static constexpr uint64_t kWhole = 4;  // blocks at the beginning that are kept in any case
  static constexpr size_t kNames = 1 << 12;

  std::atomic<uint64_t> key_{0};  // 0: off; else the number of the recording in the upper 16 bits. Written with mutex_
  std::atomic<const char*> names_[kNames]{};  // that Text has; written with mutex_
  std::mutex mutex_;
  // Guarded by mutex_.
  char* memory_ = nullptr;
  int file_ = -1;
  uint64_t count_ = 0;  // recordings
  uint64_t first_ = 0;  // the first block
  int level_ = 0;
  uint64_t decided_ = 0;                 // one more than the last block of which is known whether it is kept
  uint64_t since_ = 0;                   // ticks: when the last one that is kept began
  std::array<Kept, kBlocks> kept_{};     // the first n_kept_, in order
  std::array<uint8_t, kBlocks> free_{};  // from n_kept_ on: places for further ones
  int n_kept_ = 0;
  std::vector<Old> old_;
};

}  // namespace forerun
