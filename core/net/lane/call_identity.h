// The identity of a call, which ranks compare before a collective begins and describe where they differ.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "net/network.h"

namespace forerun::net {

// A number of at most 62 bits; if it differs, the calls of ranks differ. `number`: of the call, in its group.
int64_t digest(const Call& call, uint64_t number);
// "allreduce of (2, 4) float32 (sum) of weights".
std::string describe(const Call& call);

using LineOf = std::function<std::string(uint32_t)>;  // "train.py:12" of the number of a line; any thread
// " at train.py:12"; empty if the line is not known.
std::string at_line(const LineOf& line_of, uint32_t site);

}  // namespace forerun::net
