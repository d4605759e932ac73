// The engine: ops come in at one end in program order, and run as soon as what they need is there.
//
//   issue()  the front end puts an op into the window (a ring) and returns. No lock, no allocation.
//   plan     whoever looks for work and finds none drains the window: it finds out which op waits for which.
//            What it finds there gets better first (improve.cpp): ops that nobody needs are dropped, others joined.
//   run      workers, and threads that wait, take the oldest ready op (or a tile of a big one) and run it.
//
// There is no scheduler thread. One lock guards the graph, held for microseconds at a time; kernels run without it.
// A thread may take the lock while it holds the front end's own lock (the interpreter's), never the other way round.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/bell.h"
#include "engine/budget.h"
#include "engine/op.h"
#include "engine/queue.h"
#include "engine/task_wait.h"
#include "engine/trace.h"

namespace forerun {

struct Device {
  std::unique_ptr<Budget> budget;
  std::unique_ptr<Queue> compute, copy, io;
  std::atomic<bool> used{false};  // its queues are served; written with the lock
  std::array<Queue*, 3> queues() const { return {compute.get(), copy.get(), io.get()}; }
};

// Bytes of arrays, per device (see Budget) and of all devices together.
struct MemoryLimits {
  size_t soft = SIZE_MAX, hard = SIZE_MAX, aside = 0, soft_of_all = SIZE_MAX, hard_of_all = SIZE_MAX;
};

struct EngineStats {
  uint64_t issued, planned, ended, failed, waits, helped;  // ops, but for waits (calls)
  uint64_t dropped, groups, grouped, elided,
      reused;        // ops, groups, ops in groups; bytes that never had memory, or an input's
  uint64_t at_once;  // ops that the issuing thread ran in the call; they count as issued, planned and ended, too
};

// An op that has been issued and has not ended, for whoever wonders why.
struct Pending {
  enum class State : uint8_t {
    issued,
    waiting,
    ready,
    running
  } state;              // not planned yet; for other ops; for a thread or memory
  uint64_t seq, after;  // `after`: the oldest op that it waits for, or 0
  const char* name;
  uint32_t site;
  int device, queue;
  size_t needs;  // bytes of memory that it has yet to be given
};

// The same with the ops that have not ended whose results it reads, for a picture of what is to be done.
struct Needed : Pending {
  uint64_t group = 0;  // number of the first op of the group that it runs in; 0: alone, or not known yet
  Form form;           // of its first output
  std::vector<uint64_t> reads;
};

// What planning does beyond putting ops in order. Each may be switched off; results are the same bits.
enum class Pass : uint8_t {
  drop = 1,     // ops whose results nobody reads do not run
  fuse = 2,     // element-wise ops and reductions run together, tile by tile
  reuse = 4,    // an output takes the memory of an input that ends there
  apart = 16,   // ops that use parts of a storage that do not overlap are not ordered
  at_once = 8,  // small ops run in the issuing thread, without being planned
};

// A host task that waits for its own end.
struct SelfWait {
  bool found = false;
  const char* name = "";
  uint32_t site = 0;  // who issued it
};

class Engine {
 public:
  using Clock = std::chrono::steady_clock;

  static Engine& get();

