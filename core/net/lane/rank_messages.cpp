#include "net/lane/rank_messages.h"

#include <iterator>

namespace forerun::net {

void RankMessages::hear() {
  for (auto told = told_.begin(); told != told_.end();)
    told = told->second->test() ? told_.erase(told) : std::next(told);
  Message message;
  if (network_.size() < 2) return;
  while (network_.hear(message)) {
    message.text[sizeof message.text - 1] = 0;
    if (message.type == Message::failed) throw Told(message.text);
    if (message.type == Message::asks)
      tell(message.rank, Message::answers, at_line(line_of_, static_cast<uint32_t>(std::stoul(message.text))));
    if (message.type == Message::answers) answers_[message.rank] = message.text;
    if (message.type == Message::more) partly_[message.rank] += message.text;
    if (message.type == Message::leaves) gone_[message.rank] = partly_[message.rank] + message.text;
    if (message.type == Message::waits) waits_from_[message.rank] = std::stoull(message.text);
  }
}

void RankMessages::say_goodbye() {
  if (said_goodbye_) return;
  said_goodbye_ = true;
  each_other([this](int rank) { tell_farewell(rank); });
}

void RankMessages::tell_farewell(int rank) {
  std::string rest = counts_.farewell(rank);
  while (rest.size() >= sizeof Message::text) {  // the last part says that it leaves
    const size_t end = rest.rfind(' ', sizeof Message::text - 2) + 1;
    tell(rank, Message::more, rest.substr(0, end));
    rest.erase(0, end);
  }
  tell(rank, Message::leaves, rest);
}

void RankMessages::tell_failure(const std::string& reason) {
  each_other([&](int rank) { tell(rank, Message::failed, reason); });
}

void RankMessages::tell_of_waits(bool waiting) {
  if ((!waiting && told_from_ == 0) || said_goodbye_) return;
  const uint64_t from = waiting ? counts_.collectives() + 1 : 0;
  if (from == std::exchange(told_from_, from)) return;
  each_other(
      [&](int rank) { tell(rank, Message::waits, std::to_string(waiting ? counts_.collectives_with(rank) + 1 : 0)); });
}

bool RankMessages::others_wait() const {
  bool found = false;
  for (auto [rank, from] : waits_from_) found |= from > 0 && from == counts_.collectives_with(rank);
  return found;
}

void RankMessages::ask(int rank, uint32_t site) { tell(rank, Message::asks, std::to_string(site)); }

const std::string* RankMessages::answer_of(int rank) const {
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

void RankMessages::tell(int rank, Message::Type type, const std::string& text) {
  auto message = std::make_unique<Message>();
  message->type = type, message->rank = network_.rank();
  text.copy(message->text, sizeof message->text - 1);
  RequestPtr request = network_.tell(*message, rank);
  told_.emplace_back(std::move(message), std::move(request));
}

}  // namespace forerun::net
