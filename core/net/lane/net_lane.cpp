#include "net/lane/net_lane.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "engine/engine.h"

namespace forerun::net {

namespace {

using namespace std::chrono_literals;

constexpr auto kBusy = 200us;                           // it looks without a pause after something happened,
constexpr auto kLinger = 50us;                          // also where nothing is in flight: the next may come at once,
constexpr auto kFirstNap = 50us, kLongestNap = 2000us;  // and then with longer and longer ones
constexpr auto kAttended = 200us;   // between the looks of the lane's thread, where waiting ones look
constexpr auto kRestless = 10ms;    // for so long after something happened it also looks so often,
constexpr auto kIdleNap = 100ms;    // and later so seldom: for messages of other ranks
constexpr unsigned kHearing = 8;    // looks at operations for one at messages of other ranks
constexpr auto kAtWork = 3us;       // a look that takes so long has moved values
constexpr auto kAtWorkCold = 12us;  // the same behind a nap, after which all takes longer
constexpr auto kTelling = 1s;       // for messages to the others, before this rank fails

uint64_t thread_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

NetLane::NetLane(std::unique_ptr<Network> network, LineOf line_of)
    : network_(std::move(network)), line_of_(std::move(line_of)) {
  sigset_t all, before;  // signals are for threads of the front end
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { serve(); });
#ifdef __linux__  // elsewhere a thread names but itself
  pthread_setname_np(thread_.native_handle(), "forerun-net");
#endif
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

NetLane::~NetLane() {
  {
    std::lock_guard<std::mutex> held(mutex_);
    stop_ = true;
    call();
  }
  if (thread_.joinable()) thread_.join();
}

// With the mutex.
void NetLane::call() {
  called_ = true, fresh_.store(true);
  wake_.notify_all();
}

// It begins in this thread, unless another is at the network. The lane's thread is not woken if it looks by itself
// soon.
Lane::Outcome NetLane::hand_over(Op& op) {
  {
    std::lock_guard<std::mutex> held(mutex_);
    if (failed_.load()) throw Error(ErrorKind::rank_failed, message_ + "; this rank came to " + op.kernel()->name());
    if (stop_) throw Error(ErrorKind::runtime, std::string(op.kernel()->name()) + ": must be issued before the end");
    todo_.push_back(&op), fresh_.store(true);
    unfinished_.fetch_add(1);
    if (sleeps_long_) call();
  }
  Ended ended;
  if (Driver driver(driver_, std::try_to_lock); driver && !over_ && begin_all(ended))
    busy_until_.store(Clock::now() + kBusy, std::memory_order_relaxed);
  tell_engine(ended);
  return Outcome::accepted;
}

// Worth it: something has moved lately, and the next look may find its end.
bool NetLane::attend() {
  if (unfinished_.load(std::memory_order_relaxed) == 0) return false;
  if (Driver driver(driver_, std::try_to_lock); driver) {
    if (over_ || failed_.load() || gives_up_.load()) return false;  // the lane's thread sees to that
    attended_at_.store(Clock::now(), std::memory_order_relaxed);
    drive(std::move(driver));
  }
  if (unfinished_.load() == 0 || Clock::now() >= busy_until_.load(std::memory_order_relaxed)) return false;
  sched_yield();
  return true;
}

void NetLane::fail(const std::string& message) {
  std::lock_guard<std::mutex> held(mutex_);
  if (failed_.load()) return;
  message_ = message, failed_.store(true);
  call();
}

void NetLane::give_up(const std::string& message) {
  std::lock_guard<std::mutex> held(mutex_);
  if (failed_.load() || gives_up_.load()) return;
  reason_ = message, gives_up_.store(true);
  call();
}

void NetLane::left_out(Op& op, const Failure& failure) {
  if (failed_.load() || gives_up_.load()) return;
  give_up("rank " + std::to_string(network_->rank()) + " took no part in " + op.kernel()->name() +
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
    call();
    wake_.wait(held, [this] { return left_; });
    stop_ = true;
    call();
  }
  thread_.join();
  std::lock_guard<std::mutex> driver(driver_);
  over_ = true;
  if (!failed_.load()) network_->stop_listening();
  return !failed_.load();
}

// The life of the lane's thread.
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
    if (attended && !leaving && !failed_.load() && !gives_up_.load()) {  // a waiting thread is at it
      nap(kAttended, false);
      napped = true;
      continue;
    }
    const Look seen = drive(Driver(driver_), napped, leaving);
    napped = false;
    const auto now = Clock::now();
    if (seen.moved || seen.late) pause = kFirstNap;
    if (seen.moved) linger_until = now + kLinger;
    const bool waits = seen.said_goodbye && seen.waits;
    if ((seen.said_goodbye || seen.dropped) && !waits) {
      std::lock_guard<std::mutex> held(mutex_);
      if (!left_) left_ = true, wake_.notify_all();
    }
    const bool flies = unfinished_.load() > 0;
    if (now < (flies ? busy_until_.load() : linger_until)) {
      sched_yield();
      continue;
    }
    processor_ns_.store(thread_ns(), std::memory_order_relaxed);
    nap(pause, failed_.load() || (!waits && !gives_up_.load()));
    pause = std::min(pause * 5 / 4, std::chrono::nanoseconds(kLongestNap));
    napped = true;
  }
  processor_ns_.store(thread_ns(), std::memory_order_relaxed);
}