  // --- issue: any thread --------------------------------------------------------------------------------------------
  Op* make_op();
  // Hands the op over; returns its number. The caller has looked at must_wait() before.
  uint64_t issue(Op* op);
  void discard(Op* op);  // instead of issue: it never happened
  // Small work is done at once (at_once.cpp): whether the operation costs less than handing it to another thread,
  // nothing that is under way uses what it writes, and what it reads is there and good. By the front end, whose lock
  // keeps others from issuing meanwhile.
  bool fits_at_once(Op& op) { return op.cost <= kAtOnceCost && may_run_at_once(op); }
  // Runs it in this thread, and gives the op back; false: it has not run, for want of memory or of a thread of its own.
  // What fails poisons its outputs.
  bool run_at_once(Op* op);
  // Nothing keeps small work from being done at once, and nobody records it.
  bool works_at_once() const { return passes(Pass::at_once) && !gate_.load(std::memory_order_relaxed) && !trace.on(); }
  uint64_t at_once = 0;  // how much has been; written by the front end, with its lock
  // The window is full (too many ops in flight): the caller should call make_room() without the interpreter lock.
  bool must_wait() {
    uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - front_seen_.load(std::memory_order_relaxed) < ops_ahead_) return false;
    front_seen_.store(front_.load(std::memory_order_acquire), std::memory_order_relaxed);
    return head - front_seen_.load(std::memory_order_relaxed) >= ops_ahead_;
  }
  // There is hardly a slot left: even who cannot wait for room must not issue.
  bool crammed() const { return head_.load() - front_.load() + 1024 >= window_.size(); }
  uint64_t mark() const { return head_.load(); }
  bool has_ended(uint64_t mark) const { return front_.load() >= mark; }  // all ops before it have ended

  // --- wait: any thread, without the interpreter lock. False: not yet after `limit`; call again.
  // ---------------------------
  bool wait(Storage& storage, std::chrono::milliseconds limit);  // all writes issued so far have ended
  // A try before wait(), which may hold the interpreter lock: runs small ops, a microsecond each, if that is all there
  // is.
  void settle_small(Storage& storage);
  // Whether a look at the graph is short: little has been issued since the last.
  bool little_fresh() const {
    return head_.load(std::memory_order_relaxed) - planned_.load(std::memory_order_relaxed) <= kFewFresh;
  }
  // The same for an issuing thread, after each kKeepUp ops: while all is tiny it runs them itself, as long as they are
  // in its cache.
  void keep_up();
  static constexpr uint64_t kKeepUp = 64, kFewFresh = 4 * kKeepUp;
  bool wait_mark(uint64_t mark, std::chrono::milliseconds limit);  // all ops issued before mark have ended
  bool make_room(std::chrono::milliseconds limit);
  bool held_for_memory();  // ops are ready, and there is no memory for them
  // For a wait of a host task that lasts: whether what it waits for comes only after the task itself has ended, as far
  // as is known now.
  SelfWait waits_for_itself(TaskWait& wait);
  void forget(TaskWait& wait);
  static bool in_task() { return running_ != nullptr; }

  // --- be told instead: any thread, may hold the interpreter lock (bell.h)
  // -------------------------------------------------
  bool watch(Watcher& watcher, Storage& storage,
             Bell& bell);  // false: all writes issued so far have ended, nobody will be told
  void unwatch(Watcher& watcher);
  size_t take_told(Bell& bell, Watcher** told, size_t most);  // in the order in which the writes ended
  void forget(Bell& bell);

  // --- failures -----------------------------------------------------------------------------------------------------
  // Failures that nobody has seen, in the order in which they happened; they count as seen now. Of very many, `unkept`
  // are only counted.
  struct Unseen {
    std::vector<FailurePtr> failures;
    uint64_t unkept;
  };
  Unseen take_unseen();
  // Somebody raises it: it need not be reported, nor be kept with all that its exception refers to.
  void seen(const Failure& failure);

