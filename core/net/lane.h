// The lane of a network: one thread of its own starts what it is handed, looks after it, and sleeps while it waits.
//
// Before a collective begins, the ranks of its group compare what they are about to do: one that differs is an error
// on all of them, which names the line of each rank, and no values are mixed up.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/graph/lane.h"
#include "net/collective.h"
#include "net/network.h"

namespace forerun::net {

class NetLane final : public Lane {
 public:
  using LineOf = std::function<std::string(uint32_t)>;  // "train.py:12" of the number of a line; any thread

  NetLane(std::unique_ptr<Network> network, LineOf line_of);
  ~NetLane() override;

  Outcome hand_over(Op& op) override;
  // Operations that use each other's values are handed over one by one.
  bool follows(const Lane&) const override { return false; }

  // Everything in flight, and everything later, fails with this text. Any thread; the network is not used again.
  void fail(const std::string& message);
  // The same, after the other ranks know it.
  void give_up(const std::string& message);
  // An op of this rank has failed operands: the others would wait for it.
  void left_out(Op& op, const Failure& failure) override;
  bool failed() const { return failed_.load(); }
  // Tells the others that this rank issues no more, and waits for them to say so. Everything has ended before. False:
  // something failed, and the network must be left alone. The thread ends.
  bool leave();
  // Of the thread, since it began.
  uint64_t processor_ns() const { return processor_ns_.load(std::memory_order_relaxed); }

  static constexpr int kHeader = 192;  // bytes of what ranks say of an operation where they differ

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { comparing, telling, running };
  struct Flight {
    Op* op;
    Collective* kernel;
    uint64_t number = 0;  // among the collectives of its group, or the messages between two ranks of it
    Phase phase = Phase::running;
    RequestPtr request, check;
    int64_t mine[2] = {}, largest[2] = {};
    std::vector<char> header, headers;
  };

  void serve();
  bool look();  // tests what is in flight; whether anything ended or began
  void begin(Op& op);
  void run(Flight& flight);
  bool advance(Flight& flight);  // whether it has ended
  std::string describe(Flight& flight) const;
  std::string divergence(const Flight& flight) const;
  void hear();
  void tell_all(Message::Type type, const std::string& text);
  void tell(int rank, Message::Type type, const std::string& text);
  void drop_all();
  void end(Op& op, const std::string& message);
  bool left_behind(const Flight& flight, std::string& why) const;
  bool takes_part(int world, const Flight& flight) const;  // a rank that has left
  std::string farewell(int world) const;
  void give_up_slowly();
  std::string at_line(uint32_t site) const;

  const std::unique_ptr<Network> network_;
  const LineOf line_of_;
  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by the mutex.
  std::deque<Op*> todo_;
  std::string message_;  // why it failed
  std::string reason_;   // why it is to fail
  bool stop_ = false, leaving_ = false, left_ = false;
  std::atomic<bool> failed_{false}, fresh_{false}, gives_up_{false};
  std::atomic<uint64_t> processor_ns_{0};
  // Of the thread.
  std::list<Flight> flights_;
  std::map<uint32_t, uint64_t> counts_;  // collectives begun, by group
  // Messages begun: by group, rank of the world, and whether this rank sends.
  std::map<std::tuple<uint32_t, int, bool>, uint64_t> messages_;
  std::map<int, std::string> partly_, gone_;  // ranks that issue no more, and how many operations each has begun
  Clock::time_point told_until_{};            // fails at the latest then
  std::list<std::pair<std::unique_ptr<Message>, RequestPtr>> told_;
  bool dropped_ = false;
  Clock::time_point busy_until_{}, linger_until_{};
  std::thread thread_;
};

}  // namespace forerun::net
