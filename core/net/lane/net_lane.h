// The lane of a network: what it is handed begins at once, and a thread looks after it until it has ended.
//
// A thread that waits for a result does that itself, so that a short operation costs no hand-over between threads;
// otherwise, and where a wait is long, a thread of the lane does, which sleeps between its looks. One of them at a
// time, the driver, uses the network.
//
// Before a collective begins, the ranks of its group compare what they are about to do: one that differs is an error
// on all of them, which names the line of each rank, and no values are mixed up. A message from one rank to another has
// a note ahead of it, which its receiver compares with its own description.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/devices/lane.h"
#include "net/lane/call_identity.h"
#include "net/lane/flights.h"
#include "net/lane/operation_counts.h"
#include "net/lane/rank_messages.h"
#include "net/network.h"

namespace forerun::net {

class NetLane final : public Lane {
 public:
  NetLane(std::unique_ptr<Network> network, LineOf line_of);
  ~NetLane() override;

  Outcome hand_over(Op& op) override;
  // Operations that use each other's values are handed over one by one.
  bool follows(const Lane&) const override { return false; }
  bool attended() const override { return true; }
  bool attend() override;
  void thread_waits(bool begins) override;
  bool held_up() const override { return held_up_.load(std::memory_order_relaxed); }

  // Everything in flight, and everything later, fails with this text. Any thread; the network is not used again.
  void fail(const std::string& message);
  // The same, after the other ranks know it.
  void give_up(const std::string& message);
  // An op of this rank has failed operands: the others would wait for it.
  void left_out(Op& op, const Failure& failure) override;
  // Why these ranks of the world cannot do something together: it has failed, or one of them has left; or nothing.
  // Waits for the driver.
  std::string obstacle(const std::vector<int>& ranks);
  bool failed() const { return failed_.load(); }
  // Tells the others that this rank issues no more, and waits for them to say so. Everything has ended before. False:
  // something failed, and the network must be left alone. The thread ends.
  bool leave();
  // Of the lane's thread, since it began.
  uint64_t processor_ns() const { return processor_ns_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  using Driver = std::unique_lock<std::mutex>;
  using Ended = Flights::Ended;
  struct Look {
    bool moved = false;  // something began or ended
    bool late = false;   // it took so long that values have moved
    // After a failure; after a goodbye; for ranks that have not left.
    bool dropped = false, said_goodbye = false, waits = false;
  };

  void serve();
  // Those of the driver. Gives the driver's place back.
  Look drive(Driver driver, bool napped = false, bool leaving = false);
  bool begin_all(Ended& ended);
  void drop_all(Ended& ended);
  void give_up_slowly();
  void end(Op& op, const std::string& message, Ended& ended);
  void tell_engine(Ended& ended);
  void nap(std::chrono::nanoseconds limit, bool nothing);
  void call();  // wakes the lane's thread, or lets it look again before it sleeps

  const std::unique_ptr<Network> network_;
  const LineOf line_of_;
  std::mutex mutex_;  // held for moments; may be taken by the driver
  std::condition_variable wake_;
  // Guarded by the mutex.
  std::deque<Op*> todo_;
  std::string message_;  // why it failed
  std::string reason_;   // why it is to fail
  bool stop_ = false, leaving_ = false, left_ = false;
  bool called_ = false, sleeps_long_ = false;  // the lane's thread
  std::atomic<bool> failed_{false}, fresh_{false}, gives_up_{false};
  std::atomic<int> unfinished_{0};  // operations that were handed over; raised with the mutex
  std::atomic<int> waiting_{0};     // threads
  std::atomic<bool> held_up_{false};
  std::atomic<Clock::time_point> attended_at_{}, busy_until_{};
  std::atomic<uint64_t> processor_ns_{0};
  std::mutex driver_;  // who has it uses the network, and what follows
  OperationCounts counts_{*network_};
  RankMessages messages_{*network_, counts_, line_of_};
  Flights flights_{*network_, counts_, messages_, line_of_};
  Clock::time_point told_until_{};  // fails at the latest then
  bool dropped_ = false, over_ = false;
  unsigned looks_ = 0;
  std::thread thread_;
};

}  // namespace forerun::net
