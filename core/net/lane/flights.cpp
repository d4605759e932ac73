#include "net/lane/flights.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include "net/lane/call_identity.h"
#include "net/lane/note.h"

namespace forerun::net {

namespace {

constexpr auto kAsking = std::chrono::seconds(1);  // time to wait for the line of another rank

}  // namespace

void Flights::begin(Op& op) {
  Flight& flight = all_.emplace_back();
  flight.op = &op, flight.kernel = static_cast<Collective*>(op.kernel());
  const Call& call = flight.kernel->call;
  try {
    flight.number = counts_.count(call);
    if (!call.collective()) return call.kind == Kind::send ? send(flight) : receive(flight);
    flight.mine[0] = digest(call, flight.number), flight.mine[1] = -flight.mine[0];
    flight.phase = Phase::comparing;
    flight.check = network_.compare(call.group, flight.mine, flight.largest, 2);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(op.kernel()->name()) + ": " + error.what());
  }
}

bool Flights::look(Ended& ended) {
  bool moved = false;
  for (auto flight = all_.begin(); flight != all_.end();) {
    const Phase before = flight->phase;
    if (!advance(*flight)) {
      moved |= flight->phase != before;
      ++flight;
      continue;
    }
    ended.emplace_back(flight->op, nullptr);
    all_.erase(flight++);  // its kernel may be destroyed with the op
    moved = true;
  }
  return moved;
}

std::vector<Op*> Flights::abandoned() {
  struct Kept {
    std::mutex mutex;
    std::list<std::list<Flight>> flights;  // guarded by mutex,
    std::vector<Storage*> operands;        // as are their arrays; kept reachable for leak checkers
  };
  static auto* kept = new Kept;  // never destroyed
  std::lock_guard<std::mutex> held(kept->mutex);
  std::vector<Op*> ops;
  for (Flight& flight : all_) {
    for (int i = 0; i < flight.op->n_access; ++i) {
      kept->operands.push_back(flight.op->access(i).storage);
      kept->operands.back()->retain();
    }
    ops.push_back(flight.op);
  }
  kept->flights.emplace_back().swap(all_);
  return ops;
}

void Flights::run(Flight& flight) {
  flight.request =
      network_.start(flight.kernel->call, flight.kernel->source(*flight.op), flight.kernel->target(*flight.op));
}

void Flights::send(Flight& flight) {
  const Call& call = flight.kernel->call;
  flight.note = write_note(call, flight.op->site, flight.kernel->source(*flight.op));
  flight.check = network_.post(call.group, flight.note.data(), static_cast<int>(flight.note.size()), call.peer);
  if (!fits_note(call)) run(flight);
}

// Receives from one rank proceed one by one, so that the values belong to the last note.
void Flights::receive(Flight& flight) {
  const Call& call = flight.kernel->call;
  flight.note = write_note(call, 0, nullptr);
  flight.note.resize(kMostNote);
  flight.phase = Phase::reading;
  flight.check = network_.fetch(call.group, flight.note.data(), kMostNote, call.peer);
}

bool Flights::take_note(Flight& flight) {
  const Call& call = flight.kernel->call;
  const Note note = read_note(flight.note);
  if (note.dtype != call.dtype || !(note.shape == call.shape)) {
    flight.phase = Phase::asking, flight.asked_until = Clock::now() + kAsking;
    messages_.ask_line(sender(flight), note.site);  // only that rank knows its lines; it may be frozen
  } else if (!note.values) {
    flight.phase = Phase::running, flight.check.reset();
    run(flight);
  } else if (call.count > 0) {
    std::memcpy(flight.kernel->target(*flight.op), note.values,
                static_cast<size_t>(call.count) * item_size(call.dtype));
  }
  return note.values && flight.phase == Phase::reading;
}

bool Flights::advance(Flight& flight) {
  if (flight.phase == Phase::comparing && flight.check->test()) compared(flight);
  if (flight.phase == Phase::telling && flight.check->test()) throw std::runtime_error(divergence(flight));
  if (flight.phase == Phase::reading && flight.check->test() && take_note(flight)) return true;
  if (flight.phase == Phase::asking && answered(flight)) throw std::runtime_error(mismatch(flight));
  if (flight.phase == Phase::running) {
    if (flight.check && flight.check->test()) flight.check.reset();
    if (flight.request && flight.request->test()) flight.request.reset();
    if (!flight.check && !flight.request) return true;
  }
  if (const int rank = messages_.missing(flight.kernel->call, flight.number); rank >= 0)
    throw std::runtime_error(has_ended(rank));
  return false;
}

// Ranks whose calls agree begin; otherwise they exchange descriptions of their calls.
void Flights::compared(Flight& flight) {
  const Call& call = flight.kernel->call;
  if (flight.largest[0] == flight.mine[0] && flight.largest[1] == flight.mine[1]) {
    flight.phase = Phase::running, flight.check.reset();
    return run(flight);
  }
  flight.phase = Phase::telling;
  flight.header.assign(kHeader, 0);
  (describe(call) + at_line(line_of_, flight.op->site)).copy(flight.header.data(), kHeader - 1);
  flight.headers.assign(static_cast<size_t>(kHeader) * network_.group_size(call.group), 0);
  flight.check = network_.exchange(call.group, flight.header.data(), flight.headers.data(), kHeader);
}

int Flights::sender(const Flight& flight) const {
  const Call& call = flight.kernel->call;
  return network_.world_rank(call.group, call.peer);
}

bool Flights::answered(const Flight& flight) const {
  return messages_.line_from(sender(flight)) || Clock::now() > flight.asked_until;
}

std::string Flights::divergence(const Flight& flight) const {
  const Call& call = flight.kernel->call;
  std::string text =
      "all ranks must issue the same collectives in the same order, got as number " + std::to_string(flight.number);
  std::vector<std::string> listed;
  for (int rank = 0; rank < network_.group_size(call.group); ++rank) {
    std::string one(flight.headers.data() + static_cast<size_t>(rank) * kHeader);
    if (std::find(listed.begin(), listed.end(), one) != listed.end()) continue;
    listed.push_back(one);
    text += std::string(rank ? "; " : " ") + one + " on rank " + std::to_string(network_.world_rank(call.group, rank));
  }
  return text;
}

std::string Flights::mismatch(const Flight& flight) const {
  const Call& call = flight.kernel->call;
  const Note note = read_note(flight.note);
  Call sent = call;
  sent.kind = Kind::send, sent.dtype = note.dtype, sent.shape = note.shape;
  const std::string* line = messages_.line_from(sender(flight));
  return "recv: shape and dtype must be those of the send, got " + describe(call) + at_line(line_of_, flight.op->site) +
         " on rank " + std::to_string(network_.rank()) + "; " + describe(sent) + (line ? *line : "") + " on rank " +
         std::to_string(sender(flight));
}

}  // namespace forerun::net
