// The number of operations that this rank has begun: after it has left, the others see in which ones it took part.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "net/network.h"

namespace forerun::net {

// Used by the driver of the lane alone, so that it needs no lock.
class OperationCounts {
 public:
  explicit OperationCounts(const Network& network) : network_(network) {}
  // Counts an operation that begins. Returns its number among the collectives of its group, or among the messages in
  // the same direction between two ranks of it.
  uint64_t count(const Call& call);
  // Counts collectives in all groups; or those in which another rank takes part, which run one by one, in the same
  // order on both ranks.
  uint64_t collectives() const;
  uint64_t collectives_with(int world) const;
  // All counts, for one of the other ranks: "0:12 0>3 0<1 ", for each group the collectives, the messages to that rank,
  // and those from it.
  std::string farewell(int world) const;

 private:
  const Network& network_;
  std::map<uint32_t, uint64_t> collectives_;  // by group
  // By group, rank of the world, and whether this rank sends.
  std::map<std::tuple<uint32_t, int, bool>, uint64_t> messages_;
};

// Whether the rank with this farewell has begun its part of an operation of this rank with that number.
bool took_part(const std::string& farewell, const Call& call, uint64_t number);

}  // namespace forerun::net
