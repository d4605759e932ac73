// The lane of a network: an operation begins when it is handed over, and is polled until it has ended.
//
// A thread that waits for a result polls, so that a short operation costs no hand-over between threads. Otherwise, and
// in a long wait, the lane's own thread polls, and sleeps in between. The driver, one of these threads at a time, uses
// the network.
//
// Before a collective begins, the ranks of its group compare its descriptions: a difference is an error on all of them,
// which names the line of each rank, and no values are mixed up. A note precedes each message from one rank to another;
// the receiver compares it with its own description.
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
  bool blocked_on_peer() const override { return blocked_on_peer_.load(std::memory_order_relaxed); }

  // All operations, in flight and later, fail with this message. Any thread; the network is not used again.
  void fail(const std::string& message);
  // The same, after it was announced to the other ranks.
  void abort(const std::string& message);
  // Aborts: an op of this rank does not run, because an operand has failed, and the other ranks would wait for it.
  void left_out(Op& op, const Failure& failure) override;
  // The reason why these ranks of the world cannot take part in a collective: the lane has failed, or one of them has
  // left; empty if they can. Waits for the driver.
  std::string obstacle(const std::vector<int>& ranks);
  bool failed() const { return failed_.load(); }
  // Announces that this rank issues no more operations, and waits until the other ranks do; all operations have ended
  // before. The thread ends. False: the lane has failed, and the network must not be used.
  bool leave();
  // The processor time of the lane's thread, since it began.
  uint64_t processor_ns() const { return processor_ns_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  using Driver = std::unique_lock<std::mutex>;
  using Ended = Flights::Ended;
  struct Look {
    bool moved = false;            // an operation began or ended
    bool late = false;             // it took long enough to have transferred values
    bool dropped = false;          // the lane has failed, and nothing is in flight
    bool leave_announced = false;  // see RankMessages
    bool peers_remain = false;
  };

  void serve();
  // One poll by the driver, whose lock it releases.
  Look drive(Driver driver, bool napped = false, bool leaving = false);
  bool begin_all(Ended& ended);
  void drop_all(Ended& ended);
  void drive_abort();
  void end(Op& op, const std::string& message, Ended& ended);
  void complete_all(Ended& ended);
  void nap(std::chrono::nanoseconds limit, bool nothing);
  void wake_thread();  // the lane's; if it is running, it polls once more before it sleeps

  const std::unique_ptr<Network> network_;
  const LineOf line_of_;
  std::mutex mutex_;  // held for moments; may be taken by the driver
  std::condition_variable wake_;
  // Guarded by the mutex.
  std::deque<Op*> todo_;
  std::string message_;       // the message of the failure
  std::string abort_reason_;  // the message of the failure to come
  bool stop_ = false, leaving_ = false, left_ = false;
  bool wake_requested_ = false, sleeps_long_ = false;  // the lane's thread
  std::atomic<bool> failed_{false}, fresh_{false}, aborting_{false};
  std::atomic<int> unfinished_{0};  // operations that were handed over; raised with the mutex
  std::atomic<int> waiting_{0};     // threads that wait
  std::atomic<bool> blocked_on_peer_{false};
  std::atomic<Clock::time_point> attended_at_{}, busy_until_{};
  std::atomic<uint64_t> processor_ns_{0};
  std::mutex driver_;  // held to use the network and the members below
  OperationCounts counts_{*network_};
  RankMessages messages_{*network_, counts_, line_of_};
  Flights flights_{*network_, counts_, messages_, line_of_};
  Clock::time_point abort_deadline_{};  // the end of the time to announce an abort; then the lane fails
  bool dropped_ = false, over_ = false;
  unsigned looks_ = 0;
  std::thread thread_;
};

}  // namespace forerun::net
