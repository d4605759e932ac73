// What ranks tell each other beside the operations: that one leaves, waits, or has failed, and the lines of operations.
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

// Another rank has said that it has failed.
struct Told : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The message for operations that need a rank that has left.
inline std::string has_ended(int rank) { return "rank " + std::to_string(rank) + " has ended its program"; }

// Used by the driver of the lane alone, so that it needs no lock. Its functions do not wait. They throw
// std::runtime_error with the network's own words.
class RankMessages {
 public:
  RankMessages(Network& network, const OperationCounts& counts, const LineOf& line_of)
      : network_(network), counts_(counts), line_of_(line_of) {}

  // Takes what has arrived. Throws Told.
  void hear();
  void say_goodbye();  // the last message, once
  void tell_failure(const std::string& reason);
  // Whether threads of this rank wait. Again when a collective has begun meanwhile: the rank waits with the next.
  void tell_of_waits(bool waiting);
  void ask(int rank, uint32_t site);  // for a line of that rank

  bool said_goodbye() const { return said_goodbye_; }
  bool all_sent() const { return told_.empty(); }
  // A rank goes when all others do.
  bool others_stay() const { return gone_.size() + 1 < static_cast<size_t>(network_.size()) || !told_.empty(); }
  bool has_left(int rank) const { return gone_.contains(rank); }
  // Whether a rank that takes part in the next collective waits. Ranks may have said it before an earlier one, and have
  // gone on since.
  bool others_wait() const;
  // Nothing: it has not answered.
  const std::string* answer_of(int rank) const;
  // The rank without which an operation cannot end, because it has left; -1: none.
  int missing(const Call& call, uint64_t number) const;

 private:
  void tell(int rank, Message::Type type, const std::string& text);
  void tell_farewell(int rank);
  template <class F>
  void each_other(F tell_one) const {
    for (int rank = 0; rank < network_.size(); ++rank)
      if (rank != network_.rank()) tell_one(rank);
  }

  Network& network_;
  const OperationCounts& counts_;
  const LineOf& line_of_;
  std::map<int, std::string> answers_;        // lines that this rank has asked others for
  std::map<int, std::string> partly_, gone_;  // ranks that issue no more, and how many operations each has begun
  // Of ranks that wait: the number, among the collectives of both, of the first that they have not begun; 0: none.
  std::map<int, uint64_t> waits_from_;
  uint64_t told_from_ = 0;  // the same of this rank, among all of its collectives, as others know it
  bool said_goodbye_ = false;
  std::list<std::pair<std::unique_ptr<Message>, RequestPtr>> told_;  // on their way
};

}  // namespace forerun::net
