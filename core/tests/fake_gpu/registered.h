// Host memory that is registered with the device that behaves like a remote one. For fake_gpu.cpp only.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "state.h"

namespace {

// Guarded by `mutex`.
auto& registered = *new std::map<const char*, size_t>;
size_t map_calls = 0, unmap_calls = 0, direct_copies = 0;
const pid_t owner = getpid();

// A client drops errors of functions that release objects, so they are also written to the program's standard error.
Error* misuse(const std::string& what) {
  std::fprintf(stderr, "fake_gpu: %s\n", what.c_str());
  return error_of({Code::internal, "fake_gpu: " + what});
}

// The registered range with the first byte at or behind an address. Holding `mutex`.
auto range_from(const char* data) {
  auto range = registered.upper_bound(data);
  if (range == registered.begin()) return range;
  const auto before = std::prev(range);
  return data < before->first + before->second ? before : range;
}

// Holding `mutex`.
bool in_registered(const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  const auto range = range_from(from);
  return range != registered.end() && range->first <= from && from + bytes <= range->first + range->second;
}

// The number of bytes of a copy from or to this memory that are moved in a microsecond.
double speed_of(const void* data, size_t bytes) {
  std::lock_guard lock(mutex);
  if (!in_registered(data, bytes)) return settings.pageable_bandwidth;
  ++direct_copies;
  return settings.bandwidth;
}

bool is_there(const char* data, size_t bytes) {
  std::vector<unsigned char> pages(bytes / 4096 + 1);
  return mincore(const_cast<char*>(data), bytes, pages.data()) == 0;
}

Error* map_memory(ClientDmaMap* a) {
  const char* data = static_cast<const char*>(a->data);
  std::unique_lock lock(mutex);
  ++map_calls;
  const bool refused = settings.refuse_map;
  const auto next = range_from(data);
  const bool overlaps = next != registered.end() && next->first < data + a->size;
  if (!refused && !overlaps) registered.emplace(data, a->size);
  lock.unlock();
  if (refused) return error_of({Code::unimplemented, "fake_gpu: DmaMap is not supported"});
  if (overlaps) return misuse("memory that is registered was registered");
  return is_there(data, a->size) ? nullptr : misuse("memory that is not there was registered");
}

Error* unmap_memory(ClientDmaUnmap* a) {
  const char* data = static_cast<const char*>(a->data);
  std::unique_lock lock(mutex);
  ++unmap_calls;
  const auto range = registered.find(data);
  const size_t bytes = range == registered.end() ? 0 : range->second;
  bool used = false;
  for (const Waiting* event : due) used = used || (event->memory >= data && event->memory < data + bytes);
  if (bytes) registered.erase(range);
  lock.unlock();
  if (getpid() != owner) return misuse("a child unregistered memory");
  if (!bytes) return misuse("memory that is not registered was unregistered");
  if (used) return misuse("memory was unregistered during a copy");
  return is_there(data, bytes) ? nullptr : misuse("memory that is gone was unregistered");
}

Error* client_destroy(ClientDestroy* a) {
  {
    std::lock_guard lock(mutex);
    if (!registered.empty()) std::fputs("fake_gpu: a client was closed while memory was registered\n", stderr);
  }
  return ask(*a);
}

}  // namespace

// Four numbers: how often memory was registered and unregistered, the bytes that are registered now, and the copies
// from and to such memory.
extern "C" __attribute__((visibility("default"))) const char* fake_gpu_registered() {
  static std::string text;
  std::lock_guard lock(mutex);
  size_t bytes = 0;
  for (const auto& range : registered) bytes += range.second;
  text.clear();
  for (const size_t number : {map_calls, unmap_calls, bytes, direct_copies}) text += std::to_string(number) + ' ';
  return text.c_str();
}
