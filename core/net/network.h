// The interface of a network between the ranks of a program: collective operations that begin at once and end later.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace forerun::net {

enum class Kind : uint8_t { allreduce, broadcast, allgather, reduce_scatter, all_to_all, send, receive, barrier };
enum class Reduction : uint8_t { none, sum, max, min };

// One operation, as this rank describes it. The descriptions of a collective must be equal on all ranks of its group.
struct Call {
  Kind kind = Kind::barrier;
  Reduction reduction = Reduction::none;
  DType dtype = DType::u8;
  int32_t peer = 0;        // the root of a broadcast, the other rank of a send or receive
  int64_t count = 0;       // elements: of the operand; all_to_all, allgather, reduce_scatter: of each rank's part
  uint32_t group = 0;      // number of the group on this rank
  bool in_place = false;   // the operand is the result
  Dims shape;              // of the operand, or of the array that is received; empty for a barrier
  const char* label = "";  // a label of the elements on which ranks must agree; lives as long as the process

  bool collective() const { return kind != Kind::send && kind != Kind::receive; }
};

// A control message between ranks. Its size is fixed, and the same on every network.
struct Message {
  // more: a part of `leaves`; asks: for the line with a number; answers: the line; waits:
  // RankMessages::announce_waits().
  enum Type : int32_t { none, leaves, failed, more, asks, answers, waits };
  int32_t type = none, rank = -1;
  char text[504] = {};
};

// One operation in flight. Its destruction frees the network's record of it.
class Request {
 public:
  virtual ~Request() = default;
  // Whether it has ended. Throws std::runtime_error if it failed.
  virtual bool test() = 0;
};
using RequestPtr = std::unique_ptr<Request>;

// Used by one thread at a time. Its functions do not wait. They throw std::runtime_error with the network's message.
class Network {
 public:
  virtual ~Network() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int group_size(uint32_t group) const = 0;
  virtual int world_rank(uint32_t group, int rank) const = 0;
  virtual RequestPtr start(const Call& call, const void* from, void* to) = 0;
  // Collectives of the lane itself, on a separate channel: the maximum of each number, or the bytes of each rank.
  virtual RequestPtr compare(uint32_t group, const int64_t* from, int64_t* to, int count) = 0;
  virtual RequestPtr exchange(uint32_t group, const void* from, void* to, int bytes) = 0;
  // Likewise, ahead of the values that `start` sends: bytes to a rank of the group, and at most `bytes` from one.
  // Between two ranks they arrive in the order in which they were sent.
  virtual RequestPtr post(uint32_t group, const void* from, int bytes, int rank) = 0;
  virtual RequestPtr fetch(uint32_t group, void* to, int bytes, int rank) = 0;
  // Sends a message to a rank of the world; the message must not move until the request ends. receive_message() returns
  // whether one has arrived.
  virtual RequestPtr send_message(const Message& message, int rank) = 0;
  virtual bool receive_message(Message& message) = 0;
  // No further message will arrive.
  virtual void stop_listening() {}
};

}  // namespace forerun::net
