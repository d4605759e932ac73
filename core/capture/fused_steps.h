// Fusion in captured programs: steps over the same elements become one step, whose plan is made once.
//
// The engine's fusion pass finds groups among the operations in flight, as memory allows, and repeats the search in
// each run. A captured program is known as a whole: its groups, and the values that never reach memory, are the same in
// each run, so a run needs no planning.
#pragma once
#include <memory>
#include <vector>

#include "capture/captured_program.h"

namespace forerun {

// The steps of a program in an order that respects their dependencies, fused where possible. The values that a fused
// step keeps in its tiles are used by no other step.
std::vector<std::unique_ptr<Program::Step>> fuse_steps(std::vector<std::unique_ptr<Program::Step>> steps,
                                                       const std::vector<Program::Slot>& slots,
                                                       const FuseSettings& settings);

}  // namespace forerun
