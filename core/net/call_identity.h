// What ranks compare of their calls before a collective begins, and say of them where they differ.
#pragma once
#include <cstdint>
#include <string>

#include "net/network.h"

namespace forerun::net {

// A number of at most 62 bits, by which ranks see that their calls differ. `number`: of the call, in its group.
int64_t digest(const Call& call, uint64_t number);
// "allreduce of (2, 4) float32 (sum) of weights".
std::string describe(const Call& call);

}  // namespace forerun::net
