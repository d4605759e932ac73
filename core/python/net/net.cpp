// Operations between ranks, for Python: the network, its groups, and the operations issued to it.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/heartbeat.h"
#include "net/lane/net_lane.h"
#include "net/loopback.h"
#include "net/mpi.h"
#include "python/bindings.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/call_sites/op_names.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/submission/arguments.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"
#include "python/runtime/waiting/left_queued.h"

namespace forerun {

namespace {

using net::NetLane;

constexpr int kNetDevice = DeviceTable::kMostDevices - 1;  // has a queue of its own, and no memory

// They live as long as the process: storages may be in flight at its end.
NetLane* lane = nullptr;
net::MpiNetwork* mpi = nullptr;

std::string line_of(uint32_t number) {
  Locked locked;
  InFrontEnd here;
  return hang_if_finalizing([&] {
    const Site where = site(number);
    return where.line > 0 ? where.file + ":" + std::to_string(where.line) : std::string();
  });
}

void open(std::unique_ptr<net::Network> network) {
  if (lane && !lane->failed()) lane->leave();
  lane = new NetLane(std::move(network), line_of);
  between_ranks = lane;
  Engine::get().set_lane(kNetDevice, Queue::Kind::compute, lane);
  Engine::get().use_device(kNetDevice);
}

net::MpiGroup group_of(int64_t values, int64_t checks, int rank, nb::handle world_ranks) {
  return {values, checks, rank, list_of<int>(world_ranks)};
}

void net_open_mpi(const char* path, nb::dict constants, nb::handle dtypes, int64_t values, int64_t checks, int rank,
                  nb::handle world_ranks) {
  net::MpiLibrary library;
  auto number = [&](const char* name) { return nb::cast<int64_t>(constants[name]); };
  library.path = path, library.pointers = number("pointers") != 0;
  library.in_place = number("in_place"), library.any_source = number("any_source"), library.sum = number("sum");
  library.max = number("max"), library.min = number("min"), library.bytes = number("bytes");
  library.dtypes = list_of<int64_t>(dtypes);
  auto network = net::open_mpi(library, group_of(values, checks, rank, world_ranks));
  mpi = network.get();
  open(std::move(network));
}

void net_open_loopback(int ranks, double delay, double bandwidth, int64_t differs_at, int64_t fails_at) {
  open(std::make_unique<net::Loopback>(net::Loopback::Settings{ranks, delay, bandwidth, differs_at, fails_at}));
}

void net_add_group(uint32_t number, int64_t values, int64_t checks, int rank, nb::handle world_ranks) {
  if (!mpi) throw Error(ErrorKind::runtime, "Group: MPI must be open, got none");
  mpi->add_group(number, group_of(values, checks, rank, world_ranks));
}

nb::object net_issue(const char* op_name, int kind, int reduction, uint32_t group, int peer, int64_t count,
                     nb::handle token, nb::handle source, nb::handle target, const char* label) {
  const char* name = intern(op_name);
  if (!lane) throw Error(ErrorKind::runtime, std::string(name) + ": a network must be open, got none");
  net::Call call;
  call.kind = static_cast<net::Kind>(kind), call.reduction = static_cast<net::Reduction>(reduction);
  call.group = group, call.peer = peer, call.count = count, call.label = intern_some(label);
  Array from, to;
  if (!source.is_none()) from = arg(name, source), call.dtype = from.layout.dtype;
  const bool given = is_array(target.ptr());
  const int device = from.storage() ? device_of(from) : 0;
  if (given)
    to = get_writable(name, target.ptr());
  else if (!target.is_none())
    to = Array::make(parse_dtype(name, nb::object(target[1]).ptr()), parse_dims(name, nb::object(target[0]).ptr()),
                     budget_of(device));
  if (to.storage()) call.dtype = to.layout.dtype;
  if (from.storage() || to.storage()) call.shape = (from.storage() ? from : to).layout.shape;
  for (const Array* a : {&from, &to})
    if (a->storage() && !a->layout.contiguous())
      throw Error(ErrorKind::value, std::string(name) + ": operands must be contiguous, got strides");
  for (const Array* a : {&from, &to})
    if (a->storage() && a->storage()->budget->accelerator)
      throw Error(ErrorKind::value,
                  std::string(name) + ": operands must be in the host's memory, got " + device_name(device_of(*a)));
  const int memory = to.storage() ? device_of(to) : device;
  Building op;
  net::build_collective(*op, name, call, get_writable(name, token.ptr()), from.storage() ? &from : nullptr,
                        to.storage() ? &to : nullptr);
  op.issue_placed(kNetDevice, Queue::Kind::compute, memory);
  if (given || !to.storage()) return nb::borrow(target);
  return wrapped(std::move(to));
}

// Not made by an operation: a captured one would make a new token in each run, which orders nothing.
nb::object net_token() {
  Array token = Array::make(DType::u8, Dims{1}, budget_of(0));
  if (!token.storage()->take()) throw Error(ErrorKind::memory, "a network must have memory for its order, got none");
  std::memset(token.storage()->data(), 0, 1);
  token.storage()->materialized = true;
  return wrapped(std::move(token));
}

void net_fail(const char* message) {
  if (lane) lane->fail(message);
}

void net_abort(const char* message) {
  if (lane) lane->abort(message);
}

void net_thread_waits(bool begins) {
  if (lane) lane->thread_waits(begins);
}

std::string net_obstacle(nb::handle world_ranks) {
  const std::vector<int> ranks = list_of<int>(world_ranks);
  return lane ? without_lock([&] { return lane->obstacle(ranks); }) : "";
}

bool net_leave() {
  return !lane || without_lock([] { return lane->leave(); });
}

}  // namespace

void init_net(Module& m) {
  m.def("net_open_mpi", net_open_mpi, nb::arg("path"), nb::arg("constants"), nb::arg("dtypes"), nb::arg("values"),
        nb::arg("checks"), nb::arg("rank"), nb::arg("world_ranks"));
  m.def("net_open_loopback", net_open_loopback, nb::arg("ranks"), nb::arg("delay") = 0.0, nb::arg("bandwidth") = 0.0,
        nb::arg("differs_at") = 0, nb::arg("fails_at") = 0);
  m.def("net_add_group", net_add_group, nb::arg("number"), nb::arg("values"), nb::arg("checks"), nb::arg("rank"),
        nb::arg("world_ranks"));
  m.def("net_issue", net_issue, nb::arg("name"), nb::arg("kind"), nb::arg("reduction"), nb::arg("group"),
        nb::arg("peer"), nb::arg("count"), nb::arg("token"), nb::arg("source").none(), nb::arg("target").none(),
        nb::arg("label") = "");
  m.def("net_token", net_token, "A new array that operations write so that they keep the program's order.");
  m.def("net_fail", net_fail, nb::arg("message"), "Lets all collectives fail, those in flight and later ones.");
  m.def("net_abort", net_abort, nb::arg("message"), "The same, after the other ranks know it.");
  m.def("net_thread_waits", net_thread_waits, nb::arg("begins"),
        "Other ranks need not wait for this one, or may again.");
  m.def("net_obstacle", net_obstacle, nb::arg("world_ranks"),
        "Why an action of these ranks cannot end: one has ended its program, or the network has failed; or nothing.");
  m.def("net_failed", [] { return lane && lane->failed(); });
  m.def("net_leave", net_leave, "Wait until all ranks have ended their operations; False: the network has failed.");
  m.def(
      "net_heartbeat",
      [](int socket, std::string line, double interval) {
        net::start_heartbeat(socket, std::move(line), std::chrono::milliseconds(static_cast<int64_t>(interval * 1e3)));
      },
      nb::arg("socket"), nb::arg("line"), nb::arg("interval"),
      "Write a line to a socket after each interval of seconds, from a thread that needs no lock.");
  m.def("net_processor_ns", [] { return lane ? lane->processor_ns() : 0; });
  m.def("set_rank_failed", [](nb::handle type) { set_rank_failed(type.ptr()); });
}

}  // namespace forerun
