// The note that precedes each message from one rank to another: the shape and dtype of the array that is sent, which
// the receiver compares with those of its own array. Few values are sent in the note itself, as one message.
#pragma once
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "net/network.h"

namespace forerun::net {

inline constexpr int64_t kMostNoted = 2048;  // bytes of values that fit in the note
inline constexpr int kMostNote = 8 + 8 * kMaxDims + static_cast<int>(kMostNoted);

struct Note {
  uint32_t site = 0;  // of the send, on its rank
  DType dtype = DType::u8;
  Dims shape;
  const char* values = nullptr;  // in the bytes; null: they follow as a separate message
};

// Whether the values of the call are sent in its note.
bool fits_note(const Call& call);
// values: those of the call, which are copied if they fit; null: zeros.
std::vector<char> write_note(const Call& call, uint32_t site, const void* values);
// `bytes` has kMostNote elements, and the values are not copied.
Note read_note(const std::vector<char>& bytes);

}  // namespace forerun::net
