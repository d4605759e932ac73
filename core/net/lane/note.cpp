#include "net/lane/note.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace forerun::net {

namespace {

struct Start {
  uint32_t site;
  uint8_t dtype, dims;
  uint16_t with_values;
};
static_assert(sizeof(Start) == 8);

size_t bytes_of(const Call& call) { return static_cast<size_t>(call.count) * item_size(call.dtype); }

}  // namespace

bool fits_note(const Call& call) { return call.count <= kMostNoted && bytes_of(call) <= kMostNoted; }

std::vector<char> write_note(const Call& call, uint32_t site, const void* values) {
  const bool fits = fits_note(call);
  const Start start{site, static_cast<uint8_t>(call.dtype), static_cast<uint8_t>(call.shape.size()), fits};
  const size_t extents = sizeof(int64_t) * start.dims;
  std::vector<char> bytes(sizeof start + extents + (fits ? bytes_of(call) : 0));
  std::memcpy(bytes.data(), &start, sizeof start);
  std::copy(call.shape.begin(), call.shape.end(), reinterpret_cast<int64_t*>(bytes.data() + sizeof start));
  if (fits && values && call.count > 0) std::memcpy(bytes.data() + sizeof start + extents, values, bytes_of(call));
  return bytes;
}

Note read_note(const std::vector<char>& bytes) {
  Start start;
  std::memcpy(&start, bytes.data(), sizeof start);
  const auto* extents = reinterpret_cast<const int64_t*>(bytes.data() + sizeof start);
  const char* values = start.with_values ? reinterpret_cast<const char*>(extents + start.dims) : nullptr;
  return {start.site, static_cast<DType>(start.dtype), Dims(extents, start.dims), values};
}

}  // namespace forerun::net
