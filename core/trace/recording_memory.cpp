#include "trace/recording_memory.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/simd/cycles.h"

namespace forerun {

int RecordingMemory::take(const char* path) { return map_file(path, kRecording, mapped_); }

char* RecordingMemory::release() {
  if (mapped_.file >= 0) close_file(mapped_.file);
  return std::exchange(mapped_, {}).memory;
}

bool RecordingMemory::unmap(char* data) { return unmap_file(data, kRecording); }

void RecordingMemory::calibrate() {
  head().later_ticks = cycles();
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  head().later_nanoseconds = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void RecordingMemory::write_text(char kind, uint64_t number, const char* text) {
  if_memory_allows([&] {
    std::string row = kind + std::to_string(number) + " " + text;
    std::replace(row.begin(), row.end(), '\n', ' ');
    uint64_t n = head().n_text;
    if (n + row.size() + 1 > kText) return;
    std::memcpy(mapped_.memory + kAtText + n, row.data(), row.size());
    mapped_.memory[kAtText + n + row.size()] = '\n';
    head().n_text = n + row.size() + 1;
  });
}

std::string RecordingMemory::copy() const {
  std::string all;
  const Head& h = head();
  auto copy = [&](size_t from, size_t bytes) {  // word by word, as other threads may write meanwhile
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
  reinterpret_cast<Head*>(all.data())->ended = 1;  // nothing is recorded after this
  return all;
}

}  // namespace forerun
