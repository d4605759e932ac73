#include "net/lane/rank_messages.h"

#include <iterator>

namespace forerun::net {

void RankMessages::receive() {
  for (auto sent = sends_.begin(); sent != sends_.end();)
    sent = sent->second->test() ? sends_.erase(sent) : std::next(sent);
  Message message;
  if (network_.size() < 2) return;
  while (network_.receive_message(message)) {
    message.text[sizeof message.text - 1] = 0;
    if (message.type == Message::failed) throw PeerFailure(message.text);
    if (message.type == Message::asks)
      send(message.rank, Message::answers, at_line(line_of_, static_cast<uint32_t>(std::stoul(message.text))));
    if (message.type == Message::answers) answers_[message.rank] = message.text;
    if (message.type == Message::more) partly_[message.rank] += message.text;
    if (message.type == Message::leaves) gone_[message.rank] = partly_[message.rank] + message.text;
    if (message.type == Message::waits) waits_from_[message.rank] = std::stoull(message.text);
  }
}

void RankMessages::announce_leave() {
  if (leave_announced_) return;
  leave_announced_ = true;
  each_other([this](int rank) { send_farewell(rank); });
}

void RankMessages::send_farewell(int rank) {
  std::string rest = counts_.farewell(rank);
  while (rest.size() >= sizeof Message::text) {  // the last part is the message that it leaves
    const size_t end = rest.rfind(' ', sizeof Message::text - 2) + 1;
    send(rank, Message::more, rest.substr(0, end));
    rest.erase(0, end);
  }
  send(rank, Message::leaves, rest);
}

void RankMessages::announce_failure(const std::string& reason) {
  each_other([&](int rank) { send(rank, Message::failed, reason); });
}

void RankMessages::announce_waits(bool waiting) {
  if ((!waiting && announced_from_ == 0) || leave_announced_) return;
  const uint64_t from = waiting ? counts_.collectives() + 1 : 0;
  if (from == std::exchange(announced_from_, from)) return;
  each_other(
      [&](int rank) { send(rank, Message::waits, std::to_string(waiting ? counts_.collectives_with(rank) + 1 : 0)); });
}

bool RankMessages::peer_waits() const {
  bool found = false;
  for (auto [rank, from] : waits_from_) found |= from > 0 && from == counts_.collectives_with(rank);
  return found;
}

void RankMessages::ask_line(int rank, uint32_t site) { send(rank, Message::asks, std::to_string(site)); }

const std::string* RankMessages::line_from(int rank) const {
  const auto found = answers_.find(rank);
  return found == answers_.end() ? nullptr : &found->second;
}

// A rank that has begun the operation stays until the others have its values.
int RankMessages::missing(const Call& call, uint64_t number) const {
  if (gone_.empty()) return -1;
  for (int rank = 0; rank < network_.group_size(call.group); ++rank) {
    if (!call.collective() && rank != call.peer) continue;
    const int world = network_.world_rank(call.group, rank);
    const auto farewell = gone_.find(world);
    if (farewell != gone_.end() && !took_part(farewell->second, call, number)) return world;
  }
  return -1;
}

void RankMessages::send(int rank, Message::Type type, const std::string& text) {
  auto message = std::make_unique<Message>();
  message->type = type, message->rank = network_.rank();
  text.copy(message->text, sizeof message->text - 1);
  RequestPtr request = network_.send_message(*message, rank);
  sends_.emplace_back(std::move(message), std::move(request));
}

}  // namespace forerun::net
