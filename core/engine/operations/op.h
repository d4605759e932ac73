// An issued operation: its place in program order, its accesses and its kernel.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/containers/free_list.h"
#include "base/containers/intrusive_list.h"
#include "base/region.h"
#include "engine/operations/access.h"
#include "engine/operations/kernel.h"
#include "engine/operations/storage.h"
#include "trace/record.h"

namespace forerun {

class Queue;

// The memory of a kernel that does not fit into its op. It is reused: the issuing thread takes the blocks that workers
// free, which is expensive for an allocator.
struct KernelRoom {
  KernelRoom* next_free = nullptr;
  alignas(16) unsigned char bytes[1000];
};

// One issued call. Made by the issuing thread, then owned by the engine until it and every older op of its budget have
// ended.
class Op {
 public:
  static constexpr int kInlineAccess = 4;
  static constexpr size_t kKernelBytes = 192;

  Op() = default;
  Op(const Op&) = delete;
  ~Op() { drop_kernel(), drop_edges(); }

  // Construction, by the issuing thread. The op holds a reference to each storage until it ends.
  template <class K, class... Args>
  K& emplace(Args&&... args) {
    static_assert(alignof(K) <= 16 && sizeof(K) <= sizeof KernelRoom::bytes);
    unsigned char* at = buffer_;
    if constexpr (sizeof(K) > kKernelBytes) {
      room_ = FreeList<KernelRoom>::take();
      if (!room_) room_ = FreeList<KernelRoom>::made(new KernelRoom);
      at = room_->bytes;
    }
    kernel_ = new (at) K(std::forward<Args>(args)...);
    return static_cast<K&>(*kernel_);
  }
  template <class K>
  bool copy(const K& kernel) {
    emplace<K>(kernel);
    return true;
  }
  void add(Storage* storage, Mode mode) {
    put(storage, mode);
    storage->retain();
  }
  void put(Storage* storage, Mode mode) {  // without a reference
    Access& a = n_access < kInlineAccess ? inline_access_[n_access] : spill();
    a = Access{storage, {this, nullptr}, nullptr, nullptr, {}, mode};
    ++n_access;
  }
  // The part of the storage that the op reads or writes.
  void add(Storage* storage, Mode mode, const Region& region) {
    add(storage, mode);
    set_region(region);
  }
  void put(Storage* storage, Mode mode, const Region& region) {
    put(storage, mode);
    set_region(region);
  }
  const Region& region(const Access& a) const {
    static constexpr Region kAll;
    return a.place ? places_[a.place - 1].region : kAll;
  }
  // The section of the access in the graph; null: it is ordered with accesses of the whole storage, or has been
  // replaced.
  Section*& section(const Access& a) { return places_[a.place - 1].section; }

  Access& access(int i) {
    return n_access <= kInlineAccess || i < kInlineAccess ? inline_access_[i] : more_access_[i - kInlineAccess];
  }
  Kernel* kernel() const { return kernel_; }
  // The kernel to run: its own, or that of the group of which this op is the first.
  Kernel* task() const { return group ? group.get() : kernel_; }
  // Destroys the kernel; never under the engine's lock, as a kernel may own objects of the front end.
  void drop_kernel() {
    if (kernel_) std::exchange(kernel_, nullptr)->~Kernel();
    if (room_) FreeList<KernelRoom>::give(std::exchange(room_, nullptr));
  }

  // Resets it for the next use; keeps the memory of its vectors, unless that is much: a free op may stay unused for
  // long.
  void reset() {
    n_access = 0, cost = 0, to_take = 0, inner = urgent = elsewhere = brief = false;
    empty(more_access_), empty(places_), successors.clear();
    if (more_edges) [[unlikely]]
      drop_edges();
    failure.reset();
    pending_dependencies = 0;
    ahead = freed = files = 0, recheck_at = 0, refused_after = UINT64_MAX;
    started = ended = retries_alone = dropped = kept = false;
    returned = handed_over = completed = unreported = false, followed = 0;
    group.reset(), empty(members), empty(reused);
    group_cost = seen = 0, reached = 0;
    slow = placed = disbanded = false, placed_dependencies = 0, leader = nullptr, planned.reset();
  }

  // Set at issue.
  Queue* queue = nullptr;
  MemoryBudget* budget = nullptr;  // of the device in whose memory its outputs are
  uint64_t seq = 0;                // position in program order
  uint32_t site = 0;               // where it was issued (a line of the user's program)
  const char* name = "";           // outlives the op
  uint32_t cost = 0;               // about how long it takes, in ns (saturating); 0 unless its kernel's maker sets it
  int n_access = 0;
  bool inner = false;                                  // issued by a running task, which may wait for it
  bool urgent = false;                                 // goes before older ready ops of its queue
  bool elsewhere = false;                              // its end depends on another process, which works meanwhile
  bool brief = false;                                  // a task that never sleeps and takes milliseconds at most: a
                                                       // waiting thread may run it, too. False once a worker runs it
  bool is_task() const { return cost == UINT32_MAX; }  // its duration is not known, and it may sleep
  // Whether it may wait for others once started: operations behind it need not wait for its end.
  bool may_wait() const { return is_task() || elsewhere; }
  // For an edge from an op that has been handed over to a lane: this op may be handed over before that one has ended
  // (Queue::follows). It is counted in `followed`, until unfollow().
  void follow(const Edge& edge);
  void unfollow(const Edge& edge);
  OpRecord* record = nullptr;  // its record in the trace; null: it is not recorded

