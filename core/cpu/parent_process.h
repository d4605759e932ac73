// Ends a process together with another one.
#pragma once

namespace forerun {

// From now on this process ends as soon as that one has, whatever it is doing: a separate thread ensures that, without
// the interpreter lock. If that one has ended already, so does this one. `is_parent`: it has started this process, by
// any of its threads. False: the system could not start a thread.
bool end_with_process(int process, bool is_parent);

}  // namespace forerun
