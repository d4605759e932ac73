// Operations between ranks: values in program order, and the error on each rank when another one runs other operations,
// has a failed operand, or leaves. Three ranks of this process, each a device with a lane; then the loopback network.
#include "cpu/threads.h"
#include "net/lane/net_lane.h"
#include "net/loopback.h"
#include "net_hub.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;
using net::Call;
using net::Kind;
using net::NetLane;
using net::Reduction;

namespace {

constexpr int kRanks = 3;
constexpr int kMost = 16;  // elements of an array

Array array_of(int64_t n) { return Array::make(DType::i64, Dims{n}, Engine::get().devices[0].budget.get()); }

Op* op_of(int device) {
  Op* op = Engine::get().make_op();
  op->queue = Engine::get().devices[device].compute.get(), op->budget = Engine::get().devices[0].budget.get();
  op->cost = 5000;
  return op;
}

// The message of an array's failure, or an empty one. Waits.
std::string failure_of(const Array& array) {
  wait_for(*array.storage());
  const FailurePtr& failure = array.storage()->failure;
  return failure ? failure->message : "";
}

const int64_t* values(const Array& array) {
  return reinterpret_cast<const int64_t*>(static_cast<Buffer*>(array.storage())->data());
}

// One rank: the device 1 + rank.
struct Rank {
  Rank(std::unique_ptr<net::Network> network, int rank)
      : device(1 + rank), lane(new NetLane(std::move(network), [](uint32_t) { return "program.py:1"; })),
        token(array_of(1)) {}

  void fill(const Array& to, uint64_t value) const {
    Op* op = op_of(0);
    op->emplace<Fill>(value);
    add(*op, to, Mode::write);
    Engine::get().issue(op);
  }
  void fail(const Array& to, const Array& from) const {
    Op* op = op_of(0);
    op->emplace<Mix>(1, 0, false, true);
    add(*op, to, Mode::write), add(*op, from, Mode::read), add(*op, from, Mode::read);
    Engine::get().issue(op);
  }
  void issue(const char* name, Kind kind, const Array* from, const Array* to, int peer = 0, const char* label = "") {
    Call call;
    call.kind = kind, call.dtype = (from ? from : to)->layout.dtype, call.peer = peer, call.label = label;
    call.reduction = kind == Kind::allreduce ? Reduction::sum : Reduction::none;
    call.count = from ? from->layout.size : to ? to->layout.size : 0;
    if (from || to) call.shape = (from ? from : to)->layout.shape;
    Op* op = op_of(device);
    net::build_collective(*op, name, call, token, from, to);
    Engine::get().issue(op);
  }
  Array summed(const Array& x, const char* label = "") {
    Array y = array_of(x.layout.size);
    issue("allreduce", Kind::allreduce, &x, &y, 0, label);
    return y;
  }

  int device;
  std::unique_ptr<NetLane> lane;
  Array token;
};

struct World {
  explicit World(uint32_t seed) : hub(kRanks, seed) {
    for (int r = 0; r < kRanks; ++r) {
      auto network = std::make_unique<HubNetwork>(hub, r);
      networks.push_back(network.get());
      ranks.push_back(std::make_unique<Rank>(std::move(network), r));
    }
    connect(true);
    for (auto& rank : ranks) rank->fill(rank->token, 0);
  }
  ~World() {
    wait_all();
    std::vector<std::thread> leaving;
    for (auto& rank : ranks) leaving.emplace_back([&rank] { rank->lane->leave(); });
    for (std::thread& each : leaving) each.join();
    connect(false);
    Engine::get().failures.take_unseen();
  }
  void connect(bool on) {
    Engine& engine = Engine::get();
    wait_all();
    stop_workers();
    for (auto& rank : ranks) engine.set_lane(rank->device, Queue::Kind::compute, on ? rank->lane.get() : nullptr);
    engine.configure({2, 1, 1, 1}, 2);
  }
  Rank& operator[](int r) { return *ranks[static_cast<size_t>(r)]; }