  // Guarded by the engine's lock.
  int pending_dependencies = 0;                 // ops that must end before this one may start,
  int followed = 0;                             // of them, those on a lane behind which it may be handed over
  IntrusiveList<Edge, &Edge::next> successors;  // ops that wait for this one
  MoreEdge* more_edges = nullptr;               // in the successors of ops that it waits for
  size_t to_take = 0;                           // bytes of its outputs that have no memory yet, when it starts
  size_t ahead = 0;                             // bytes taken ahead of program order
  size_t wants = 0;                             // bytes that its outputs lacked when it was planned
  size_t freed = 0;                             // bytes that were freed when it ended
  size_t files = 0;         // bytes that it reads or writes, if its queue is the one for files; counted by its budget
  uint64_t recheck_at = 0;  // refused by the budget: until so many ops have ended, or only tasks run
  uint64_t refused_after = UINT64_MAX;  // the number of ended ops when it was last refused memory,
  size_t refused_beside = 0;            // and the bytes that were occupied then
  int64_t n_tiles = 1, tiles_left = 0;
  int64_t next_tile = 0, end_tile = 0;  // while threads share it: the tiles in this range are not taken
  bool started = false, ended = false;
  bool retries_alone = false;  // found no memory: it may try again only as the oldest op, alone
  bool kept = false;           // other ops wait for it in place of its own dependencies: it must not be dropped
  bool dropped = false;        // nothing reads its results: it will not run, and has released its storages
  bool returned = false;       // Lane::hand_over() has returned,
  bool handed_over = false;    // and the lane has accepted it;
  bool completed = false;      // the lane has completed it, or never got it,
  bool unreported = false;     // and its failure was found by the lane and is not in the FailureLog yet
  bool has_tiles() const { return next_tile < end_tile; }
  int64_t take_tile(bool last) { return last ? --end_tile : next_tile++; }
  bool may_start() const { return pending_dependencies == followed; }
  bool lane_is_done() const { return pending_dependencies == 0 && completed && returned; }
  FailurePtr failure;                 // first failure of a tile, or inherited from an input
  std::unique_ptr<FusedGroup> group;  // of the first op of a group: runs in place of the members' kernels,
  std::vector<Op*> members;           // and the other ops, in program order; they start and end together
  uint32_t group_cost = 0;            // of all ops of the group, or of those of its planned group
  struct Reuse {
    Storage *in, *out;
  };
  std::vector<Reuse> reused;    // outputs that have taken over the memory of inputs that end with this op
  uint32_t seen = 0;            // GroupSearch: the round in which it was visited
  int reached = 0;              // how many of its dependencies are in the group, or the batch
  uint32_t ready_cost = 0;      // its share of Queue::ready_cost, while it is in the queue
  bool slow = false;            // no group is planned that would have to wait for the end of this op
  bool placed = false;          // Fusion has decided which group it is in, as if all ops before it had ended
  bool disbanded = false;       // its group was cancelled. It is in no planned group again: one that waits for
                                // it may have been planned before, and the two would wait for each other
  int placed_dependencies = 0;  // how many of pending_dependencies are on placed ops of its queue
  Op* leader = nullptr;         // the first op of its planned group
  std::unique_ptr<PlannedGroup> planned;  // of a leader, which is in its queue if, and only if, `waits` is 0
  Op *next_planned = nullptr, *before_planned = nullptr;  // in MemoryBudget's order
  Op* next_in = nullptr;  // in Queue::sharing, DependencyGraph::idle_ or Released: in one of them at most
  Op* next_free = nullptr;

 private:
  Access& spill();
  void set_region(const Region& region) {  // of the last access
    places_.push_back({region, nullptr});
    access(n_access - 1).place = static_cast<uint32_t>(places_.size());
  }
  void mark_unwritten(const Edge& edge, bool unwritten);
  void drop_edges() {
    while (MoreEdge* edge = more_edges) more_edges = edge->next_free, FreeList<MoreEdge>::give(edge);
  }
  struct AccessRegion {
    Region region;
    Section* section;
  };
  template <class T>
  static void empty(std::vector<T>& all) {
    if (all.capacity() * sizeof(T) <= 1024) return all.clear();
    std::vector<T>().swap(all);
  }

  Kernel* kernel_ = nullptr;
  KernelRoom* room_ = nullptr;  // of the kernel, if it is not in buffer_
  Access inline_access_[kInlineAccess];
  std::vector<AccessRegion> places_;  // of accesses that have regions
  std::vector<Access> more_access_;   // never grows after issue: accesses are linked by address
  alignas(16) unsigned char buffer_[kKernelBytes];
};

// The costs of an op, with its group, and of one of its tiles.
inline uint32_t whole_cost(const Op& op) { return std::max(op.cost, op.group_cost); }
inline uint32_t tile_cost(const Op& op) { return static_cast<uint32_t>(whole_cost(op) / op.n_tiles); }

// Calls `f` for the accesses of an op and of the others in its group.
template <class F>
void each_access(Op* first, F f) {
  for (int i = 0; i < first->n_access; ++i) f(first->access(i));
  for (Op* op : first->members)
    for (int i = 0; i < op->n_access; ++i) f(op->access(i));
}

// Calls `f` with the numbers of the planned ops that wrote its inputs.
template <class F>
void each_write_read(const Access& a, F f) {
  const Storage& s = *a.storage;
  const Region& region = a.op()->region(a);
  bool found = false;
  for (const Section* section = s.sections; section; section = section->next) {
    if (section->last_write == 0 || (a.place && section->region.apart(region))) continue;
    f(section->last_write);
    found = found || (a.place && section->region == region);
  }
  if (s.last_whole && !found) f(s.last_whole);
}

}  // namespace forerun
