// The compiler of loops (cpu/codegen/compiled_loops.h): a Python function, called by a thread that lives while there
// are loops to compile.
#pragma once
#include <Python.h>

namespace forerun {

void set_loop_compiler(PyObject* function);  // takes a description, returns an address or 0

// Waits, without the interpreter lock, until the thread has ended; until resume_loop_compiler() no new one starts.
void pause_loop_compiler();
// In the child of a fork that did not pause it nothing is compiled any more: the thread, which may have held locks,
// does not exist.
void resume_loop_compiler(bool child);

}  // namespace forerun
