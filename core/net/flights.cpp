// What the lane does with each operation from its beginning to its end: ranks compare what they are about to do.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "net/call_identity.h"
#include "net/lane.h"
#include "net/note.h"

namespace forerun::net {

namespace {

constexpr auto kAsking = std::chrono::seconds(1);  // for the line of another rank

}  // namespace

void NetLane::begin(Op& op, Ended& ended) {
  if (failed_.load()) return end(op, message_ + "; this rank came to " + op.kernel()->name(), ended);
  Flight& flight = flights_.emplace_back();
  flight.op = &op, flight.kernel = static_cast<Collective*>(op.kernel());
  try {
    const Call& call = flight.kernel->call;
    if (!call.collective()) {
      flight.number = ++messages_[{call.group, network_->world_rank(call.group, call.peer), call.kind == Kind::send}];
      return call.kind == Kind::send ? send(flight) : receive(flight);
    }
    flight.number = ++counts_[call.group];
    flight.mine[0] = digest(call, flight.number), flight.mine[1] = -flight.mine[0];
    flight.phase = Phase::comparing;
    flight.check = network_->compare(call.group, flight.mine, flight.largest, 2);
  } catch (const std::exception& error) {
    give_up(std::string(op.kernel()->name()) + ": " + error.what());
  }
}

void NetLane::run(Flight& flight) {
  flight.request =
      network_->start(flight.kernel->call, flight.kernel->source(*flight.op), flight.kernel->target(*flight.op));
}

void NetLane::send(Flight& flight) {
  const Call& call = flight.kernel->call;
  flight.note = write_note(call, flight.op->site, flight.kernel->source(*flight.op));
  flight.check = network_->post(call.group, flight.note.data(), static_cast<int>(flight.note.size()), call.peer);
  if (!fits_note(call)) run(flight);
}

// Receives from one rank come one by one, so that the values belong to the last note.
void NetLane::receive(Flight& flight) {
  const Call& call = flight.kernel->call;
  flight.note = write_note(call, 0, nullptr);
  flight.note.resize(kMostNote);
  flight.phase = Phase::reading;
  flight.check = network_->fetch(call.group, flight.note.data(), kMostNote, call.peer);
}

bool NetLane::take_note(Flight& flight) {
  const Call& call = flight.kernel->call;
  const Note note = read_note(flight.note);
  if (note.dtype != call.dtype || !(note.shape == call.shape)) {
    ask(flight, note.site);
  } else if (!note.values) {
    flight.phase = Phase::running, flight.check.reset();
    run(flight);
  } else if (call.count > 0) {
    std::memcpy(flight.kernel->target(*flight.op), note.values,
                static_cast<size_t>(call.count) * item_size(call.dtype));
  }
  return note.values && flight.phase == Phase::reading;
}

bool NetLane::advance(Flight& flight) {
  const Call& call = flight.kernel->call;
  if (flight.phase == Phase::comparing && flight.check->test()) {
    if (flight.largest[0] == flight.mine[0] && flight.largest[1] == flight.mine[1]) {
      flight.phase = Phase::running, flight.check.reset();
      run(flight);
    } else {
      flight.phase = Phase::telling;
      flight.header.assign(kHeader, 0);
      (describe(call) + at_line(flight.op->site)).copy(flight.header.data(), kHeader - 1);
      flight.headers.assign(static_cast<size_t>(kHeader) * network_->group_size(call.group), 0);
      flight.check = network_->exchange(call.group, flight.header.data(), flight.headers.data(), kHeader);
    }
  }
  if (flight.phase == Phase::telling && flight.check->test()) throw std::runtime_error(divergence(flight));
  if (flight.phase == Phase::reading && flight.check->test() && take_note(flight)) return true;
  if (flight.phase == Phase::asking && answered(flight)) throw std::runtime_error(mismatch(flight));
  if (flight.phase == Phase::running) {
    if (flight.check && flight.check->test()) flight.check.reset();
    if (flight.request && flight.request->test()) flight.request.reset();
    if (!flight.check && !flight.request) return true;
  }
  std::string why;
  if (!gone_.empty() && left_behind(flight, why)) throw std::runtime_error(why);
  return false;
}

// The sender alone knows its lines. It may be frozen, so that it is not waited for for ever.
void NetLane::ask(Flight& flight, uint32_t site) {
  const Call& call = flight.kernel->call;
  flight.phase = Phase::asking, flight.asked_until = Clock::now() + kAsking;
  tell(network_->world_rank(call.group, call.peer), Message::asks, std::to_string(site));
}

void NetLane::answer(const Message& message) {
  tell(message.rank, Message::answers, at_line(static_cast<uint32_t>(std::stoul(message.text))));
}

bool NetLane::answered(const Flight& flight) const {
  const Call& call = flight.kernel->call;
  return answers_.contains(network_->world_rank(call.group, call.peer)) || Clock::now() > flight.asked_until;
}

std::string NetLane::divergence(const Flight& flight) const {
  const Call& call = flight.kernel->call;
  std::string text =
      "all ranks must issue the same collectives in the same order, got as number " + std::to_string(flight.number);
  std::vector<std::string> said;
  for (int rank = 0; rank < network_->group_size(call.group); ++rank) {
    std::string one(flight.headers.data() + static_cast<size_t>(rank) * kHeader);
    if (std::find(said.begin(), said.end(), one) != said.end()) continue;
    said.push_back(one);
    text += std::string(rank ? "; " : " ") + one + " on rank " + std::to_string(network_->world_rank(call.group, rank));
  }
  return text;
}

std::string NetLane::mismatch(const Flight& flight) const {
  const Call& call = flight.kernel->call;
  const Note note = read_note(flight.note);
  Call sent = call;
  sent.kind = Kind::send, sent.dtype = note.dtype, sent.shape = note.shape;
  const int sender = network_->world_rank(call.group, call.peer);
  const auto line = answers_.find(sender);
  return "recv: shape and dtype must be those of the send, got " + describe(call) + at_line(flight.op->site) +
         " on rank " + std::to_string(network_->rank()) + "; " + describe(sent) +
         (line == answers_.end() ? "" : line->second) + " on rank " + std::to_string(sender);
}

std::string NetLane::at_line(uint32_t site) const {
  std::string line = line_of_ ? line_of_(site) : "";
  if (line.size() > 80) line = "..." + line.substr(line.size() - 77);
  return line.empty() ? line : " at " + line;
}

}  // namespace forerun::net