  // --- set-up: while nothing is issued
  // ----------------------------------------------------------------------------------
  static constexpr int kMostDevices = 256;
  Device& device(int i) { return *devices_[i]; }  // one that has been used
  int devices() const { return n_devices_; }      // over which the cores are split; others share them
  // Workers per device (0: none; waiting threads do the work), how many of them may be busy at once, and threads per
  // device for files, which do not count. Other devices that are used later get as many workers as the first one, and
  // share the cores. Must be idle.
  void configure(const std::vector<int>& workers, int cores, int io_threads = 1);
  // Makes a device, or serves it again. Any thread, any time; does not wait for work.
  void use_device(int i);
  // Limits of the devices over which the cores are not split; and of all together, once there is one of those. Any
  // time.
  void limit_shared(const MemoryLimits& limits);
  // How many ops may be in flight. Must be idle.
  void set_ops_ahead(uint64_t n);
  uint64_t ops_ahead() const { return ops_ahead_; }
  // cpu/ starts and joins threads; each calls serve().
  std::function<bool(Queue&, int)> start_thread;  // false: the system gives none
  std::function<void()> join_threads;
  void serve(Queue& queue);              // a worker's life
  std::function<bool()> start_stand_in;  // by cpu/, like the above; it calls stand_in()
  void stand_in();
  // Ends all workers; false: not yet after `limit` (then call again, or resume_workers()). They start again with the
  // next issue. By one thread at a time, without the interpreter lock.
  bool stop_workers(std::chrono::milliseconds limit);
  void resume_workers();  // they are not to stop after all; those that have, start again
  void start_workers();   // unless they run
  // How often workers have been started and ended: odd while they run. Any thread; no lock.
  uint32_t lives() const { return lives_.load(std::memory_order_relaxed); }
  std::pair<int, int> workers();  // how many threads there are, of all queues, and how many were asked for
  void gate(bool closed);         // closed: nothing is planned or started
  void set_passes(int passes) { passes_.store(passes); }     // a sum of Pass; any time
  void set_fuse_from(uint32_t ns) { fuse_from_.store(ns); }  // an op that costs less is not worth a group
  void set_apart_from(uint32_t ns) {
    apart_from_.store(ns);
  }  // one that costs less is ordered with all that use its storages
  bool idle() const { return front_.load() == head_.load(); }
  bool cores_taken();  // by kernels, but for one perhaps that the front end uses: whoever else computes now takes time
                       // from them
  bool at_rest();      // it is idle, and no worker runs: an op that has ended meanwhile may have started them again
  void before_fork();  // in any thread, just before the process forks
  void after_fork(bool child);  // just after it. The child has no other thread
  // In the child of a process that forked while work was pending: that work, and with it the engine, is the parent's
  // alone.
  bool lost() const { return lost_.load(); }

  EngineStats stats();
  std::vector<Pending> pending(size_t most);  // the oldest
  std::vector<Needed> needed(const std::vector<const Storage*>& results,
                             size_t most);  // what has not ended and they need, the latest, in order
  uint64_t writer(const Storage& storage);  // number of the last issued op that writes it and has not ended; 0: none
  Trace trace;
  int record_into(const char* path) { return trace.start(path, head_.load(), front_.load(), cores_); }  // Trace::start
  std::string take_record();
  std::function<size_t()> trim;  // gives cached memory back to the system; returns how much

 private:
  static constexpr uint64_t kLeastRing = 1 << 16;
  static constexpr int kManyArrays = 64;         // of one op
  static constexpr int kBatch = 32;              // small ops taken at once
  static constexpr uint32_t kTinyCost = 400;     // ns: handing it to another thread costs more
  static constexpr uint32_t kAtOnceCost = 2000;  // ns: less than handing it over costs, and waiting for it
  static constexpr size_t kCopiedAtOnce =
      1 << 14;  // bytes that a write at once may copy, as somebody looks at the old ones
  static constexpr uint32_t kSmallCost = 2500;       // ns: not worth a lock of its own
  static constexpr uint32_t kHelpCost = 20'000'000;  // ns: a waiting thread takes nothing longer, to answer signals
  static constexpr uint32_t kAnyCost = UINT32_MAX;
  static constexpr uint64_t kFuseReach = 1024;   // how far apart, in ops issued, members of a group may stand
  static constexpr uint64_t kFuseNear = 48;      // and where they are looked for first
  static constexpr int kFuseMost = 512;          // ops that are looked at for a group,
  static constexpr int kFuseAround = 64;         // and that are next to one of them
  static constexpr uint64_t kWakeCost = 20'000;  // ns of work that are worth waking a thread for

