// An operand that an op stores itself.
#pragma once

namespace forerun {

// A number, already of the dtype of the loop that reads it.
struct Scalar {
  alignas(16) unsigned char bytes[16];
};

}  // namespace forerun
