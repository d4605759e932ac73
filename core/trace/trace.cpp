#include "trace/trace.h"

#include <algorithm>

namespace forerun {

int Trace::start(const char* path, uint64_t next, uint64_t oldest, int cores) {
  std::lock_guard guard(mutex_);
  release_ended(oldest);
  old_.reserve(old_.size() + 2);
  release_memory(next);
  if (int error = memory_.take(path)) return error;
  blocks_.restart(next >> kBlockShift);
  names_.clear();
  Head& h = memory_.head();
  h.first = next, h.cores = static_cast<uint64_t>(cores);
  memory_.calibrate();
  h.ticks = h.later_ticks, h.nanoseconds = h.later_nanoseconds;
  h.magic = Head::kMagic;
  key_.store(++count_ << 48);
  return 0;
}

std::string Trace::so_far(uint64_t next) {
  std::lock_guard guard(mutex_);
  return on() ? copy(next) : std::string();
}

std::string Trace::copy(uint64_t next) {
  settle_last(count_ << 48, now());
  memory_.calibrate();
  memory_.head().next = next;
  return memory_.copy();
}

std::string Trace::take(uint64_t next, uint64_t oldest) {
  std::lock_guard guard(mutex_);
  if (!memory_) return {};
  std::string all = copy(next);
  release_memory(next);
  release_ended(oldest);
  return all;
}

void Trace::abandon() {
  key_.store(0);
  memory_.release();
}

void Trace::release_memory(uint64_t next) {
  if (memory_) old_.push_back({memory_.release(), next});
}

// Ops that were issued during the recording write to their records until they have ended.
void Trace::release_ended(uint64_t oldest) {
  std::erase_if(old_, [&](const Old& old) { return old.next <= oldest && RecordingMemory::unmap(old.memory); });
}

void Trace::enter(uint64_t key, uint64_t block) {
  std::lock_guard guard(mutex_);
  here_ = {key | block, nullptr};
  if (key != key_.load(std::memory_order_relaxed)) return;  // the recording has ended meanwhile
  here_.block = blocks_.records(block);
}

// --- recording -------------------------------------------------------------------------------------------------------

void Trace::depends(OpRecord& op, uint64_t on) {
  uint64_t back = op.seq - on;
  if (back > UINT32_MAX) return;
  if (op.n_deps < OpRecord::kDeps) {
    op.deps[op.n_deps] = static_cast<uint32_t>(back);
    op.n_deps += 1;
    return;
  }
  std::lock_guard guard(mutex_);
  MoreRecord* record = memory_ ? blocks_.add_more(op.seq >> kBlockShift) : nullptr;
  if (!record) return;
  record->kind = MoreRecord::deps, record->seq = op.seq;
  record->payload[0] = 1, record->payload[1] = static_cast<uint32_t>(back);
}

void Trace::named(OpRecord& op, const char* name) {
  op.name = reinterpret_cast<uintptr_t>(name);
  if (names_.has(name)) return;
  std::lock_guard guard(mutex_);
  if (memory_) names_.write(name, memory_);
}

void Trace::tile(const OpRecord& op, uint64_t started, uint64_t ended) {
  std::lock_guard guard(mutex_);
  MoreRecord* record = on() ? blocks_.add_more(op.seq >> kBlockShift) : nullptr;
  if (!record) return;
  record->kind = MoreRecord::tile, record->seq = op.seq, record->thread = thread_number();
  record->started = started, record->ended = ended;
}

void Trace::waited(const char* name, uint32_t site, uint64_t seq, uint64_t next, uint64_t started, uint64_t ended) {
  uint64_t key = key_.load(std::memory_order_relaxed), ticks = ended - started, block = (next - 1) >> kBlockShift;
  if (!key) return;
  settle_last(key, started);
  LineRecord& at = line(name, site);
  at.waits += 1, at.ticks += ticks, at.longest = std::max<uint64_t>(at.longest, ticks);
  last_ = {key, ticks, ended, &at};
  if (here_.key == (key | block) && !here_.block) return;
  std::lock_guard guard(mutex_);
  MoreRecord* record = blocks_.add_more(block);
  if (!record) return;
  record->kind = MoreRecord::wait, record->seq = seq, record->thread = thread_number();
  record->started = started, record->ended = ended;
  record->name = reinterpret_cast<uintptr_t>(name), record->site = site;
}

// The front end has completed the work after its last wait; as much of it as fits into that wait could have been done
// during it.
void Trace::settle_last(uint64_t key, uint64_t now) {
  if (last_.key == key && now > last_.ended) last_.line->lost += std::min(last_.ticks, now - last_.ended);
  last_.key = 0;
}

void Trace::read(const char* name, uint32_t site) {
  if (on()) line(name, site).reads += 1;
}

// When there are too many lines, the rest share one record.
LineRecord& Trace::line(const char* name, uint32_t site) {
  LineRecord* all = memory_.at<LineRecord>(kAtLines);
  uintptr_t what = reinterpret_cast<uintptr_t>(name);
  uint64_t place = (what / 8 * 31 + site) % (kLines - 1);
  for (int tries = 0; tries < 64; ++tries, place = (place + 1) % (kLines - 1)) {
    LineRecord& at = all[place];
    if (at.known && at.name == what && at.site == site) return at;
    if (at.known) continue;
    std::lock_guard guard(mutex_);
    names_.write(name, memory_);
    at.name = what, at.site = site, at.known = 1;
    return at;
  }
  all[kLines - 1].known = 1;
  return all[kLines - 1];
}

void Trace::say(char kind, uint64_t number, const std::string& text) {
  std::lock_guard guard(mutex_);
  if (on()) memory_.write_text(kind, number, text.c_str());
}

uint32_t Trace::next_thread() {
  static std::atomic<uint32_t> next{1};
  return next.fetch_add(1);
}

}  // namespace forerun