  using Lock = std::unique_lock<std::mutex>;
  // What a thread has taken to run: small ops by the batch, or one op, or one tile of an op.
  struct Work {
    Op* op;
    int64_t tile;
    bool no_memory = false;  // for it: it has not run
    bool held_back = false;  // an op that it follows may have failed: it has not run
  };
  struct Batch {
    Work work[kBatch];  // the first n; not initialised, as a wait for a small op has one of its own
    int n = 0;
    int sure = 0;  // those behind the first `sure` wait for others of the batch, which are expected not to fail
    Queue* held = nullptr;  // it holds one of the cores, for this queue,
    int cpu = 0;            // while it runs on this CPU
    bool rest = false;      // there was work when it came back empty, which is left to who is at work
    uint64_t cost() const {
      uint64_t sum = 0;
      for (int i = 0; i < n; ++i) sum += std::max(work[i].op->cost, work[i].op->group_cost);
      return sum;
    }
  };
  enum class Idle { leave, sleep };

  Engine();
  Lock lock();  // spins a little before it sleeps

  // Ends what the batch holds and takes the next one, of ops that cost at most `most` or have tiles (0: none), for
  // `queue` (null: for any, by a waiting thread). An empty batch comes back if there is nothing to do (`leave`) or the
  // worker must stop. Called without the lock.
  void exchange(Batch& batch, Queue* queue, uint32_t most, Idle idle);
  void run(Batch& batch);  // without the lock
  void run(Work& work);
  void run_tiles(Work& work);
  void run_kernel(Work& work);
  void run_whole(Op& op);
  template <class F>
  void guarded(Op& op, F f, uint64_t before = UINT64_MAX);
  bool take_memory(Op& op);
  bool help(uint32_t most,
            bool& rest);  // by a waiting thread: false if there was nothing to do; `rest`: Batch::rest of the last time
  void leave_work();      // by a thread that has helped, and goes on with the program
  void leave_place(Queue& queue);  // by a thread whose task waits
  void take_place(Queue& queue);
  void wake(Queue& queue);  // by the front end: a worker must look
  void sleep(Queue& queue, Lock& held, std::chrono::microseconds limit);
  bool spin(Queue& queue);
  void let_issue();
  void notify_waiters();
  void ring_bells();  // with watch_mutex_
  void enter_task(Queue& queue);
  void leave_task(Queue& queue);
  bool stand_in_needed() const { return in_tasks_.load() > 0 && watching_.load() > 0; }
  void call_stand_in();
  void wake_stand_in();
  void tell(Storage& storage);  // with the lock
  template <class Stop>
  void run_small(uint32_t most, Stop stop);
  template <class Done, class Arm>
  bool wait_until(Done done, Arm arm, std::chrono::milliseconds limit, uint32_t most = kHelpCost);
  void recycle(Op* op);

