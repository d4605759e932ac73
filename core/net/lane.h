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

#include "engine/devices/lane.h"
#include "net/collective.h"
#include "net/network.h"
#include "net/note.h"

namespace forerun::net {

class NetLane final : public Lane {
 public:
  using LineOf = std::function<std::string(uint32_t)>;  // "train.py:12" of the number of a line; any thread

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
  bool failed() const { return failed_.load(); }
  // Tells the others that this rank issues no more, and waits for them to say so. Everything has ended before. False:
  // something failed, and the network must be left alone. The thread ends.
  bool leave();
  // Of the lane's thread, since it began.
  uint64_t processor_ns() const { return processor_ns_.load(std::memory_order_relaxed); }

  static constexpr int kHeader = 192;  // bytes of what ranks say of an operation where they differ

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { comparing, telling, reading, asking, running };
  struct Flight {
    Op* op;
    Collective* kernel;
    uint64_t number = 0;  // among the collectives of its group, or the messages between two ranks of it
    Phase phase = Phase::running;
    RequestPtr request, check;
    int64_t mine[2] = {}, largest[2] = {};
    std::vector<char> header, headers, note;
    Clock::time_point asked_until{};
  };

  using Driver = std::unique_lock<std::mutex>;
  struct Look {
    bool moved = false;                   // something began or ended
    bool late = false;                    // it took so long that values have moved
    bool dropped = false, waits = false;  // after a failure; for ranks that have not left
  };
  // Ops that have ended, which the engine learns when the network is free for others again.
  using Ended = std::vector<std::pair<Op*, FailurePtr>>;

  void serve();
  // Those of the driver. Gives the driver's place back.
  Look drive(Driver driver, bool napped = false);
  bool begin_all(Ended& ended);
  bool look(Ended& ended);  // tests what is in flight; whether anything ended or began
  void tell_engine(Ended& ended);
  bool attended_lately() const;
  void nap(std::chrono::nanoseconds limit, bool nothing);
  void begin(Op& op, Ended& ended);
  void run(Flight& flight);
  bool advance(Flight& flight);  // whether it has ended
  void send(Flight& flight);
  void receive(Flight& flight);
  bool take_note(Flight& flight);  // whether it has ended
  void ask(Flight& flight, uint32_t site);
  void answer(const Message& message);
  bool answered(const Flight& flight) const;
  std::string divergence(const Flight& flight) const;
  std::string mismatch(const Flight& flight) const;
  void tell_of_waits();
  uint64_t begun_with(int world) const;
  void look_for_waits();
  void say_goodbye();
  bool others_stay() const;
  void hear();
  void tell_all(Message::Type type, const std::string& text);
  void tell(int rank, Message::Type type, const std::string& text);
  void drop_all(Ended& ended);
  void end(Op& op, const std::string& message, Ended& ended);
  void call();  // wakes the lane's thread, or lets it look again before it sleeps
  bool left_behind(const Flight& flight, std::string& why) const;
  bool takes_part(int world, const Flight& flight) const;  // a rank that has left
  std::string farewell(int world) const;
  void give_up_slowly();
  std::string at_line(uint32_t site) const;

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
  std::list<Flight> flights_;
  std::map<uint32_t, uint64_t> counts_;  // collectives begun, by group
  // Messages begun: by group, rank of the world, and whether this rank sends.
  std::map<std::tuple<uint32_t, int, bool>, uint64_t> messages_;
  std::map<int, std::string> answers_;        // lines that this rank has asked others for
  std::map<int, std::string> partly_, gone_;  // ranks that issue no more, and how many operations each has begun
  // Of ranks that wait: the number, among the collectives of both, of the first that they have not begun; 0: none.
  std::map<int, uint64_t> waits_from_;
  uint64_t told_from_ = 0;          // the same of this rank, among all of its collectives, as others know it
  bool said_goodbye_ = false;       // no more messages
  Clock::time_point told_until_{};  // fails at the latest then
  std::list<std::pair<std::unique_ptr<Message>, RequestPtr>> told_;
  bool dropped_ = false, over_ = false;
  unsigned looks_ = 0;
  std::thread thread_;
};

}  // namespace forerun::net