  Hub hub;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<HubNetwork*> networks;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
// A rank may learn of a failure before it has begun.
bool says_where(const std::string& text) {
  return has(text, "this rank waited in allreduce") || has(text, "this rank came to allreduce");
}

// Each rank issues the same random operations on its own values; each result is known.
void values_are_those_of_the_program_in_order() {
  for (uint32_t seed = 0; seed < (kSanitized ? 3 : 12); ++seed) {
    World world(seed);
    std::mt19937 random(seed);
    std::vector<Array> kept;  // sums, and their expected values
    std::vector<uint64_t> wanted;
    std::vector<Array> x;
    for (int r = 0; r < kRanks; ++r) x.push_back(array_of(kMost));
    for (int step = 0; step < 60; ++step) {
      const auto base = static_cast<uint64_t>(random() % 1000);
      for (int r = 0; r < kRanks; ++r) world[r].fill(x[static_cast<size_t>(r)], base + static_cast<uint64_t>(r));
      const int root = static_cast<int>(random() % kRanks), what = static_cast<int>(random() % 4);
      for (int r = 0; r < kRanks; ++r) {
        Array& mine = x[static_cast<size_t>(r)];
        if (what == 0) kept.push_back(world[r].summed(mine)), wanted.push_back(3 * base + 3);
        if (what == 1) {
          world[r].issue("broadcast", Kind::broadcast, nullptr, &mine, root);
          kept.push_back(world[r].summed(mine)), wanted.push_back(3 * (base + static_cast<uint64_t>(root)));
        }
        if (what == 2) {  // in place, twice: 3 (3 base + 3)
          for (int i = 0; i < 2; ++i) world[r].issue("allreduce", Kind::allreduce, &mine, &mine);
          kept.push_back(world[r].summed(mine)), wanted.push_back(9 * (3 * base + 3));
        }
        if (what == 3) {  // to the right neighbour
          Array got = array_of(kMost);
          world[r].issue("send", Kind::send, &mine, nullptr, (r + 1) % kRanks);
          world[r].issue("recv", Kind::receive, nullptr, &got, (r + kRanks - 1) % kRanks);
          kept.push_back(got), wanted.push_back(base + static_cast<uint64_t>((r + kRanks - 1) % kRanks));
        }
      }
    }
    for (size_t i = 0; i < kept.size(); ++i) {
      check(failure_of(kept[i]).empty(), "no operation fails, got " + failure_of(kept[i]));
      check(values(kept[i])[0] == static_cast<int64_t>(wanted[i]), "value " + std::to_string(i) + ": got " +
                                                                       std::to_string(values(kept[i])[0]) +
                                                                       " instead of " + std::to_string(wanted[i]));
    }
  }
}

void differing_ranks_learn_the_ops_of_the_others() {
  for (int way = 0; way < 3; ++way) {
    World world(static_cast<uint32_t>(way));
    std::vector<Array> y;
    for (int r = 0; r < kRanks; ++r) {
      Array x = array_of(way == 0 && r == 1 ? 5 : 4), other = array_of(4);
      world[r].fill(x, 1);
      if (way == 1 && r == 1) {
        world[r].fill(other, 1);
        world[r].issue("broadcast", Kind::broadcast, nullptr, &other);
        y.push_back(other);
      } else {
        y.push_back(world[r].summed(x, way == 2 && r == 1 ? "gradients 1-2" : "gradients 0-1"));
      }
    }
    const char* others[] = {"allreduce of (5,) int64 (sum) of gradients 0-1 at program.py:1 on rank 1",
                            "broadcast of (4,) int64 from rank 0 at program.py:1 on rank 1",
                            "allreduce of (4,) int64 (sum) of gradients 1-2 at program.py:1 on rank 1"};
    for (const Array& each : y) {
      const std::string text = failure_of(each);
      check(has(text, "allreduce of (4,) int64 (sum) of gradients 0-1 at program.py:1 on rank 0"), "rank 0's: " + text);
      check(has(text, others[way]), "rank 1's: " + text);
    }
  }
}

void a_rank_that_waits_for_others_is_known_to_those_that_wait_for_it() {
  World world(7);
  auto until = [&](bool blocked) {
    for (int r : {0, 2})
      while (world[r].lane->blocked_on_peer() != blocked) std::this_thread::yield();
  };
  std::vector<Array> y;
  for (int round = 0; round < 3; ++round) {
    world[1].lane->thread_waits(true);
    Array x = array_of(4);
    world[0].fill(x, 1);
    for (int r : {0, 2}) y.push_back(world[r].summed(x));
    until(true);
    y.push_back(world[1].summed(x));  // from another thread, or left queued before
    until(false);
    for (int r : {2, 0}) y.push_back(world[r].summed(x));
    until(true);
    world[1].lane->thread_waits(false);
    until(false);
    y.push_back(world[1].summed(x));
  }
  for (const Array& each : y) check(failure_of(each).empty() && values(each)[0] == 3, "the sum: " + failure_of(each));
}

// Values that are sent in their notes, and those sent after them.
void messages_of_all_sizes_keep_their_order() {
  World world(6);
  std::vector<Array> got;
  const int64_t sizes[] = {1, 1 << 16, 256, 257, 0, 3, 1 << 12, 2};
  for (int64_t n : sizes) {
    Array sent = array_of(n);
    got.push_back(array_of(n));
    world[0].fill(sent, static_cast<uint64_t>(n));
    world[0].issue("send", Kind::send, &sent, nullptr, 2);
    world[2].issue("recv", Kind::receive, nullptr, &got.back(), 0);
  }
  for (const Array& each : got) {
    check(failure_of(each).empty(), "it arrives: " + failure_of(each));
    for (int64_t i : {int64_t{0}, each.layout.size - 1})
      check(each.layout.size == 0 || values(each)[i] == each.layout.size + i, "the values of its own send");
  }
}

Array like(DType dtype, Dims shape) { return Array::make(dtype, shape, Engine::get().devices[0].budget.get()); }

// Sends `sent` from rank 1 to rank 0, which expects (2, 3) int64. Returns the failures of the array that it receives,
// and of a later sum of rank 2.
std::pair<std::string, std::string> failures_of(World& world, const Array& sent) {
  Array got = like(DType::i64, {2, 3}), x = array_of(4);
  world[1].fill(sent, 1), world[2].fill(x, 1);
  world[1].issue("send", Kind::send, &sent, nullptr, 0);
  world[0].issue("recv", Kind::receive, nullptr, &got, 1);
  const std::string text = failure_of(got);
  return {text, text.empty() ? "" : failure_of(world[2].summed(x))};
}

void a_receive_of_something_else_is_an_error_on_all_ranks() {
  const std::pair<Array, std::string> others[] = {
      {like(DType::i64, {2, 4}), "(2, 4) int64"},   {like(DType::i64, {2, 2}), "(2, 2) int64"},
      {like(DType::i64, {3, 2}), "(3, 2) int64"},   {like(DType::i64, {6}), "(6,) int64"},
      {like(DType::f64, {2, 3}), "(2, 3) float64"}, {like(DType::i64, {1 << 16}), "(65536,) int64"}};
  for (const auto& [sent, said] : others) {
    World world(7);
    const std::string wanted =
        "recv: shape and dtype must be those of the send, got recv of (2, 3) int64 at "
        "program.py:1 on rank 0; send of " +
        said + " at program.py:1 on rank 1";
    const auto [text, of_another] = failures_of(world, sent);
    check(has(text, wanted), "the receiver's: " + text);
    check(has(of_another, wanted), "another rank's: " + of_another);
    Array later = array_of(1);
    world[1].fill(later, 1);
    check(has(failure_of(world[1].summed(later)), wanted), "the sender's later operations");
  }
}

// The sender may be frozen: then its line is missing from the message, and nothing else.
void a_sender_that_does_not_answer_is_not_waited_for() {
  World world(8);
  world.networks[1]->deaf.store(true);
  const auto [text, of_another] = failures_of(world, like(DType::i64, {7}));
  const std::string wanted = "on rank 0; send of (7,) int64 on rank 1";
  check(has(text, wanted), "the receiver's: " + text);
  check(has(of_another, wanted), "another rank's: " + of_another);
  world.networks[1]->deaf.store(false);
}

void a_failed_operand_fails_the_others() {
  World world(1);
  std::vector<Array> y;
  for (int r = 0; r < kRanks; ++r) {
    Array x = array_of(4);
    world[r].fill(x, 1);
    if (r == 2) world[r].fail(x, x);
    y.push_back(world[r].summed(x));
  }
  check(has(failure_of(y[2]), "told to fail"), "the rank itself has its own failure: " + failure_of(y[2]));
  for (int r = 0; r < 2; ++r) {
    const std::string text = failure_of(y[static_cast<size_t>(r)]);
    check(has(text, "rank 2 took no part in allreduce at program.py:1: its operand has failed (mix: told to fail"),
          "the others learn of it: " + text);
    check(says_where(text), "and where they waited: " + text);
  }
  Array later = array_of(1);
  world[0].fill(later, 1);
  check(has(failure_of(world[0].summed(later)), "rank 2 took no part"), "later operations fail with it");
}

void a_rank_that_stops_notifies_the_others() {
  World world(2);
  Array x = array_of(4);
  world[0].fill(x, 1);
  Array y = world[0].summed(x);
  world[1].lane->abort("rank 1 raised ValueError: a mistake");
  check(has(failure_of(y), "rank 1 raised ValueError: a mistake") && says_where(failure_of(y)), failure_of(y));
}

// Rank 1 leaves; operations that it has begun before succeed for the others, and further ones are an error.
void a_rank_that_has_left_took_part_in_ops_it_began() {
  World world(3);
  std::vector<Array> x, sums;
  for (int r = 0; r < kRanks; ++r) x.push_back(array_of(4)), world[r].fill(x.back(), 1);
  Array got = array_of(4);
  world[1].issue("send", Kind::send, &x[1], nullptr, 0);
  for (int r = 0; r < kRanks; ++r) sums.push_back(world[r].summed(x[static_cast<size_t>(r)]));
  wait_for(*sums[1].storage());
  std::thread leaving([&] { world[1].lane->leave(); });
  world[0].issue("recv", Kind::receive, nullptr, &got, 1);
  check(failure_of(got).empty() && values(got)[0] == 1, "a message that it has sent arrives: " + failure_of(got));
  for (const Array& sum : sums) check(failure_of(sum).empty() && values(sum)[0] == 3, "its last sum");
  while (world[2].lane->obstacle({0, 1}).empty()) std::this_thread::yield();
  check(world[2].lane->obstacle({0, 1}) == "rank 1 has ended its program", "no action with it can end");
  check(world[2].lane->obstacle({0, 2}).empty(), "others without it can");
  Array next = world[0].summed(x[0]);
  check(has(failure_of(next), "rank 1 has ended its program"), "the next one lacks it: " + failure_of(next));
  Array other = world[2].summed(x[2]);
  check(!failure_of(other).empty(), "for all others");
  check(has(world[2].lane->obstacle({0, 2}), "rank 1 has ended its program"), "after a failure none can");
  leaving.join();
}

// A short operation needs no other thread: the issuing thread begins it, and then finds its end. Another thread may be
// using the network at that moment, so this need not hold each time.
void the_thread_that_waits_does_the_work() {
  World world(4);
  const auto me = std::this_thread::get_id();
  bool began = false, ended = false, began_next = false;
  for (int i = 0; i < 10'000 && !(began && ended && began_next); ++i) {
    std::vector<Array> x, y, z;
    for (int r = 0; r < kRanks; ++r) x.push_back(array_of(4)), world[r].fill(x.back(), 1);
    wait_all();
    for (int r = 0; r < kRanks; ++r) {
      world.networks[static_cast<size_t>(r)]->began_by.store({});
      y.push_back(world[r].summed(x[static_cast<size_t>(r)]));
      began |= world.networks[static_cast<size_t>(r)]->began_by.load() == me;
    }
    for (int r = 0; r < kRanks; ++r) world.networks[static_cast<size_t>(r)]->began_by.store({});
    for (int r = 0; r < kRanks; ++r) z.push_back(world[r].summed(y[static_cast<size_t>(r)]));
    for (const Array& each : z) check(failure_of(each).empty() && values(each)[0] == 9, "the sum of sums");
    for (const HubNetwork* each : world.networks) ended |= each->ended_by.load() == me;
    for (const HubNetwork* each : world.networks) began_next |= each->began_by.load() == me;
  }
  check(began, "the thread that issues an operation must begin it, got other threads each time");
  check(ended, "the thread that waits must find the end, got other threads each time");
  check(began_next, "the thread that finds an end must begin the next operation, got other threads each time");
}

// Operations behind a message in flight may allocate memory, whatever it is: the other rank may wait for them.
void a_message_on_its_way_holds_nothing_up() {
  constexpr int64_t n = 1 << 19;
  World world(5);
  Array y = array_of(n), sent = array_of(n);
  for (int i = 0; i < 2; ++i) {     // one after the other
    Array temporary = array_of(n);  // in program order it would be freed when y is written
    world[0].issue("recv", Kind::receive, nullptr, &temporary, 1);
  }
  world[0].fill(y, 7);
  Waiter& waiter = Engine::get().waiter;
  for (int i = 0; i < 400 && !waiter.wait(*y.storage(), std::chrono::milliseconds(50)); ++i) {
  }
  const bool written = y.storage()->settled();
  world[1].fill(sent, 1);
  for (int i = 0; i < 2; ++i) world[1].issue("send", Kind::send, &sent, nullptr, 0);
  check(written, "an array is written while a message is on its way");
  check(values(y)[0] == 7, "its value");
}

// One operation after the other: they take at least as long as their delays and their bytes require.
void the_loopback_network_takes_its_time() {
  using Clock = std::chrono::steady_clock;
  net::Loopback::Settings settings;
  settings.ranks = kRanks, settings.delay = 0.002, settings.bandwidth = 1e6;
  Rank rank(std::make_unique<net::Loopback>(settings), 0);
  Engine& engine = Engine::get();
  wait_all();
  stop_workers();
  engine.set_lane(rank.device, Queue::Kind::compute, rank.lane.get());
  engine.configure({2, 1}, 2);
  rank.fill(rank.token, 0);
  Array x = array_of(1000);
  rank.fill(x, 7);
  wait_for(*x.storage());
  const auto begun = Clock::now();
  Array y = rank.summed(x);
  Array z = rank.summed(y);
  rank.fill(x, 0);  // overtakes the second
  check(failure_of(z).empty() && values(z)[0] == 63, "sums of equal ranks");
  check(Clock::now() - begun >= std::chrono::milliseconds(2 * (2 + 8)), "it takes 2 ms and 8000 bytes, twice");
  check(rank.lane->processor_ns() < 1'000'000'000, "and no core");
  wait_all();
  check(rank.lane->leave(), "all is well at the end");
  stop_workers();
  engine.set_lane(rank.device, Queue::Kind::compute, nullptr);
}

}  // namespace

int main() {
  use_cpu_workers(Engine::get());
  Engine::get().configure({2, 1, 1, 1}, 2);
  values_are_those_of_the_program_in_order();
  differing_ranks_learn_the_ops_of_the_others();
  a_rank_that_waits_for_others_is_known_to_those_that_wait_for_it();
  messages_of_all_sizes_keep_their_order();
  a_receive_of_something_else_is_an_error_on_all_ranks();
  a_sender_that_does_not_answer_is_not_waited_for();
  a_failed_operand_fails_the_others();
  a_rank_that_stops_notifies_the_others();
  a_rank_that_has_left_took_part_in_ops_it_began();
  the_thread_that_waits_does_the_work();
  a_message_on_its_way_holds_nothing_up();
  the_loopback_network_takes_its_time();
  wait_all();
  stop_workers();
  return 0;
}
