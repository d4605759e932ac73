// A network between ranks of one process, for tests of the lane: each rank has a lane and an end of the hub, and runs
// independently. An operation ends a random number of polls after the last rank has begun it.
#pragma once
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "net/network.h"

namespace forerun::test {

class Hub {
 public:
  using Bytes = std::vector<char>;
  struct Meeting {
    std::map<int, Bytes> from;
  };

  explicit Hub(int ranks, uint32_t seed = 0) : ranks(ranks), random_(seed) {}

  // A rank contributes its bytes to its next operation of a channel.
  std::shared_ptr<Meeting> meet(int rank, int channel, Bytes bytes) {
    std::lock_guard<std::mutex> held(mutex_);
    auto& meeting = meetings_[{channel, counts_[{channel, rank}]++}];
    if (!meeting) meeting = std::make_shared<Meeting>();
    meeting->from[rank] = std::move(bytes);
    return meeting;
  }
  bool whole(const Meeting& meeting) {
    std::lock_guard<std::mutex> held(mutex_);
    return meeting.from.size() == static_cast<size_t>(ranks);
  }
  void post(int from, int to, int channel, Bytes bytes) {
    std::lock_guard<std::mutex> held(mutex_);
    boxes_[{from, to, channel}].push_back(std::move(bytes));
  }
  // from: -1 for any rank.
  bool take(int from, int to, int channel, Bytes& bytes) {
    std::lock_guard<std::mutex> held(mutex_);
    for (auto& [key, box] : boxes_) {
      const auto [sender, receiver, of] = key;
      if (receiver != to || of != channel || (from >= 0 && sender != from) || box.empty()) continue;
      bytes = std::move(box.front()), box.pop_front();
      return true;
    }
    return false;
  }
  int looks() {
    std::lock_guard<std::mutex> held(mutex_);
    return static_cast<int>(random_() % 4);
  }

  const int ranks;

 private:
  std::mutex mutex_;
  std::mt19937 random_;
  std::map<std::pair<int, int>, int> counts_;
  std::map<std::pair<int, int>, std::shared_ptr<Meeting>> meetings_;
  std::map<std::tuple<int, int, int>, std::deque<Bytes>> boxes_;
};

// Sums are of 64-bit integers.
class HubNetwork final : public net::Network {
 public:
  HubNetwork(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  std::atomic<std::thread::id> began_by{}, ended_by{};  // the last collective
  std::atomic<bool> deaf{false};                        // it receives no messages
  int rank() const override { return rank_; }
  int size() const override { return hub_.ranks; }
  int group_size(uint32_t) const override { return hub_.ranks; }
  int world_rank(uint32_t, int rank) const override { return rank; }

  net::RequestPtr start(const net::Call& call, const void* from, void* to) override {
    const size_t bytes = static_cast<size_t>(call.count) * item_size(call.dtype);
    auto bring = [&](const void* data) {
      return data ? Hub::Bytes(static_cast<const char*>(data), static_cast<const char*>(data) + bytes) : Hub::Bytes();
    };
    switch (call.kind) {
      case net::Kind::send: hub_.post(rank_, call.peer, 0, bring(from)); return after([] { return true; });
      case net::Kind::receive:
        return after([this, to, peer = call.peer] {
          Hub::Bytes got;
          if (!hub_.take(peer, rank_, 0, got)) return false;
          std::memcpy(to, got.data(), got.size());
          return true;
        });
      case net::Kind::broadcast:
        return meeting(0, bring(to), [to, root = call.peer](Hub::Meeting& m) { copy(to, m.from.at(root)); });
      case net::Kind::allgather:
        return meeting(0, bring(from), [to](Hub::Meeting& m) {
          char* end = static_cast<char*>(to);
          for (auto& [rank, each] : m.from) copy(end, each), end += each.size();
        });
      default: return meeting(0, bring(from ? from : to), [to](Hub::Meeting& m) { sum(to, m); });
    }
  }
  net::RequestPtr compare(uint32_t, const int64_t* from, int64_t* to, int count) override {
    auto* begin = reinterpret_cast<const char*>(from);
    began_by.store(std::this_thread::get_id());
    return meeting(1, Hub::Bytes(begin, begin + count * 8), [to, count](Hub::Meeting& m) {
      for (int i = 0; i < count; ++i) to[i] = INT64_MIN;
      for (auto& [rank, each] : m.from)
        for (int i = 0; i < count; ++i) to[i] = std::max(to[i], reinterpret_cast<const int64_t*>(each.data())[i]);
    });
  }
  net::RequestPtr exchange(uint32_t, const void* from, void* to, int bytes) override {
    auto* begin = static_cast<const char*>(from);
    return meeting(1, Hub::Bytes(begin, begin + bytes), [to, bytes](Hub::Meeting& m) {
      for (auto& [rank, each] : m.from) copy(static_cast<char*>(to) + static_cast<ptrdiff_t>(rank) * bytes, each);
    });
  }
  net::RequestPtr post(uint32_t, const void* from, int bytes, int rank) override {
    auto* begin = static_cast<const char*>(from);
    hub_.post(rank_, rank, 2, Hub::Bytes(begin, begin + bytes));
    return after([] { return true; });
  }
  net::RequestPtr fetch(uint32_t, void* to, int, int rank) override {
    return after([this, to, rank] {
      Hub::Bytes got;
      if (!hub_.take(rank, rank_, 2, got)) return false;
      copy(to, got);
      return true;
    });
  }
  net::RequestPtr send_message(const net::Message& message, int rank) override {
    auto* begin = reinterpret_cast<const char*>(&message);
    hub_.post(rank_, rank, 1, Hub::Bytes(begin, begin + sizeof message));
    return after([] { return true; });
  }
  bool receive_message(net::Message& message) override {
    Hub::Bytes got;
    if (deaf.load() || !hub_.take(-1, rank_, 1, got)) return false;
    std::memcpy(&message, got.data(), sizeof message);
    return true;
  }

 private:
  template <class F>
  struct Looked final : net::Request {
    Looked(int looks, F f) : looks(looks), f(f) {}
    bool test() override { return looks-- <= 0 && f(); }
    int looks;
    F f;
  };
  template <class F>
  net::RequestPtr after(F f) {
    return std::make_unique<Looked<F>>(hub_.looks(), f);
  }
  template <class F>
  net::RequestPtr meeting(int channel, Hub::Bytes bytes, F move) {
    auto met = hub_.meet(rank_, channel, std::move(bytes));
    return after([this, met, move] {
      if (!hub_.whole(*met)) return false;
      ended_by.store(std::this_thread::get_id());
      move(*met);
      return true;
    });
  }
  static void copy(void* to, const Hub::Bytes& from) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }
  static void sum(void* to, const Hub::Meeting& m) {
    auto* out = static_cast<int64_t*>(to);
    const size_t n = m.from.begin()->second.size() / 8;
    for (size_t i = 0; i < n; ++i) {
      out[i] = 0;
      for (auto& [rank, each] : m.from) out[i] += reinterpret_cast<const int64_t*>(each.data())[i];
    }
  }

  Hub& hub_;
  const int rank_;
};

}  // namespace forerun::test
