#include "net/lane/net_lane.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/system/threads.h"
#include "engine/engine.h"

namespace forerun::net {

namespace {

using namespace std::chrono_literals;

constexpr auto kBusy = 200us;   // for so long after progress the thread polls without a pause,
constexpr auto kLinger = 50us;  // and for so long after the last operation has ended, since another one may follow at
                                // once;
constexpr auto kFirstNap = 50us, kLongestNap = 2000us;  // then with growing pauses
constexpr auto kAttended = 200us;                       // pause between its polls while a waiting thread polls,
constexpr auto kRestless = 10ms;                        // and for so long after progress with nothing in flight;
constexpr auto kIdleNap = 100ms;                        // later: for messages of other ranks
constexpr unsigned kLooksPerReceive = 8;                // polls of operations for each receive of messages
constexpr auto kAtWork = 3us;                           // a poll that takes longer has transferred values
constexpr auto kAtWorkCold = 12us;                      // the same after a nap, which makes everything slower
constexpr auto kAbortGrace = 1s;                        // time to announce an abort, before this rank fails

}  // namespace

NetLane::NetLane(std::unique_ptr<Network> network, LineOf line_of)
    : network_(std::move(network)), line_of_(std::move(line_of)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { serve(); });
  name_thread(thread_, "forerun-net");
}

NetLane::~NetLane() {
  {
    std::lock_guard<std::mutex> held(mutex_);
    stop_ = true;
    wake_thread();
  }
  if (thread_.joinable()) thread_.join();
}

// Called with the mutex.
void NetLane::wake_thread() {
  wake_requested_ = true, fresh_.store(true);
  wake_.notify_all();
}

// The operation begins in this thread, unless another one is the driver. The lane's thread is not woken if it polls
// soon anyway.
Lane::Outcome NetLane::hand_over(Op& op) {
  {
    std::lock_guard<std::mutex> held(mutex_);
    if (failed_.load()) throw Error(ErrorKind::rank_failed, message_ + "; this rank came to " + op.kernel()->name());
    if (stop_) throw Error(ErrorKind::runtime, std::string(op.kernel()->name()) + ": must be issued before the end");
    todo_.push_back(&op), fresh_.store(true);
    unfinished_.fetch_add(1);
    if (sleeps_long_) wake_thread();
  }
  Ended ended;
  if (Driver driver(driver_, std::try_to_lock); driver && !over_ && begin_all(ended))
    busy_until_.store(Clock::now() + kBusy, std::memory_order_relaxed);
  complete_all(ended);
  return Outcome::accepted;
}

// Returns true after recent progress: the next poll may find an end.
bool NetLane::attend() {
  if (unfinished_.load(std::memory_order_relaxed) == 0) return false;
  if (Driver driver(driver_, std::try_to_lock); driver) {
    if (over_ || failed_.load() || aborting_.load()) return false;  // the lane's thread handles failures
    attended_at_.store(Clock::now(), std::memory_order_relaxed);
    drive(std::move(driver));
  }
  if (unfinished_.load() == 0 || Clock::now() >= busy_until_.load(std::memory_order_relaxed)) return false;
  std::this_thread::yield();
  return true;
}

void NetLane::fail(const std::string& message) {
  std::lock_guard<std::mutex> held(mutex_);
  if (failed_.load()) return;
  message_ = message, failed_.store(true);
  wake_thread();
}

void NetLane::abort(const std::string& message) {
  std::lock_guard<std::mutex> held(mutex_);
  if (failed_.load() || aborting_.load()) return;
  abort_reason_ = message, aborting_.store(true);
  wake_thread();
}

void NetLane::left_out(Op& op, const Failure& failure) {
  if (failed_.load() || aborting_.load()) return;
  abort("rank " + std::to_string(network_->rank()) + " took no part in " + op.kernel()->name() +
        at_line(line_of_, op.site) + ": its operand has failed (" + failure.message + ")");
}

std::string NetLane::obstacle(const std::vector<int>& ranks) {
  Driver driver(driver_);
  std::lock_guard<std::mutex> held(mutex_);
  if (failed_.load()) return message_;
  for (int rank : ranks)
    if (messages_.has_left(rank)) return has_ended(rank);
  return "";
}

bool NetLane::leave() {
  {
    std::unique_lock<std::mutex> held(mutex_);
    if (!thread_.joinable()) return !failed_.load();
    leaving_ = true;
    wake_thread();
    wake_.wait(held, [this] { return left_; });
    stop_ = true;
    wake_thread();
  }
  thread_.join();
  std::lock_guard<std::mutex> driver(driver_);
  over_ = true;
  if (!failed_.load()) network_->stop_listening();
  return !failed_.load();
}

