// The memory of a recording, whose layout record.h describes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/system/files.h"
#include "trace/record.h"

namespace forerun {

// Guarded by the lock of the trace, but for the records, whose fields are atomic.
class RecordingMemory {
 public:
  explicit operator bool() const { return mapped_.memory != nullptr; }
  template <class T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(mapped_.memory + offset);
  }
  Head& head() const { return *at<Head>(0); }

  // Takes memory for a new recording, of a file unless `path` is null. Returns 0 or an errno: EBUSY if another process
  // records into that file.
  int take(const char* path);
  // Gives the memory to the caller, which must unmap it, and closes the file.
  char* release();
  static bool unmap(char* data);

  void calibrate();  // records one moment on both clocks
  // A row of text, if there is memory for it; otherwise the number has no name.
  void write_text(char kind, uint64_t number, const char* text);
  // All records in one piece, without unused parts.
  std::string copy() const;

 private:
  MappedFile mapped_;
};

}  // namespace forerun
