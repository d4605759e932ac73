// Long chains of element-wise calls over some thousands of elements. Each call could run at once, but fused they take a
// fraction of the time, so the later ones are submitted.
#pragma once
#include <cstdint>

namespace forerun {

// The element-wise calls of one thread over dense arrays of one size, with no wait, no read of an element and no
// element-wise call of another kind between them. Which calls are submitted depends on the program alone, never on
// timing.
class ElementwiseChain {
 public:
  // Counts a call. Whether it is to be submitted. A loop over fewer elements costs little more than submitting it.
  bool defers(int64_t elements) {
    if (elements < kLeastElements) return false;
    if (elements != elements_) elements_ = elements, calls_ = 0;
    return ++calls_ > kCallsAtOnce;
  }
  void end() { calls_ = 0; }

 private:
  static constexpr int64_t kLeastElements = 2048;
  static constexpr int64_t kCallsAtOnce = 24;  // the first ones, since most chains end soon

  int64_t elements_ = 0, calls_ = 0;
};

extern constinit thread_local ElementwiseChain elementwise_chain;

}  // namespace forerun