// The loop of the lane's thread.
void NetLane::serve() {
  auto pause = std::chrono::duration_cast<std::chrono::nanoseconds>(kFirstNap);
  Clock::time_point linger_until{};
  bool napped = false;
  for (;;) {
    bool stop, leaving;
    {
      std::lock_guard<std::mutex> held(mutex_);
      stop = stop_, leaving = leaving_;
    }
    if (stop && unfinished_.load() == 0) break;
    const bool attended = Clock::now() - attended_at_.load(std::memory_order_relaxed) < kAttended;
    if (attended && !leaving && !failed_.load() && !aborting_.load()) {  // a waiting thread polls
      nap(kAttended, false);
      napped = true;
      continue;
    }
    const Look seen = drive(Driver(driver_), napped, leaving);
    napped = false;
    const auto now = Clock::now();
    if (seen.moved || seen.late) pause = kFirstNap;
    if (seen.moved) linger_until = now + kLinger;
    const bool waits = seen.leave_announced && seen.peers_remain;
    if ((seen.leave_announced || seen.dropped) && !waits) {
      std::lock_guard<std::mutex> held(mutex_);
      if (!left_) left_ = true, wake_.notify_all();
    }
    const bool in_flight = unfinished_.load() > 0;
    if (now < (in_flight ? busy_until_.load() : linger_until)) {
      std::this_thread::yield();
      continue;
    }
    processor_ns_.store(thread_cpu_ns(), std::memory_order_relaxed);
    nap(pause, failed_.load() || (!waits && !aborting_.load()));
    pause = std::min(pause * 5 / 4, std::chrono::nanoseconds(kLongestNap));
    napped = true;
  }
  processor_ns_.store(thread_cpu_ns(), std::memory_order_relaxed);
}

// Sleeps until wake_thread(), for at most `limit`; longer if nothing is in flight and there was no progress for a
// while. hand_over() wakes the thread only from a long sleep.
void NetLane::nap(std::chrono::nanoseconds limit, bool nothing) {
  std::unique_lock<std::mutex> held(mutex_);
  if (nothing && (failed_.load() || unfinished_.load() == 0)) {
    const auto idle = Clock::now() - busy_until_.load();
    limit = idle > kRestless ? std::chrono::nanoseconds(kIdleNap) : std::chrono::nanoseconds(kAttended);
  }
  sleeps_long_ = limit > kAttended;
  wake_.wait_for(held, limit, [this] { return wake_requested_; });
  sleeps_long_ = wake_requested_ = false;
}

NetLane::Look NetLane::drive(Driver driver, bool napped, bool leaving) {
  Look seen;
  Ended ended;
  seen.moved = begin_all(ended);
  if (failed_.load() && !dropped_) drop_all(ended);
  const auto before = Clock::now();
  if (!failed_.load()) {
    try {
      if (leaving && !aborting_.load()) messages_.announce_leave();
      if (napped || ++looks_ % kLooksPerReceive == 0 || flights_.empty()) messages_.receive();
      messages_.announce_waits(waiting_.load() > 0);
      blocked_on_peer_.store(messages_.peer_waits(), std::memory_order_relaxed);
      if (aborting_.load())
        drive_abort();
      else
        seen.moved |= flights_.look(ended);
    } catch (const PeerFailure& failure) {
      fail(failure.what());
    } catch (const std::exception& error) {
      abort(error.what());
    }
  }
  const auto now = Clock::now();
  seen.late = now - before > (napped ? kAtWorkCold : kAtWork);
  if (seen.moved || seen.late) busy_until_.store(now + kBusy, std::memory_order_relaxed);
  seen.dropped = dropped_, seen.leave_announced = messages_.leave_announced();
  seen.peers_remain = !failed_.load() && messages_.peers_remain();
  driver.unlock();
  complete_all(ended);
  return seen;
}

// The ops behind one that has ended are handed over by the thread that found its end.
void NetLane::complete_all(Ended& ended) {
  for (auto& [op, failure] : ended) {
    unfinished_.fetch_sub(1);
    Engine::get().complete_and_go_on(*op, std::move(failure));
  }
}

bool NetLane::begin_all(Ended& ended) {
  if (!fresh_.load(std::memory_order_relaxed)) return false;
  std::deque<Op*> taken;
  {
    std::lock_guard<std::mutex> held(mutex_);
    taken.swap(todo_), fresh_.store(false);
  }
  for (Op* op : taken) {
    if (failed_.load()) {
      end(*op, message_ + "; this rank came to " + op->kernel()->name(), ended);
      continue;
    }
    try {
      flights_.begin(*op);
    } catch (const std::exception& error) {
      abort(error.what());
    }
  }
  return !taken.empty();
}

void NetLane::thread_waits(bool begins) {
  std::lock_guard<std::mutex> held(mutex_);
  waiting_.fetch_add(begins ? 1 : -1);
  wake_thread();
}

// Announces the abort, and fails when the messages have been sent or after the deadline.
void NetLane::drive_abort() {
  std::string reason;
  {
    std::lock_guard<std::mutex> held(mutex_);
    reason = abort_reason_;
  }
  if (abort_deadline_ == Clock::time_point{}) {
    abort_deadline_ = Clock::now() + kAbortGrace;
    try {
      messages_.announce_failure(reason);
    } catch (const std::exception&) {  // the network has failed
      return fail(reason);
    }
  }
  if (messages_.all_sent() || Clock::now() > abort_deadline_) fail(reason);
}

void NetLane::drop_all(Ended& ended) {
  dropped_ = true;
  std::string message;
  {
    std::lock_guard<std::mutex> held(mutex_);
    message = message_;
  }
  for (Op* op : flights_.abandoned()) end(*op, message + "; this rank waited in " + op->kernel()->name(), ended);
}

void NetLane::end(Op& op, const std::string& message, Ended& ended) {
  ended.emplace_back(&op, Engine::get().failures.made(ErrorKind::rank_failed, op, [&] { return message; }));
}

}  // namespace forerun::net
