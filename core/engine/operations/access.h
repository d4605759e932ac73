// How an operation uses a storage, and the edges to other operations that follow from it.
#pragma once
#include <cstdint>

#include "base/region.h"

namespace forerun {

class Op;
class Storage;
struct Access;

enum class Mode : uint8_t {
  read,
  update,  // writes a part, or reads before it writes: old values and old poison stay
  write,   // overwrites all of it: old values and old poison are replaced
};

// A dependency of one op, the dependent, on another: it is in Op::successors of the other op.
struct Edge {
  Op* dependent = nullptr;
  Edge* next = nullptr;
};

// An edge for which an access has no place; it belongs to the op that waits.
struct MoreEdge {
  Edge edge;
  MoreEdge* next_free = nullptr;  // in Op::more_edges, too
};

// Planned accesses of one part of a storage that have not ended (sections.h).
struct Section {
  Region region;
  Access *writer, *readers;  // the last write, and the reads since then (a doubly linked list)
  uint64_t last_write;       // number of the last planned op that writes it
  Section *next, *next_free;
};

// Each access makes at most two edges, which are stored here: so where storages are used as a whole, the graph needs no
// memory after issue.
struct Access {
  Storage* storage = nullptr;
  Edge from;  // in the successors of the write that this op waits for
  Access *prev = nullptr,
         *next = nullptr;  // in Storage::readers, or its part's, while `linked`; guarded by the engine's lock
  Edge to;                 // in this op's successors: the write that replaces it and waits for it
  Mode mode = Mode::read;
  bool linked : 1 = false;
  bool unwritten : 1 = false;  // its op may be handed over before the write of the values that it reads has ended
  bool : 0;                    // the following are read without the lock
  bool loose : 1 = false;      // the op may read bytes besides its elements: it is ordered with all accesses of the
                               // storage
  bool apart : 1 = false;      // planned as an access of a part: it is not ordered with accesses of other parts
  uint8_t back = 0;            // how many numbers before its own op the youngest one is that it waits for, if known
  uint32_t place = 0;          // 1 + the position of its region in its op; 0: all of the storage
  Op* op() const { return from.dependent; }
};
static_assert(sizeof(Access) == 64);

}  // namespace forerun