  // With the lock held.
  void plan();
  bool left_to_issuer();
  bool issuing();
  void link(Op* op, uint64_t now);  // ticks, if it may be recorded
  bool pick(Queue& queue, uint32_t most, Batch& batch);
  bool pick_any(Batch& batch, uint32_t most);
  Op* admissible(Queue& queue, uint32_t most);
  static uint32_t piece_cost(const Op& op) {
    return static_cast<uint32_t>(std::max(op.cost, op.group_cost) / op.n_tiles);
  }  // of a tile
  bool older_elsewhere(const Queue& queue, uint64_t seq);
  bool start(Op* op);
  bool refused_before(const Op& op) const;
  bool hold(Op& op);
  bool passes(Pass pass) const { return passes_.load(std::memory_order_relaxed) & static_cast<int>(pass); }
  static Pending describe(Op* op, uint64_t seq, uint64_t planned);
  static bool dead(Op& op);
  void drop(Op* op);
  bool drop_dead(uint64_t first, uint64_t last);
  static void inherit(Op& op, const Access& access);
  static void count_end(const Access& access);  // of a write
  // Sees to memory for writes of parts, where an op before them has failed that should have; false: others run, which
  // must end first.
  bool prepare_sections(Op& op);
  static void leave(Access& access);           // its op has ended, or will not run
  static void promise(Op& op, bool promised);  // its outputs count as having memory, or no longer
  static void reach(Op* op, int by);
  static bool sound(Op* op);
  void follow(Batch& batch, uint32_t most);
  void gather(Op* op);
  void candidates(Op* first, uint64_t reach);
  bool gather_from(Op* first, uint64_t reach);
  void without_dead();
  bool collect(Op* first, size_t most);
  bool join(Op* op);
  size_t reuse(Op* op, bool commit);
  static void undo_reuse(Op* op);
  void dissolve(Op* op);
  void ready(Op* op);
  bool alone(const Op& op, int running) const;
  bool tasks_wait() const;
  bool starves(Op& op);
  bool over_limit(const Op& op) const;
  bool crowded(const Op& op) const;  // it must not start yet, for the sake of older ops on other devices
  size_t occupied_by_all() const;    // 0 while there are no devices but those over which the cores are split
  void make_device(int i);
  void serve_device(Device& device, int workers);
  void start_queue(Queue& queue);
  void put_back(Op* op, bool no_memory);
  bool end_work(Batch& batch, Lock& held);  // true: something has ended
  void end(Op* op);
  void end_one(Op* op, const Op* group = nullptr);
  void let_go(Op& op, Storage& storage);
  void record(const Op& op, const Op* group);
  void record_issue(Op& op);
  void record_reads(Op& op);
  bool by_parts(const Op& op) const;  // it is ordered by the parts of storages that it uses
  bool may_run_at_once(Op& op);
  void note_at_once(Op& op, uint64_t started);
  void advance_front();
  template <class F>
  FailurePtr failure(ErrorKind kind, const Op& op, F message, std::shared_ptr<void> exception = nullptr,
                     uint64_t before = UINT64_MAX) const;
  FailurePtr memory_failure(const Op& op) const;
  bool wakes(const Queue& queue) const;
  bool wake_others(Queue* mine, bool changed, const Batch* taken = nullptr, bool resumes = false);
  void fail(Op* op, FailurePtr failure);
  void forget_seen();
  void start_all();
  bool start_one(Queue& queue, int i);
  bool unattended() const { return fresh_work() && helping_.load() == 0; }
  bool fresh_work() const { return head_.load() != planned_.load(std::memory_order_relaxed); }

  friend class TaskWait;
  bool comes_after(Op& first, const Storage& storage) const;  // with the lock
  static thread_local RunningTask* running_;                  // the host task that this thread is running; or null
  TaskWait* task_waits_ = nullptr;                            // those that last; written with the lock

