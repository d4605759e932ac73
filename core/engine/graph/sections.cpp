#include "engine/graph/sections.h"

#include <new>

#include "base/containers/free_list.h"

namespace forerun {

namespace {

constexpr uint32_t kMostSections = 256;  // of a storage: each access is compared with all of them
constexpr int kMostEdges = 512;          // of an access, beyond its own

// The accesses that an access waits for, except those that it replaces.
struct Waiting {
  Access& a;
  int edges = 0;

  // False: out of memory, or too many ops.
  bool on(Op* before) {
    Op* op = a.op();
    if (before == op) return true;
    note_before(a, before);
    if (edges++ == 0) return order(before, op, a.from), true;
    if (edges > kMostEdges) return false;
    MoreEdge* more = FreeList<MoreEdge>::take();
    if (!more) {
      if (!(more = new (std::nothrow) MoreEdge)) return false;
      FreeList<MoreEdge>::made(more);
    }
    more->next_free = op->more_edges, op->more_edges = more;
    order(before, op, more->edge);
    return true;
  }
  // `readers`: the youngest first. Those older than `from` need not be waited for.
  bool on_all(Access* readers, uint64_t from) {
    for (; readers && readers->op()->seq >= from; readers = readers->next)
      if (!on(readers->op())) return false;
    return true;
  }
};

// From now on the ops that would wait for `old` wait for `op`, which waits for `old`.
void replace(Access& old, Op* op) {
  if (old.op() != op) order(old.op(), op, old.to);
  old.linked = false;
  if (old.apart) old.op()->section(old) = nullptr;
}

void replace_all(Access*& readers, Op* op) {
  for (Access* r = std::exchange(readers, nullptr); r;) {
    Access* next = r->next;
    replace(*r, op);
    r = next;
  }
}

void replace_all(Section& section, Op* op) {
  if (Access* old = std::exchange(section.writer, nullptr)) replace(*old, op);
  replace_all(section.readers, op);
}

// As a write of the whole, which already waits for the previous write.
void replace_everything(Storage& s, Op* op) {
  replace_all(s.readers, op);
  for (Section* section = s.sections; section; section = section->next) replace_all(*section, op);
  s.drop_sections();
  s.writer = op;
}

void put_first(Access& a, Access*& readers) {
  a.prev = nullptr, a.next = readers;
  if (readers) readers->prev = &a;
  readers = &a;
  a.linked = true;
}

void remove(Storage& s, const Section* section) {
  Section** at = &s.sections;
  while (*at != section) at = &(*at)->next;
  Section* gone = *at;
  *at = gone->next;
  --s.n_sections;
  FreeList<Section>::give(gone);
}

bool empty(const Section& section) { return !section.writer && !section.readers; }

// Null: out of memory, or there are too many.
Section* make_section(Storage& s, const Region& region) {
  for (Section *section = s.sections, *next; s.n_sections >= kMostSections && section; section = next) {
    next = section->next;
    if (empty(*section)) remove(s, section);
  }
  if (s.n_sections >= kMostSections) return nullptr;
  Section* section = FreeList<Section>::take();
  if (!section) {
    if (!(section = new (std::nothrow) Section)) return nullptr;
    FreeList<Section>::made(section);
  }
  *section = Section{region, nullptr, nullptr, 0, s.sections, nullptr};
  s.sections = section, ++s.n_sections;
  return section;
}

void put_into(Access& a, Section* section) {
  a.op()->section(a) = section;
  a.apart = true;
}

// Whether a write of a part will use memory that no reader outside the engine uses, as ensured by an earlier write.
bool has_own_memory(Storage& s) {
  if (s.writer) return !s.writer->kept;
  return s.apart > 0 || (s.taken() && s.unshared());
}

Section* section_of(const Storage& s, const Region& region) {
  Section* section = s.sections;
  while (section && section->region != region) section = section->next;
  return section;
}

// The number of the youngest planned write of all of a part. That write waits for all older accesses of the part, so a
// later access need not: in a loop over shrinking parts each would wait for all iterations before.
uint64_t last_write_of_all(const Storage& s, const Region& region) {
  uint64_t last = s.writer ? s.writer->seq : 0;
  for (const Section* section = s.sections; section; section = section->next)
    if (section->writer && section->writer->op()->seq > last && section->region.contains(region))
      last = section->writer->op()->seq;
  return last;
}

// Waits for all accesses that a write of a part overlaps, except those of parts in it, which it replaces. False also if
// a task reads the whole storage, as it may give it away.
bool wait_for_overlapping(Waiting& waits, Storage& s, const Region& region) {
  const uint64_t from = last_write_of_all(s, region);
  if (s.writer && s.writer->seq >= from) waits.on(s.writer);
  for (Access* r = s.readers; r; r = r->next)
    if (r->op()->is_task()) return false;
  if (!waits.on_all(s.readers, from)) return false;
  for (Section* section = s.sections; section; section = section->next) {
    if (region.contains(section->region) || section->region.apart(region)) continue;
    Access* writer = section->writer;
    if (writer && writer->op()->seq >= from && !waits.on(writer->op())) return false;
    if (!waits.on_all(section->readers, from)) return false;
  }
  return true;
}

// The accesses of all parts in this one are replaced, and only the section of this one remains.
void replace_parts(Storage& s, const Section& whole, Op* op) {
  for (Section *section = s.sections, *next; section; section = next) {
    next = section->next;
    if (!whole.region.contains(section->region)) continue;
    replace_all(*section, op);
    if (section != &whole) remove(s, section);
  }
}

}  // namespace

void link_section_read(Access& a, bool apart) {
  Storage& s = *a.storage;
  Op* op = a.op();
  const Region& region = op->region(a);
  Waiting waits{a};
  Section* same = nullptr;
  apart = apart && a.place && !a.loose;
  const uint64_t from = apart ? last_write_of_all(s, region) : 0;
  if (s.writer && s.writer->seq >= from) waits.on(s.writer);
  for (Section* section = s.sections; section; section = section->next) {
    if (apart && section->region.apart(region)) continue;
    if (apart && section->region == region) same = section;
    if (!section->writer || section->writer->op()->seq < from || waits.on(section->writer->op())) continue;
    op->kept = true;
    return replace_everything(s, op);
  }
  if (apart && (same || (same = make_section(s, region))))
    put_into(a, same), put_first(a, same->readers);
  else
    put_first(a, s.readers);
}

bool link_section_write(Access& a, bool apart) {
  Storage& s = *a.storage;
  Op* op = a.op();
  const Region& region = op->region(a);
  Waiting waits{a};
  apart = apart && a.place && !a.loose && has_own_memory(s);
  Section* same = apart ? section_of(s, region) : nullptr;
  if (!apart || !wait_for_overlapping(waits, s, region) || !(same || (same = make_section(s, region)))) {
    if (waits.edges == 0 && s.writer) waits.on(s.writer);
    if (s.readers) note_before(a, s.readers->op());
    replace_everything(s, op);
    return false;
  }
  if (same->writer) note_before(a, same->writer->op());
  if (same->readers) note_before(a, same->readers->op());
  replace_parts(s, *same, op);
  same->writer = &a, same->last_write = op->seq;
  put_into(a, same);
  ++s.apart;
  return true;
}

void leave_section(Access& a) {
  Section* section = std::exchange(a.op()->section(a), nullptr);
  if (!section) return;
  if (a.mode != Mode::read) {
    section->writer = nullptr;
  } else {
    (a.prev ? a.prev->next : section->readers) = a.next;
    if (a.next) a.next->prev = a.prev;
    a.linked = false;
  }
  if (empty(*section) && !a.op()->record) remove(*a.storage, section);
}

Access* readers_of(const Access& a) { return a.apart ? a.op()->section(a)->readers : a.storage->readers; }

}  // namespace forerun
