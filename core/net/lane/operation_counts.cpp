#include "net/lane/operation_counts.h"

#include <sstream>

namespace forerun::net {

uint64_t OperationCounts::count(const Call& call) {
  if (call.collective()) return ++collectives_[call.group];
  return ++messages_[{call.group, network_.world_rank(call.group, call.peer), call.kind == Kind::send}];
}

uint64_t OperationCounts::collectives() const {
  uint64_t begun = 0;
  for (auto [group, count] : collectives_) begun += count;
  return begun;
}

uint64_t OperationCounts::collectives_with(int world) const {
  uint64_t begun = 0;
  for (auto [group, count] : collectives_)
    for (int rank = 0; rank < network_.group_size(group); ++rank)
      if (network_.world_rank(group, rank) == world) begun += count;
  return begun;
}

std::string OperationCounts::farewell(int world) const {
  std::string text;
  auto add = [&](uint32_t group, char kind, uint64_t count) {
    text += std::to_string(group) + kind + std::to_string(count) + ' ';
  };
  for (auto [group, count] : collectives_) add(group, ':', count);
  for (auto& [key, count] : messages_)
    if (auto [group, other, sends] = key; other == world) add(group, sends ? '>' : '<', count);
  return text;
}

bool took_part(const std::string& farewell, const Call& call, uint64_t number) {
  std::istringstream counts(farewell);
  const char wanted = call.collective() ? ':' : call.kind == Kind::send ? '<' : '>';
  uint64_t begun = 0, count;
  uint32_t group;
  char kind;
  while (counts >> group >> kind >> count)
    if (group == call.group && kind == wanted) begun = count;
  return number <= begun;
}

}  // namespace forerun::net