// It sleeps until it is called, for `limit` at most; longer if it has nothing to look after, and nothing was in flight
// for a while. A thread that hands something over calls it only from a long sleep.
void NetLane::nap(std::chrono::nanoseconds limit, bool nothing) {
  std::unique_lock<std::mutex> held(mutex_);
  if (nothing && (failed_.load() || unfinished_.load() == 0)) {
    const auto idle = Clock::now() - busy_until_.load();
    limit = idle > kRestless ? std::chrono::nanoseconds(kIdleNap) : std::chrono::nanoseconds(kAttended);
  }
  sleeps_long_ = limit > kAttended;
  wake_.wait_for(held, limit, [this] { return called_; });
  sleeps_long_ = called_ = false;
}

NetLane::Look NetLane::drive(Driver driver, bool napped, bool leaving) {
  Look seen;
  Ended ended;
  seen.moved = begin_all(ended);
  if (failed_.load() && !dropped_) drop_all(ended);
  const auto before = Clock::now();
  if (!failed_.load()) {
    try {
      if (leaving && !gives_up_.load()) messages_.say_goodbye();
      if (napped || ++looks_ % kHearing == 0 || flights_.empty()) messages_.hear();
      messages_.tell_of_waits(waiting_.load() > 0);
      held_up_.store(messages_.others_wait(), std::memory_order_relaxed);
      if (gives_up_.load())
        give_up_slowly();
      else
        seen.moved |= flights_.look(ended);
    } catch (const Told& told) {
      fail(told.what());
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }
  const auto now = Clock::now();
  seen.late = now - before > (napped ? kAtWorkCold : kAtWork);
  if (seen.moved || seen.late) busy_until_.store(now + kBusy, std::memory_order_relaxed);
  seen.dropped = dropped_, seen.said_goodbye = messages_.said_goodbye();
  seen.waits = !failed_.load() && messages_.others_stay();
  driver.unlock();
  tell_engine(ended);
  return seen;
}

// The ops behind one that has ended are handed over by the thread that found its end.
void NetLane::tell_engine(Ended& ended) {
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
      give_up(error.what());
    }
  }
  return !taken.empty();
}

void NetLane::thread_waits(bool begins) {
  std::lock_guard<std::mutex> held(mutex_);
  waiting_.fetch_add(begins ? 1 : -1);
  call();
}

// Operations in flight fail at the end, with all that come later.
void NetLane::give_up_slowly() {
  std::string reason;
  {
    std::lock_guard<std::mutex> held(mutex_);
    reason = reason_;
  }
  if (told_until_ == Clock::time_point{}) {
    told_until_ = Clock::now() + kTelling;
    try {
      messages_.tell_failure(reason);
    } catch (const std::exception&) {  // there is no way to them
      return fail(reason);
    }
  }
  if (messages_.all_sent() || Clock::now() > told_until_) fail(reason);
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
