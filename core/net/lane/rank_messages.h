// The control messages between ranks: that a rank leaves, is blocked, or has failed, and the lines of operations.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "net/lane/call_identity.h"
#include "net/lane/operation_counts.h"
#include "net/network.h"

namespace forerun::net {

// Another rank has announced its failure.
struct PeerFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The message for operations that need a rank that has left.
inline std::string has_ended(int rank) { return "rank " + std::to_string(rank) + " has ended its program"; }

// Used by the driver of the lane alone, so that it needs no lock. Its functions do not wait. They throw
// std::runtime_error with the network's message.
class RankMessages {
 public:
  RankMessages(Network& network, const OperationCounts& counts, const LineOf& line_of)
      : network_(network), counts_(counts), line_of_(line_of) {}

  // Receives the messages that have arrived. Throws PeerFailure.
  void receive();
  void announce_leave();  // the last message, once
  void announce_failure(const std::string& reason);
  // Announces whether threads of this rank are blocked; repeated after each collective that has begun meanwhile, since
  // the rank is now blocked ahead of the next one.
  void announce_waits(bool waiting);
  void ask_line(int rank, uint32_t site);  // asks that rank for one of its lines

  bool leave_announced() const { return leave_announced_; }
  bool all_sent() const { return sends_.empty(); }
  // Whether this rank must stay: others have not left, or its own messages are in flight.
  bool peers_remain() const { return gone_.size() + 1 < static_cast<size_t>(network_.size()) || !sends_.empty(); }
  bool has_left(int rank) const { return gone_.contains(rank); }
  // Whether a rank that takes part in the last collective begun here is blocked ahead of it. Announcements that are
  // older than the last collective with that rank do not count: the rank has continued since.
  bool peer_waits() const;
  // The line that a rank has answered with; null: it has not answered.
  const std::string* line_from(int rank) const;
  // The rank without which an operation cannot end, because it has left; -1 if no rank has left.
  int missing(const Call& call, uint64_t number) const;

 private:
  void send(int rank, Message::Type type, const std::string& text);
  void send_farewell(int rank);
  template <class F>
  void each_other(F use) const {
    for (int rank = 0; rank < network_.size(); ++rank)
      if (rank != network_.rank()) use(rank);
  }

  Network& network_;
  const OperationCounts& counts_;
  const LineOf& line_of_;
  std::map<int, std::string> answers_;        // lines for which this rank has asked others
  std::map<int, std::string> partly_, gone_;  // ranks that issue no more operations, and how many each has begun
  // For blocked ranks: the number, among the collectives of both, of the first one that they have not begun; 0: not
  // blocked.
  std::map<int, uint64_t> waits_from_;
  uint64_t announced_from_ = 0;  // the same for this rank, among all of its collectives, as last announced
  bool leave_announced_ = false;
  std::list<std::pair<std::unique_ptr<Message>, RequestPtr>> sends_;  // messages in flight
};

}  // namespace forerun::net