  static thread_local Queue* task_of_;  // the queue of the task that this thread is at; or null
  // The window. A slot holds its op from issue until the op has ended.
  Window window_;
  alignas(64) std::atomic<uint64_t> head_{1};  // number of the next op to be issued
  std::atomic<uint64_t> front_seen_{1};        // front_ as issuing threads saw it last: saves them its cache line
  uint64_t ops_ahead_ = 1 << 14;
  std::atomic<uint64_t> unseen_cost_{0};  // ns, about, of what has been issued since the last plan, without tiny ops
  alignas(64) std::atomic<uint64_t> planned_{1};  // number of the next op to be planned; written with the lock
  std::atomic<uint64_t> front_{1};                // number of the oldest op that has not ended; written with the lock
  alignas(64) std::mutex mutex_;
  std::array<std::unique_ptr<Device>, kMostDevices> devices_;  // what is made stays: storages point to budgets
  std::vector<Device*> made_;                                  // of them
  int n_devices_ = 0, workers_of_shared_ = 0, io_threads_ = 1;
  MemoryLimits shared_limits_;
  std::vector<Queue*> queues_;                // of the devices in use
  int cores_ = 1;                             // how many threads may run kernels at once
  uint64_t left_head_ = 0, left_since_ = 0;   // left_to_issuer(): what it saw last, and since when it says yes (ticks)
  int busy_ = 0;                              // how many do,
  Places places_;                             // and where
  uint64_t issue_head_ = 0, issue_seen_ = 0;  // issuing(): what it saw last, and when that was new (ticks)
  std::atomic<bool> gate_{false}, stopping_{false}, lost_{false};
  bool gave_way_ = false;  // the last pick() left work to somebody who might not take it: look again soon
  bool started_ = false;
  std::atomic<uint32_t> lives_{0};   // changes of started_; written with the lock
  int serving_ = 0;                  // workers that have not left serve(), or not entered it yet
  std::condition_variable stopped_;  // there are none any more; used with mutex_
  static constexpr size_t kMostUnseen = 1000;
  std::vector<FailurePtr> unseen_;  // may have been seen meanwhile; has room for kMostUnseen
  std::shared_ptr<std::atomic<uint64_t>> unkept_ = std::make_shared<std::atomic<uint64_t>>(
      0);                       // since unseen_ was taken: failures beyond kMostUnseen that nobody has seen
  const FailurePtr no_memory_;  // stands for a failure for which there is no memory; it has no line
  uint64_t noted_at_once_ = 0;  // of the ops that ran at once, those with a number, as they were recorded; like at_once
  Op ran_at_once_;              // stands in the window for those: planning passes over it
  uint64_t failed_ = 0, ended_ops_ = 0, dropped_ = 0, groups_ = 0, grouped_ = 0, elided_ = 0, reused_ = 0;
  std::atomic<int> passes_{static_cast<int>(Pass::drop) | static_cast<int>(Pass::fuse) | static_cast<int>(Pass::reuse) |
                           static_cast<int>(Pass::at_once) | static_cast<int>(Pass::apart)};
  std::atomic<uint32_t> fuse_from_{2000}, apart_from_{20000};
  uint32_t round_ = 0;                // of gather(),
  std::array<Op*, kFuseMost> found_;  // and what it has found: the first n_found_
  int n_found_ = 0;
  Chain<Op, &Op::next_in> idle_dropped_;  // dropped ops that wait for nothing any more, to be ended
  bool ended_early_ = false;  // an op was planned, or has ended, without having run: other queues may have work now
  Chain<Op, &Op::next_in> retired_;               // to be used again once the lock is gone
  Chain<Storage, &Storage::next_let_go> let_go_;  // references of ended ops, to be released once the lock is gone
  bool notify_ = false;                           // a waiter sleeps for something that has ended

  // Sleeping waiters, and watchers. A thread may take this lock while it holds the one above, never the other way
  // round.
  std::mutex watch_mutex_;
  Bell* to_ring_ = nullptr;
  std::atomic<int> watching_{0};           // watchers that are still to be told; written with the lock
  std::atomic<int> in_tasks_{0};           // queues all of whose workers run host tasks
  bool stand_in_started_ = false;          // guarded by mutex_
  std::condition_variable stand_in_wake_;  // it is needed, or must stop; used with watch_mutex_
  std::condition_variable watch_;
  std::atomic<uint64_t> told_{0};  // how often waiters have been told to look again; written with watch_mutex_
  std::atomic<uint64_t> watch_mark_{UINT64_MAX};  // somebody sleeps until front_ reaches it
  std::atomic<uint64_t> waits_{0}, helped_{0};
  std::atomic<uint64_t> resumed_{0};  // when a wait ended last (ticks)
  std::atomic<int> helping_{0};       // waiting threads that are awake
};

}  // namespace forerun
