// Wait: a thread that needs a result works on it, and sleeps only when there is nothing for it to do. Also: life cycle.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "engine/engine.h"

namespace forerun {

namespace {
// A waiting thread looks this often for work, with so many pauses between, before it sleeps: some 30 us.
constexpr int kLooks = 40, kPauses = 16;
constexpr std::chrono::milliseconds kStandInLooks{10};  // how often the stand-in looks for work while there is none
constexpr uint64_t kSmallWork = 100'000;  // ns: of small ops that are run at once with the interpreter lock
}  // namespace

// With end_one() modelled in tests/model/completion.py.
template <class Done, class Arm>
bool Engine::wait_until(Done done, Arm arm, std::chrono::milliseconds limit, uint32_t most) {
  if (done()) return true;
  waits_.fetch_add(1, std::memory_order_relaxed);
  struct Place {
    Engine& engine;
    Queue* const queue = task_of_;
    ~Place() {
      if (queue) engine.take_place(*queue);
    }
  } place{*this};
  if (place.queue) leave_place(*place.queue);
  Clock::time_point deadline{};  // counts from the first look at the clock, which small ops need not pay for
  auto passed = [&] {
    auto now = Clock::now();
    if (deadline == Clock::time_point{}) deadline = now + limit;
    return now >= deadline;
  };
  bool over = false, late = false, rest = false;
  while (!over && !late) {
    uint64_t told = told_.load();
    helping_.fetch_add(1);
    for (int idle = 0; idle < kLooks && !over; ++idle) {
      if (help(most, rest)) idle = -1;
      for (int i = 0; i < kPauses && !(over = done()); ++i) _mm_pause();
      if (!over && idle < 0 && passed()) break;
    }
    helping_.fetch_sub(1);
    if (over) break;
    std::unique_lock held(watch_mutex_);
    arm();
    if ((over = done())) break;
    // Told to look since the last look for work: without workers nobody else would take what there is now.
    late = passed() || (told == told_.load() && watch_.wait_until(held, deadline) == std::cv_status::timeout);
    over = done();
  }
  resumed_.store(__rdtsc(), std::memory_order_relaxed);
  if (rest) leave_work();
  return over;
}

bool Engine::wait(Storage& storage, std::chrono::milliseconds limit) {
  uint32_t target = storage.issued.load();
  auto done = [&] { return static_cast<int32_t>(storage.ended.load() - target) >= 0; };
  return wait_until(done, [&] { storage.watched.store(true); }, limit);
}

// One look at the graph ends what has run and takes what comes next.
template <class Stop>
void Engine::run_small(uint32_t most, Stop stop) {
  Batch batch;
  helping_.fetch_add(1);
  exchange(batch, nullptr, most, Idle::leave);
  for (uint64_t spent = 0; batch.n;) {
    helped_.fetch_add(batch.n, std::memory_order_relaxed);
    spent += batch.cost();
    run(batch);
    exchange(batch, nullptr, spent < kSmallWork && !stop() ? most : 0, Idle::leave);
  }
  helping_.fetch_sub(1);
  if (batch.rest) leave_work();
}

void Engine::settle_small(Storage& storage) {
  run_small(kSmallCost, [&] { return storage.settled(); });
}

void Engine::keep_up() {
  if (unseen_cost_.load(std::memory_order_relaxed) > 0 || gate_.load(std::memory_order_relaxed)) return;
  if (head_.load(std::memory_order_relaxed) - planned_.load(std::memory_order_relaxed) < kKeepUp / 2)
    return;  // somebody else does
  run_small(kTinyCost, [] { return false; });
}

bool Engine::wait_mark(uint64_t mark, std::chrono::milliseconds limit) {
  auto arm = [&] {
    uint64_t other = watch_mark_.load();
    while (mark < other && !watch_mark_.compare_exchange_weak(other, mark)) {
    }
  };
  return wait_until([&] { return front_.load() >= mark; }, arm, limit);
}

void Engine::stand_in() {
  auto over = [&] { return stopping_.load() || !stand_in_needed(); };
  while (!stopping_.load()) {
    if (!wait_until(over, [] {}, kStandInLooks, kAnyCost - 1)) continue;
    std::unique_lock held(watch_mutex_);
    stand_in_wake_.wait(held, [&] { return stopping_.load() || stand_in_needed(); });
  }
  Lock held = lock();
  stand_in_started_ = false;
  if (--serving_ == 0) stopped_.notify_all();
}

bool Engine::make_room(std::chrono::milliseconds limit) {
  // Some slack, so that the front end does not come back for every op.
  uint64_t head = head_.load(), keep = ops_ahead_ - std::max<uint64_t>(1, ops_ahead_ / 8);
  return head <= keep || wait_mark(head - keep, limit);
}

bool Engine::held_for_memory() {
  Lock held = lock();
  return std::any_of(queues_.begin(), queues_.end(), [](Queue* q) {
    return q->seems_busy() && q->refused.load(std::memory_order_relaxed) && q->over.load(std::memory_order_relaxed);
  });
}

// Who issues or runs an op meanwhile writes to a record that is kept until the op has ended.
std::string Engine::take_record() {
  trace.stop();
  uint64_t next = head_.load();
  return trace.take(next, front_.load());
}

void Engine::notify_waiters() {
  std::lock_guard held(watch_mutex_);
  told_.fetch_add(1);
  watch_.notify_all();
  ring_bells();
}

void Engine::seen(const Failure& failure) {
  failure.see();
  FailurePtr kept;  // let go without the lock: it may be the last reference
  Lock held = lock();
  auto at = std::find_if(unseen_.begin(), unseen_.end(), [&](const FailurePtr& f) { return f.get() == &failure; });
  if (at == unseen_.end()) return;
  kept = std::move(*at);
  unseen_.erase(at);
}

Engine::Unseen Engine::take_unseen() {
  std::vector<FailurePtr> room;
  room.reserve(kMostUnseen);
  Lock held = lock();
  forget_seen();
  Unseen taken{std::exchange(unseen_, std::move(room)), unkept_->load()};
  for (FailurePtr& f : taken.failures) f->see();
  unkept_ = std::make_shared<std::atomic<uint64_t>>(0);
  return taken;
}

void Engine::forget_seen() {
  std::erase_if(unseen_, [](const FailurePtr& f) { return f->seen.load(); });
}

void Engine::set_ops_ahead(uint64_t n) {
  Lock held = lock();
  uint64_t size = std::max(kLeastRing, std::bit_ceil(2 * n));  // several threads may pass the limit by one op each
  for (Device* device : made_)
    for (Queue* q : device->queues()) q->make_room(size);
  if (size != window_.size()) window_.resize(size);
  ops_ahead_ = n;
}

void Engine::start_workers() {
  Lock held = lock();
  if (!started_) start_all();
}

void Engine::start_all() {
  started_ = true;
  lives_.fetch_add(1);
  for (Queue* q : queues_) start_queue(*q);
}

void Engine::start_queue(Queue& queue) {
  queue.sleeping.fetch_sub(1);
  // With fewer threads than asked for it is slower; with none, whoever waits does the work.
  for (queue.workers = 0; queue.workers < queue.wanted && start_one(queue, queue.workers);) ++queue.workers;
  queue.threads = queue.workers;
}

bool Engine::start_one(Queue& queue, int i) {
  bool started = start_thread(queue, i);
  serving_ += started;
  return started;
}

// With the gate (python/runtime/submission_gate.cpp) modelled in tests/model/life.py.
bool Engine::stop_workers(std::chrono::milliseconds limit) {
  Lock held = lock();
  if (!started_) return true;
  stopping_.store(true);
  for (Queue* q : queues_) q->sleepers.wake_all();
  wake_stand_in();
  if (!stopped_.wait_for(held, limit, [&] { return serving_ == 0; })) return false;
  held.unlock();
  join_threads();  // they have nothing left to do
  held.lock();
  stopping_.store(false);
  started_ = false;
  lives_.fetch_add(1);
  for (Queue* q : queues_) q->sleeping.store(1), q->called.store(false), q->left = q->threads = 0;
  held.unlock();
  notify_waiters();  // who looked for work while they stopped was given none
  return true;
}

std::pair<int, int> Engine::workers() {
  Lock held = lock();
  std::pair<int, int> found;
  for (Queue* q : queues_) found.first += q->workers, found.second += q->wanted;
  return found;
}

bool Engine::cores_taken() {
  Lock held = lock();
  return busy_ >= cores_ || (busy_ > 0 && busy_ + 1 == cores_ && issuing());
}

bool Engine::at_rest() {
  Lock held = lock();
  return idle() && !started_;
}

void Engine::resume_workers() {
  Lock held = lock();
  stopping_.store(false);
  for (Queue* q : queues_)
    for (; q->left > 0; --q->left)
      if (!start_one(*q, q->left - 1)) --q->threads, q->workers = std::min<int>(q->workers, q->threads);
  held.unlock();
  if (stand_in_needed()) call_stand_in();
}

void Engine::gate(bool closed) {
  {
    Lock held = lock();
    gate_.store(closed);
    if (started_)
      for (Queue* q : queues_) q->sleepers.wake_all();
  }
  if (!closed) notify_waiters();
}

void Engine::before_fork() {
  mutex_.lock();
  watch_mutex_.lock();
  trace.before_fork();
}

// Nobody else has held a lock, so all is whole. Sleeping threads of the parent are not there to be woken; a condition
// variable on which they sleep must not be destroyed.
void Engine::after_fork(bool child) {
  trace.after_fork();
  if (child) {
    trace.abandon();
    while (TaskWait* wait = task_waits_)
      task_waits_ = wait->next_, wait->known_ = false, wait->prev_ = wait->next_ = nullptr;
    for (Queue* q : queues_) {
      q->sleepers.forget();
      q->sleeping.store(1);
      q->threads = q->tasks = q->waiting = 0;
      q->in_tasks.store(0), q->spinning.store(0), q->looking.store(0), q->dozing.store(0), q->called.store(false);
    }
    new (&stopped_) std::condition_variable;
    new (&watch_) std::condition_variable;
    helping_.store(0);
    watch_mark_.store(UINT64_MAX);
    lives_.fetch_add(started_);
    started_ = stand_in_started_ = false, serving_ = 0;
    in_tasks_.store(0);
    new (&stand_in_wake_) std::condition_variable;
    stopping_.store(false);
    if (!idle()) lost_.store(true);
  }
  watch_mutex_.unlock();
  mutex_.unlock();
}

Pending Engine::describe(Op* op, uint64_t seq, uint64_t planned) {
  auto state = seq >= planned  ? Pending::State::issued
               : op->started   ? Pending::State::running
               : op->unmet > 0 ? Pending::State::waiting
                               : Pending::State::ready;
  const char* name = seq >= planned ? op->kernel()->name() : op->name;
  return {state,
          seq,
          0,
          name,
          op->site,
          op->queue->device,
          static_cast<int>(op->queue->kind),
          op->started ? 0 : Budget::needs(*op)};
}

std::vector<Pending> Engine::pending(size_t most) {
  Lock held = lock();
  std::vector<Pending> all;
  uint64_t planned = planned_.load();
  for (uint64_t seq = front_.load(), head = head_.load(); seq < head && all.size() < most; ++seq) {
    Op* op = window_[seq].load(std::memory_order_acquire);
    if (op && !op->dropped) all.push_back(describe(op, seq, planned));
  }
  for (uint64_t seq = front_.load(); seq < planned; ++seq) {
    Op* op = window_.op(seq);
    for (Edge* edge : op ? op->successors : decltype(op->successors){}) {
      auto at = std::lower_bound(all.begin(), all.end(), edge->after->seq,
                                 [](const Pending& one, uint64_t seq) { return one.seq < seq; });
      if (at != all.end() && at->seq == edge->after->seq && at->after == 0) at->after = seq;
    }
  }
  return all;
}

std::vector<Needed> Engine::needed(const std::vector<const Storage*>& results, size_t most) {
  Lock held = lock();
  std::unordered_map<const Storage*, uint64_t> writers;  // of each storage, the last one so far
  std::unordered_map<uint64_t, uint64_t> groups;
  std::vector<Needed> all;
  uint64_t planned = planned_.load();
  for (uint64_t seq = front_.load(), head = head_.load(); seq < head; ++seq) {
    Op* op = window_[seq].load(std::memory_order_acquire);
    if (!op || op->dropped) continue;
    Needed& one = all.emplace_back(Needed{describe(op, seq, planned)});
    for (int i = 0; i < op->n_access; ++i)
      if (auto at = writers.find(op->access(i).storage); op->access(i).mode != Mode::write && at != writers.end())
        one.reads.push_back(at->second);
    for (int i = op->n_access - 1; i >= 0; --i)
      if (op->access(i).mode != Mode::read)
        writers[op->access(i).storage] = seq, one.form = op->access(i).storage->form;
    if (seq >= planned) continue;
    for (Op* member : op->members) groups[seq] = groups[member->seq] = seq;
  }
  std::unordered_set<uint64_t> wanted;
  for (const Storage* storage : results)
    if (auto at = writers.find(storage); at != writers.end()) wanted.insert(at->second);
  size_t first = all.size();
  for (size_t n = 0; first > 0 && n < most;)
    if (wanted.count(all[--first].seq)) wanted.insert(all[first].reads.begin(), all[first].reads.end()), ++n;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  std::erase_if(all, [&](const Needed& one) { return !wanted.count(one.seq); });
  for (Needed& one : all)
    if (auto at = groups.find(one.seq); at != groups.end()) one.group = at->second;
  return all;
}

uint64_t Engine::writer(const Storage& storage) {
  Lock held = lock();
  for (uint64_t seq = head_.load(); --seq >= front_.load();) {
    Op* op = window_[seq].load(std::memory_order_acquire);
    for (int i = 0; op && !op->dropped && i < op->n_access; ++i)
      if (op->access(i).storage == &storage && op->access(i).mode != Mode::read) return seq;
  }
  return 0;
}

EngineStats Engine::stats() {
  Lock held = lock();
  uint64_t head = head_.load();
  uint64_t extra = at_once - noted_at_once_;  // those that took no number
  return {head - 1 + extra,
          planned_.load() - 1 + extra,
          ended_ops_ + at_once,
          failed_,
          waits_.load(),
          helped_.load(),
          dropped_,
          groups_,
          grouped_,
          elided_,
          reused_,
          at_once};
}

}  // namespace forerun
