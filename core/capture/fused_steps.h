// Fusion in captured programs: steps over the same elements become one step, whose plan is made once.
//
// The engine's fusion pass finds groups among the operations in flight, as memory allows, and finds them anew in each
// run. All of a program is known when it is captured: its groups and the values that never reach memory are the same
// in each run, and a run costs no planning.
#pragma once
#include <memory>
#include <vector>

#include "capture/captured_program.h"

namespace forerun {

// The steps of a program in an order of their dependencies, with those fused that can be. No step uses the values that
// stay in the tiles of one.
std::vector<std::unique_ptr<Program::Step>> fuse_steps(std::vector<std::unique_ptr<Program::Step>> steps,
                                                       const std::vector<Program::Slot>& slots,
                                                       const FuseSettings& settings);

}  // namespace forerun
