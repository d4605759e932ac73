#include "trace/trace.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"

namespace forerun {

namespace {

// Which of two neighbours is kept, when one must go: as if by chance, so that nothing that returns regularly is missed.
bool second_of(uint64_t pair, int level) {
  uint64_t x = (pair + 1) * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(level) * 0xd1b54a32d192ed03;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return (x ^ (x >> 32)) & 1;
}

#ifdef __linux__
constexpr int kAllPages = MAP_POPULATE;
int reserve(int file) { return ::posix_fallocate(file, 0, kRecording); }
#else  // pages come as they are written, and their room on the disk with them
constexpr int kAllPages = 0;
int reserve(int file) { return ::ftruncate(file, kRecording) < 0 ? errno : 0; }
#endif

// An open file of the right size with its room on the disk, which no other process records into; or -1 with errno set.
int open_file(const char* path) {
  int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  int error = ::flock(file, LOCK_EX | LOCK_NB) < 0 ? EBUSY : ::ftruncate(file, 0) < 0 ? errno : reserve(file);
  if (!error) return file;
  ::close(file);
  errno = error;
  return -1;
}

}  // namespace

int Trace::start(const char* path, uint64_t next, uint64_t oldest, int cores) {
  std::lock_guard guard(mutex_);
  release_ended(oldest);
  old_.reserve(old_.size() + 2);
  if (memory_) old_.push_back({std::exchange(memory_, nullptr), next});
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  int file = path ? open_file(path) : -1;
  if (path && file < 0) return errno;
  // All pages at once: a page fault in the middle of an op would cost more than its record.
  int flags = kAllPages | (path ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
  void* memory = ::mmap(nullptr, kRecording, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED) {
    int error = errno;
    if (file >= 0) ::close(file);
    return error;
  }
  memory_ = static_cast<char*>(memory), file_ = file;
  first_ = decided_ = next >> kBlockShift, level_ = 0, since_ = 0;
  n_kept_ = 0;
  for (int i = 0; i < kBlocks; ++i) free_[i] = static_cast<uint8_t>(i);
  for (auto& name : names_) name = nullptr;
  Head& h = head();
  h.first = next, h.cores = static_cast<uint64_t>(cores);
  calibrate();
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
  std::string all;
  Head& h = head();
  settle_last(count_ << 48, now());
  calibrate();
  h.next = next;
  auto copy = [&](size_t from, size_t bytes) {  // by words, which others may write meanwhile
    size_t to = all.size();
    all.resize(to + bytes);
    for (size_t i = 0; i < bytes; i += 8) {
      uint64_t word = *at<RelaxedAtomic<uint64_t>>(from + i);
      std::memcpy(all.data() + to + i, &word, 8);
    }
  };
  all.reserve(kHead + h.n_text + kLines * sizeof(LineRecord) + h.n_more * sizeof(MoreRecord) +
              h.n_blocks * kBlockOps * sizeof(OpRecord) + 8);
  copy(0, kHead);
  copy(kAtText, (h.n_text + 7) / 8 * 8);
  copy(kAtLines, kLines * sizeof(LineRecord));
  copy(kAtMore, h.n_more * sizeof(MoreRecord));
  copy(kAtOps, h.n_blocks * kBlockOps * sizeof(OpRecord));
  reinterpret_cast<Head*>(all.data())->ended = 1;  // nothing more will come here
  return all;
}

std::string Trace::take(uint64_t next, uint64_t oldest) {
  std::lock_guard guard(mutex_);
  if (!memory_) return {};
  std::string all = copy(next);
  old_.push_back({std::exchange(memory_, nullptr), next});
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  release_ended(oldest);
  return all;
}

void Trace::abandon() {
  key_.store(0);
  memory_ = nullptr;
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

// Ops that were issued during the recording write to their records until they have ended.
void Trace::release_ended(uint64_t oldest) {
  std::erase_if(old_, [&](const Old& old) { return old.next <= oldest && ::munmap(old.memory, kRecording) == 0; });
}

void Trace::calibrate() {
  head().later_ticks = now();
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  head().later_nanoseconds = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// --- blocks ----------------------------------------------------------------------------------------------------------

void Trace::enter(uint64_t key, uint64_t block) {
  std::lock_guard guard(mutex_);
  here_ = {key | block, nullptr};
  if (key != key_.load(std::memory_order_relaxed)) return;  // it has ended meanwhile
  if (const Kept* at = kept(block)) here_.block = this->at<OpRecord>(kAtOps) + at->place * kBlockOps;
}

const Trace::Kept* Trace::kept(uint64_t block) {
  block = std::max(block, first_);
  if (block >= decided_) decide(block);
  return find(block);
}

const Trace::Kept* Trace::find(uint64_t block) const {
  const Kept* end = kept_.data() + n_kept_;
  const Kept* at =
      std::lower_bound(kept_.data(), end, block, [](const Kept& one, uint64_t block) { return one.block < block; });
  return at != end && at->block == block ? at : nullptr;
}

void Trace::decide(uint64_t block) {
  calibrate();
  Head& h = head();
  h.next = std::max<uint64_t>(h.next, block << kBlockShift);
  decided_ = block + 1;
  if (!chosen(block) || (block - first_ >= kWhole && h.later_ticks - since_ < apart << level_)) return;
  if (n_kept_ == kBlocks) rarer();
  since_ = h.later_ticks;
  uint8_t place = free_[n_kept_];
  kept_[n_kept_++] = {block, place};
  h.blocks[place] = block + 1;
  h.n_blocks = std::max<uint64_t>(h.n_blocks, place + 1);
}

// One of 2^level neighbours.
bool Trace::chosen(uint64_t block) const {
  uint64_t n = block - first_;
  for (int i = 0; i < level_; ++i, n >>= 1)
    if ((n & 1) != second_of(n >> 1, i)) return false;
  return true;
}

// One block of two gives its place away. New ones come there last, and the oldest first: when all ops that had it have
// ended long since, as fewer ops can be in flight than half of the places have room for.
void Trace::rarer() {
  int pairs = n_kept_ / 2, left = n_kept_ - pairs;
  std::array<uint8_t, kBlocks> given;
  for (int i = 0; i < pairs; ++i) {
    bool second = second_of(static_cast<uint64_t>(i), level_);
    given[i] = kept_[2 * i + !second].place;
    kept_[i] = kept_[2 * i + second];
    head().blocks[given[i]] = 0;
  }
  if (left > pairs) kept_[pairs] = kept_[n_kept_ - 1];
  std::copy(free_.begin() + n_kept_, free_.end(), free_.begin() + left);
  std::copy(given.begin(), given.begin() + pairs, free_.end() - pairs);
  n_kept_ = left;
  head().level = static_cast<uint64_t>(++level_);
  drop_more();
}

void Trace::drop_more() {
  MoreRecord* all = at<MoreRecord>(kAtMore);
  uint64_t left = 0, n = head().n_more;
  for (uint64_t i = 0; i < n; ++i) {
    if (!find(all[i].block)) continue;
    all[left++] = all[i];
  }
  head().n_more = left;
}

MoreRecord* Trace::more(uint64_t block) {
  if (!kept(block)) return nullptr;
  Head& h = head();
  while (h.n_more >= kMore && n_kept_ > 1) rarer();
  if (h.n_more >= kMore) return h.dropped += 1, nullptr;
  if (!find(block)) return nullptr;
  MoreRecord* record = at<MoreRecord>(kAtMore) + h.n_more;
  h.n_more += 1;
  record->block = block;
  return record;
}

// --- what is recorded ------------------------------------------------------------------------------------------------

void Trace::depends(OpRecord& op, uint64_t on) {
  uint64_t back = op.seq - on;
  if (back > UINT32_MAX) return;
  if (op.n_deps < OpRecord::kDeps) {
    op.deps[op.n_deps] = static_cast<uint32_t>(back);
    op.n_deps += 1;
    return;
  }
  std::lock_guard guard(mutex_);
  MoreRecord* record = memory_ ? more(op.seq >> kBlockShift) : nullptr;
  if (!record) return;
  record->kind = MoreRecord::deps, record->seq = op.seq;
  record->payload[0] = 1, record->payload[1] = static_cast<uint32_t>(back);
}

void Trace::named(OpRecord& op, const char* name) {
  op.name = reinterpret_cast<uintptr_t>(name);
  if (find(name).load(std::memory_order_relaxed) == name) return;
  std::lock_guard guard(mutex_);
  if (memory_) know(name);
}

void Trace::tile(const OpRecord& op, uint64_t started, uint64_t ended) {
  std::lock_guard guard(mutex_);
  MoreRecord* record = on() ? more(op.seq >> kBlockShift) : nullptr;
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
  MoreRecord* record = more(block);
  if (!record) return;
  record->kind = MoreRecord::wait, record->seq = seq, record->thread = thread_number();
  record->started = started, record->ended = ended;
  record->name = reinterpret_cast<uintptr_t>(name), record->site = site;
}

// The front end has now done what it did after its last wait: as much of this as fits into that wait could have been
// done in it.
void Trace::settle_last(uint64_t key, uint64_t now) {
  if (last_.key == key && now > last_.ended) last_.line->lost += std::min(last_.ticks, now - last_.ended);
  last_.key = 0;
}

void Trace::read(const char* name, uint32_t site) {
  if (on()) line(name, site).reads += 1;
}

// When there are too many lines, the rest share a place.
LineRecord& Trace::line(const char* name, uint32_t site) {
  LineRecord* all = at<LineRecord>(kAtLines);
  uintptr_t what = reinterpret_cast<uintptr_t>(name);
  uint64_t place = (what / 8 * 31 + site) % (kLines - 1);
  for (int tries = 0; tries < 64; ++tries, place = (place + 1) % (kLines - 1)) {
    LineRecord& at = all[place];
    if (at.known && at.name == what && at.site == site) return at;
    if (at.known) continue;
    std::lock_guard guard(mutex_);
    know(name);
    at.name = what, at.site = site, at.known = 1;
    return at;
  }
  all[kLines - 1].known = 1;
  return all[kLines - 1];
}

// --- text ------------------------------------------------------------------------------------------------------------

void Trace::say(char kind, uint64_t number, const std::string& text) {
  std::lock_guard guard(mutex_);
  if (on()) write(kind, number, text.c_str());
}

void Trace::know(const char* name) {
  std::atomic<const char*>& place = find(name);
  if (place.load(std::memory_order_relaxed)) return;
  write('n', reinterpret_cast<uintptr_t>(name), name);
  place.store(name, std::memory_order_relaxed);
}

std::atomic<const char*>& Trace::find(const char* name) {
  size_t place = reinterpret_cast<uintptr_t>(name) / 8 % kNames;
  for (int tries = 0; tries < 16; ++tries, place = (place + 1) % kNames) {
    const char* other = names_[place].load(std::memory_order_relaxed);
    if (!other || other == name) break;
  }
  return names_[place];
}

void Trace::write(char kind, uint64_t number, const char* text) {
  if_memory_allows([&] {  // else it has no name
    std::string row = kind + std::to_string(number) + " " + text;
    std::replace(row.begin(), row.end(), '\n', ' ');
    uint64_t n = head().n_text;
    if (n + row.size() + 1 > kText) return;
    std::memcpy(memory_ + kAtText + n, row.data(), row.size());
    memory_[kAtText + n + row.size()] = '\n';
    head().n_text = n + row.size() + 1;
  });
}

uint32_t Trace::next_thread() {
  static std::atomic<uint32_t> next{1};
  return next.fetch_add(1);
}

}  // namespace forerun
