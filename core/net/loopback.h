// A simulated network: every rank behaves like this one, with a configurable delay. For tests and for measurements of
// overlap: an operation takes `delay` and its bytes divided by `bandwidth`, one after the other, and uses no core. The
// results are those of n ranks with the same operands.
#pragma once
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

#include "net/network.h"

namespace forerun::net {

class Loopback final : public Network {
 public:
  struct Settings {
    int ranks = 2;
    double delay = 0, bandwidth = 0;  // seconds, bytes per second; 0: no limit
    int64_t differs_at = 0;           // the number of the comparison that finds a different operation; 0: never
    int64_t fails_at = 0;             // the number of the operation that the network rejects; 0: never
  };
  explicit Loopback(Settings settings) : settings_(settings) {}

  int rank() const override { return 0; }
  int size() const override { return settings_.ranks; }
  int group_size(uint32_t) const override { return settings_.ranks; }
  int world_rank(uint32_t, int rank) const override { return rank; }

  RequestPtr start(const Call& call, const void* from, void* to) override {
    if (++started_ == settings_.fails_at) throw std::runtime_error("the network is down");
    const auto bytes = static_cast<size_t>(call.count) * item_size(call.dtype);
    const auto n = static_cast<size_t>(settings_.ranks);
    const size_t all = call.kind == Kind::allgather || call.kind == Kind::all_to_all ? n : 1;
    const double delay = call.collective() ? settings_.delay : 0;  // values follow their note without a delay
    return after(time_of(delay, bytes * all), [=, this] { move(call, from, to, bytes, n); });
  }
  RequestPtr compare(uint32_t, const int64_t* from, int64_t* to, int count) override {
    const int64_t more = ++compared_ == settings_.differs_at;
    return after(0, [=] {
      for (int i = 0; i < count; ++i) to[i] = from[i] + more;
    });
  }
  RequestPtr exchange(uint32_t, const void* from, void* to, int bytes) override {
    return after(0, [=, this] {
      for (int i = 0; i < settings_.ranks; ++i)
        std::memcpy(static_cast<char*>(to) + static_cast<ptrdiff_t>(i) * bytes, from, static_cast<size_t>(bytes));
      if (settings_.ranks > 1) std::memcpy(static_cast<char*>(to) + bytes, "something else", 15);
    });
  }
  // The message is the one that this rank expects, which the lane has written there.
  RequestPtr post(uint32_t, const void*, int bytes, int) override {
    return after(time_of(settings_.delay, static_cast<size_t>(bytes)), [] {});
  }
  RequestPtr fetch(uint32_t, void*, int, int) override {
    return after(settings_.delay, [] {});
  }
  RequestPtr send_message(const Message& message, int rank) override {
    if (message.type == Message::leaves) left_ = true, answered_ = rank > answered_ ? rank : answered_;
    return after(0, [] {});
  }
  bool receive_message(Message& message) override {
    if (!left_ || heard_ >= answered_) return false;
    message.type = Message::leaves, message.rank = ++heard_, message.text[0] = 0;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  template <class F>
  struct Timed final : Request {
    Timed(Clock::time_point due, F f) : due(due), f(f) {}
    bool test() override {
      if (Clock::now() < due) return false;
      f();
      return true;
    }
    Clock::time_point due;
    F f;
  };
  double time_of(double delay, size_t bytes) const {
    return delay + (settings_.bandwidth > 0 ? static_cast<double>(bytes) / settings_.bandwidth : 0);
  }
  template <class F>
  RequestPtr after(double seconds, F f) {
    const auto now = Clock::now();
    if (seconds == 0) return std::make_unique<Timed<F>>(now, f);
    free_ = (free_ < now ? now : free_) +
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    return std::make_unique<Timed<F>>(free_, f);
  }
  static void move(const Call& call, const void* from, void* to, size_t bytes, size_t n) {
    if (!to || bytes == 0) return;
    if (call.kind == Kind::allgather) {
      for (size_t i = 0; i < n; ++i) std::memcpy(static_cast<char*>(to) + i * bytes, from, bytes);
    } else if (from && from != to) {
      std::memcpy(to, from, call.kind == Kind::all_to_all ? bytes * n : bytes);
    }
    if (call.reduction != Reduction::sum) return;
    if (call.dtype == DType::f32) times<float>(to, call.count, n);
    if (call.dtype == DType::f64) times<double>(to, call.count, n);
    if (call.dtype == DType::i64) times<int64_t>(to, call.count, n);
  }
  template <class T>
  static void times(void* to, int64_t count, size_t n) {
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(to)[i] *= static_cast<T>(n);
  }

  const Settings settings_;
  Clock::time_point free_{};
  int64_t started_ = 0, compared_ = 0;
  bool left_ = false;
  int answered_ = 0, heard_ = 0;
};

}  // namespace forerun::net
