#include "net/lane/call_identity.h"

#include "base/dtype.h"

namespace forerun::net {

namespace {

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"allreduce",  "broadcast", "allgather", "reduce_scatter",
                                   "all_to_all", "send",      "recv",      "barrier"};
  return names[static_cast<int>(kind)];
}
const char* name_of(Reduction reduction) {
  constexpr const char* names[] = {"", "sum", "max", "min"};
  return names[static_cast<int>(reduction)];
}

}  // namespace

int64_t digest(const Call& call, uint64_t number) {
  uint64_t hash = 1469598103934665603u;
  for (uint64_t part :
       {static_cast<uint64_t>(call.kind), static_cast<uint64_t>(call.reduction), static_cast<uint64_t>(call.dtype),
        static_cast<uint64_t>(call.count), static_cast<uint64_t>(call.kind == Kind::broadcast ? call.peer : 0),
        static_cast<uint64_t>(call.shape.size()), number})
    hash = (hash ^ part) * 1099511628211u, hash ^= hash >> 29;
  for (int64_t extent : call.shape) hash = (hash ^ static_cast<uint64_t>(extent)) * 1099511628211u, hash ^= hash >> 29;
  for (const char* c = call.label; *c; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211u;
  return static_cast<int64_t>(hash >> 2);  // its negative must be representable, too
}

std::string describe(const Call& call) {
  std::string text = name_of(call.kind);
  if (call.kind != Kind::barrier) text += " of " + to_string(call.shape) + " " + forerun::name(call.dtype);
  if (call.reduction != Reduction::none) text += std::string(" (") + name_of(call.reduction) + ")";
  if (call.kind == Kind::broadcast) text += " from rank " + std::to_string(call.peer);
  if (*call.label) text += std::string(" of ") + call.label;
  return text.size() > 100 ? text.substr(0, 97) + "..." : text;
}

std::string at_line(const LineOf& line_of, uint32_t site) {
  std::string line = line_of ? line_of(site) : "";
  if (line.size() > 80) line = "..." + line.substr(line.size() - 77);
  return line.empty() ? line : " at " + line;
}

}  // namespace forerun::net
