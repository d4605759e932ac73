// A process that must not outlive another one.
#pragma once

namespace forerun {

// From now on this process ends as soon as that one has, whatever it does: a thread of its own sees to that, without
// the interpreter lock. If that one has ended already, so does this one. `is_parent`: it has started this process, by
// whichever of its threads. False: the system gives no thread.
bool end_with_process(int process, bool is_parent);

}  // namespace forerun
