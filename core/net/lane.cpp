#include "net/lane.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <sstream>
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

// Another rank has said it.
struct Told : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

bool NetLane::attended_lately() const {
  return Clock::now() - attended_at_.load(std::memory_order_relaxed) < kAttended;
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
  give_up("rank " + std::to_string(network_->rank()) + " took no part in " + op.kernel()->name() + at_line(op.site) +
          ": its operand has failed (" + failure.message + ")");
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
  bool said_goodbye = false, napped = false;
  for (;;) {
    bool stop, leaving;
    {
      std::lock_guard<std::mutex> held(mutex_);
      stop = stop_, leaving = leaving_;
    }
    if (stop && unfinished_.load() == 0) break;
    if (!leaving && !failed_.load() && !gives_up_.load() && attended_lately()) {  // a waiting thread is at it
      nap(kAttended, false);
      napped = true;
      continue;
    }
    Driver driver(driver_);
    if (leaving && !said_goodbye && !gives_up_.load()) said_goodbye = true, say_goodbye();
    const Look seen = drive(std::move(driver), napped);
    napped = false;
    const auto now = Clock::now();
    if (seen.moved || seen.late) pause = kFirstNap;
    if (seen.moved) linger_until = now + kLinger;
    const bool waits = said_goodbye && seen.waits;
    if ((said_goodbye || seen.dropped) && !waits) {
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

NetLane::Look NetLane::drive(Driver driver, bool napped) {
  Look seen;
  Ended ended;
  seen.moved = begin_all(ended);
  if (failed_.load() && !dropped_) drop_all(ended);
  const auto before = Clock::now();
  if (!failed_.load()) {
    try {
      if (napped || ++looks_ % kHearing == 0 || flights_.empty()) hear();
      tell_of_waits(), look_for_waits();
      if (gives_up_.load())
        give_up_slowly();
      else
        seen.moved |= look(ended);
    } catch (const Told& told) {
      fail(told.what());
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }
  const auto now = Clock::now();
  seen.late = now - before > (napped ? kAtWorkCold : kAtWork);
  if (seen.moved || seen.late) busy_until_.store(now + kBusy, std::memory_order_relaxed);
  seen.dropped = dropped_, seen.waits = !failed_.load() && others_stay();
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
  for (Op* op : taken) begin(*op, ended);
  return !taken.empty();
}

bool NetLane::look(Ended& ended) {
  bool moved = false;
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    const Phase before = flight->phase;
    if (!advance(*flight)) {
      moved |= flight->phase != before;
      ++flight;
      continue;
    }
    ended.emplace_back(flight->op, nullptr);
    flights_.erase(flight++);  // its kernel may go with the op
    moved = true;
  }
  return moved;
}

bool NetLane::left_behind(const Flight& flight, std::string& why) const {
  const Call& call = flight.kernel->call;
  for (int rank = 0; rank < network_->group_size(call.group); ++rank) {
    if (!call.collective() && rank != call.peer) continue;
    const int world = network_->world_rank(call.group, rank);
    if (!gone_.contains(world) || takes_part(world, flight)) continue;
    why = "rank " + std::to_string(world) + " has ended its program";
    return true;
  }
  return false;
}

// A rank that has begun the operation stays until the others have its values.
bool NetLane::takes_part(int world, const Flight& flight) const {
  const Call& call = flight.kernel->call;
  std::istringstream said(gone_.at(world));
  const char wanted = call.collective() ? ':' : call.kind == Kind::send ? '<' : '>';
  uint64_t begun = 0, count;
  uint32_t group;
  char kind;
  while (said >> group >> kind >> count)
    if (group == call.group && kind == wanted) begun = count;
  return flight.number <= begun;
}

// How many operations this rank has begun, for one of the others: "0:12 0>3 0<1 ", for each group the collectives, the
// messages to that rank, and those from it.
std::string NetLane::farewell(int world) const {
  std::string text;
  auto add = [&](uint32_t group, char kind, uint64_t count) {
    text += std::to_string(group) + kind + std::to_string(count) + ' ';
  };
  for (auto [group, count] : counts_) add(group, ':', count);
  for (auto& [key, count] : messages_)
    if (auto [group, other, sends] = key; other == world) add(group, sends ? '>' : '<', count);
  return text;
}

void NetLane::thread_waits(bool begins) {
  std::lock_guard<std::mutex> held(mutex_);
  waiting_.fetch_add(begins ? 1 : -1);
  call();
}

// Again when a collective has begun meanwhile: the rank waits with the next.
void NetLane::tell_of_waits() {
  uint64_t from = waiting_.load() > 0;
  if ((from == 0 && told_from_ == 0) || said_goodbye_) return;
  for (auto [group, count] : counts_) from += from > 0 ? count : 0;
  if (from == std::exchange(told_from_, from)) return;
  for (int rank = 0; rank < network_->size(); ++rank)
    if (rank != network_->rank()) tell(rank, Message::waits, std::to_string(from > 0 ? begun_with(rank) + 1 : 0));
}

// Collectives begun in which both take part. They run one by one, in the same order on both ranks.
uint64_t NetLane::begun_with(int world) const {
  uint64_t begun = 0;
  for (auto [group, count] : counts_)
    for (int rank = 0; rank < network_->group_size(group); ++rank)
      if (network_->world_rank(group, rank) == world) begun += count;
  return begun;
}

// Ranks may have said it before an earlier collective, and have gone on since.
void NetLane::look_for_waits() {
  bool found = false;
  for (auto [rank, from] : waits_from_) found |= from > 0 && from == begun_with(rank);
  held_up_.store(found, std::memory_order_relaxed);
}

void NetLane::say_goodbye() {
  said_goodbye_ = true;
  try {
    tell_all(Message::leaves, "");
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

// A rank goes when all others do.
bool NetLane::others_stay() const { return gone_.size() + 1 < static_cast<size_t>(network_->size()) || !told_.empty(); }

void NetLane::hear() {
  for (auto told = told_.begin(); told != told_.end();)
    told = told->second->test() ? told_.erase(told) : std::next(told);
  Message message;
  if (network_->size() < 2) return;
  while (network_->hear(message)) {
    message.text[sizeof message.text - 1] = 0;
    if (message.type == Message::failed) throw Told(message.text);
    if (message.type == Message::asks) answer(message);
    if (message.type == Message::answers) answers_[message.rank] = message.text;
    if (message.type == Message::more) partly_[message.rank] += message.text;
    if (message.type == Message::leaves) gone_[message.rank] = partly_[message.rank] + message.text;
    if (message.type == Message::waits) waits_from_[message.rank] = std::stoull(message.text);
  }
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
      tell_all(Message::failed, reason);
    } catch (const std::exception&) {  // there is no way to them
      return fail(reason);
    }
  }
  if (told_.empty() || Clock::now() > told_until_) fail(reason);
}

void NetLane::tell_all(Message::Type type, const std::string& text) {
  if (failed_.load()) return;
  for (int rank = 0; rank < network_->size(); ++rank) {
    if (rank == network_->rank()) continue;
    std::string rest = type == Message::leaves ? farewell(rank) : text;
    Message::Type kind = type == Message::leaves && rest.size() >= sizeof Message::text ? Message::more : type;
    while (kind == Message::more) {  // the last part says that it leaves
      const size_t end = rest.rfind(' ', sizeof Message::text - 2) + 1;
      tell(rank, kind, rest.substr(0, end));
      rest.erase(0, end);
      if (rest.size() < sizeof Message::text) kind = type;
    }
    tell(rank, kind, rest);
  }
}

void NetLane::tell(int rank, Message::Type type, const std::string& text) {
  auto message = std::make_unique<Message>();
  message->type = type, message->rank = network_->rank();
  text.copy(message->text, sizeof message->text - 1);
  RequestPtr request = network_->tell(*message, rank);
  told_.emplace_back(std::move(message), std::move(request));
}

// The network may still look at the operands: they stay for the rest of the process.
void NetLane::drop_all(Ended& ended) {
  dropped_ = true;
  std::string message;
  std::list<Flight> dropped;
  {
    std::lock_guard<std::mutex> held(mutex_);
    message = message_, dropped.swap(flights_);
  }
  struct Kept {
    std::mutex mutex;
    std::list<std::list<Flight>> flights;  // guarded by mutex,
    std::vector<Storage*> operands;        // as are their arrays, where leak checkers find them
  };
  static auto* kept = new Kept;  // never destroyed
  std::lock_guard<std::mutex> held(kept->mutex);
  for (Flight& flight : dropped) {
    for (int i = 0; i < flight.op->n_access; ++i) {
      kept->operands.push_back(flight.op->access(i).storage);
      kept->operands.back()->retain();
    }
    end(*flight.op, message + "; this rank waited in " + flight.op->kernel()->name(), ended);
  }
  kept->flights.push_back(std::move(dropped));
}

void NetLane::end(Op& op, const std::string& message, Ended& ended) {
  ended.emplace_back(&op, Engine::get().failures.made(ErrorKind::rank_failed, op, [&] { return message; }));
}

}  // namespace forerun::net
