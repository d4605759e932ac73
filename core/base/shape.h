// A short list of extents or strides: up to four of them are in the object itself, more on the heap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

namespace forerun {

inline constexpr int kMaxDims = 64;  // NumPy's own limit

// Not thread-safe: each object has one owner, like a std::vector.
class Dims {
 public:
  static constexpr int kInline = 4;

  Dims() = default;
  explicit Dims(int n, int64_t value = 0) { resize(n), std::fill(begin(), end(), value); }
  Dims(std::initializer_list<int64_t> values) : Dims(values.begin(), static_cast<int>(values.size())) {}
  Dims(const int64_t* values, int n) { resize(n), std::copy(values, values + n, begin()); }
  Dims(const Dims& o) : size_(o.size_) {
    if (size_ <= kInline) {
      std::copy(o.inline_, o.inline_ + kInline, inline_);
    } else {
      heap_ = new int64_t[size_];
      std::copy(o.heap_, o.heap_ + size_, heap_);
    }
  }
  Dims(Dims&& o) noexcept : size_(o.size_) {
    std::copy(o.inline_, o.inline_ + kInline, inline_);  // the pointer is in the same place
    o.size_ = 0;
  }
  Dims& operator=(const Dims& o) {
    if (size_ > kInline || o.size_ > kInline) return *this = Dims(o);
    size_ = o.size_;
    std::copy(o.inline_, o.inline_ + kInline, inline_);
    return *this;
  }
  Dims& operator=(Dims&& o) noexcept { return swap(o), *this; }
  ~Dims() {
    if (size_ > kInline) delete[] heap_;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* begin() { return size_ > kInline ? heap_ : inline_; }
  int64_t* end() { return begin() + size_; }
  const int64_t* begin() const { return size_ > kInline ? heap_ : inline_; }
  const int64_t* end() const { return begin() + size_; }
  int64_t& operator[](int i) { return begin()[i]; }
  int64_t operator[](int i) const { return begin()[i]; }
  int64_t back() const { return begin()[size_ - 1]; }

  void push_back(int64_t value) {
    Dims bigger;
    bigger.resize(size_ + 1);
    std::copy(begin(), end(), bigger.begin());
    bigger[size_] = value;
    swap(bigger);
  }
  // The elements are not kept: callers fill the list anew.
  void resize(int n) {
    if (size_ > kInline) delete[] heap_;
    size_ = n;
    if (n > kInline) heap_ = new int64_t[n];
  }
  void swap(Dims& o) noexcept {
    std::swap(size_, o.size_);
    for (int i = 0; i < kInline; ++i) std::swap(inline_[i], o.inline_[i]);
  }
  friend bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  int size_ = 0;
  union {
    int64_t inline_[kInline] = {};
    int64_t* heap_;
  };
};

// The product of the extents; 1 for no dimensions.
inline int64_t product(const Dims& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

// The offset of element i of a space with the first `axes` of these extents, in C order and with these strides.
inline int64_t offset_at(int64_t i, const Dims& shape, const Dims& strides, int axes) {
  int64_t offset = 0;
  for (int k = axes - 1; k >= 0; --k) offset += i % shape[k] * strides[k], i /= shape[k];
  return offset;
}
inline int64_t offset_at(int64_t i, const Dims& shape, const Dims& strides) {
  return offset_at(i, shape, strides, shape.size());
}

// All dimensions but one.
inline Dims without(const Dims& dims, int axis) {
  Dims rest(dims.size() - 1);
  for (int k = 0; k < rest.size(); ++k) rest[k] = dims[k + (k >= axis)];
  return rest;
}

// "(2, 3)", as Python writes a tuple.
std::string to_string(const Dims& shape);

}  // namespace forerun
