#include "engine/operations/submission.h"

#include <algorithm>
#include <bit>

#include "engine/operations/op.h"

namespace forerun {

void SubmissionRing::resize(uint64_t size) {
  // Pages of zeros, which cost nothing before they are used.
  auto* slots = static_cast<std::atomic<Op*>*>(std::calloc(size, sizeof(std::atomic<Op*>)));
  if (!slots) throw std::bad_alloc();
  slots_.reset(slots);
  size_ = size;
}

uint64_t SubmissionRing::slots_for(uint64_t ops_ahead) { return std::max(kLeastSlots, std::bit_ceil(2 * ops_ahead)); }

void SubmissionRing::set_ops_ahead(uint64_t n) {
  if (uint64_t size = slots_for(n); size != size_) resize(size);
  ops_ahead_ = n;
}

Op* SubmissionRing::ended_already() {
  static Op* const marker = [] {
    Op* op = new Op;
    op->dropped = true;  // no thread waits for this marker
    return op;
  }();
  return marker;
}

uint64_t SubmissionRing::advance_front() {
  uint64_t front = front_.load(std::memory_order_relaxed), planned = planned_.load(std::memory_order_relaxed);
  while (front < planned && !op(front)) ++front;
  front_.store(front);
  return front;
}

}  // namespace forerun
