// The operations between ranks that have begun and have not ended. Ranks compare their calls before they begin.
#pragma once
#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "net/collective.h"
#include "net/lane/operation_counts.h"
#include "net/lane/rank_messages.h"
#include "net/network.h"

namespace forerun::net {

// Used by the driver of the lane alone, so that it needs no lock.
class Flights {
 public:
  // Ops that have ended. The engine is notified when the network is free for other threads again.
  using Ended = std::vector<std::pair<Op*, FailurePtr>>;

  Flights(Network& network, OperationCounts& counts, RankMessages& messages, const LineOf& line_of)
      : network_(network), counts_(counts), messages_(messages), line_of_(line_of) {}

  // Begins an operation. Throws std::runtime_error; the operation is then still in flight.
  void begin(Op& op);
  // Tests the operations in flight; returns whether any ended or advanced. Throws std::runtime_error if ranks differ,
  // or one is missing.
  bool look(Ended& ended);
  bool empty() const { return all_.empty(); }
  // Drops all operations in flight, and returns their ops. The network may still use the operands: they are kept for
  // the rest of the process.
  std::vector<Op*> abandoned();

  static constexpr int kHeader = 192;  // bytes of the description of an operation that ranks exchange when they differ

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

  void run(Flight& flight);
  bool advance(Flight& flight);  // returns whether it has ended
  void compared(Flight& flight);
  void send(Flight& flight);
  void receive(Flight& flight);
  bool take_note(Flight& flight);  // returns whether it has ended
  bool answered(const Flight& flight) const;
  int sender(const Flight& flight) const;  // its number in the world
  std::string divergence(const Flight& flight) const;
  std::string mismatch(const Flight& flight) const;

  Network& network_;
  OperationCounts& counts_;
  RankMessages& messages_;
  const LineOf& line_of_;
  std::list<Flight> all_;
};

}  // namespace forerun::net
