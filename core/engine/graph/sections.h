// The order of accesses where ops use parts of a storage.
//
// A storage that is used as a whole has its last write, and the reads since then (Storage::writer, readers). Accesses
// of parts are kept separately, by their regions: each Section has the same fields for one region, and an access waits
// for those of the whole and of all regions that overlap its own. An access of the whole is ordered with all of them,
// and a write of the whole replaces all of them.
//
// The engine relies on these rules:
//  - A write of a part takes no memory and replaces none, as others may use it meanwhile: so it is planned as such
//    only if the memory is taken, or is taken by a write of the whole before it, and no reader outside the engine
//    uses it. Host tasks get a copy of the part that they read; one that reads the whole may keep the values, and is
//    ordered with all writes after it.
//  - Writes are counted as ended (Storage::ended) when all writes issued before them have ended, too.
//  - Poisoned values are known by region (Storage::poisoned), so the order of two parts does not matter.
//  - If there are very many parts, or no memory for an edge, an access is ordered as one of the whole, or as a write
//    of it.
#pragma once
#include "engine/devices/queue.h"
#include "engine/operations/op.h"

namespace forerun {

inline void order(Op* before, Op* after, Edge& edge) {
  edge.dependent = after;
  before->successors.push_back(&edge);
  ++after->pending_dependencies;
  after->placed_dependencies += before->placed && before->queue == after->queue;
  if (before->handed_over && after->queue->follows(*before->queue)) [[unlikely]]
    after->follow(edge);
}

// The access waits for this op.
inline void note_before(Access& a, const Op* before) {
  const uint64_t back = a.op()->seq - before->seq;
  if (back > 0 && back <= UINT8_MAX && (a.back == 0 || back < a.back)) a.back = static_cast<uint8_t>(back);
}

// With the engine's lock. `apart`: accesses of parts are not ordered with the whole. Parts used by recorded ops are
// kept, for queries of the last write.
void link_section_read(Access& a, bool apart);
bool link_section_write(Access& a, bool apart);  // returns whether it is a write of a part
void leave_section(Access& a);

Access* readers_of(const Access& a);

}  // namespace forerun
