// The tape: which op made an array from which inputs, as far as gradients need it.
#pragma once
#include <Python.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "memory/buffer.h"
#include "python/object/array_object.h"
#include "python/runtime/call_sites/call_site.h"

namespace forerun {

extern thread_local bool recording, training;
// Of this thread: the tape is to tell how results are made, not how gradients flow. It takes down operations without
// gradients too, and keeps all values.
extern constinit thread_local bool tracing;

// Whether an op on this array would go onto the tape now.
inline bool on_tape(PyObject* o) { return recording && is_array(o) && as_array(o)->node; }

constexpr unsigned kSaveOutputs = 1 << 7;

// A value that a node keeps, and how many writes its storage had then. The handle says that the value is somebody's,
// also where the node shares the array object with the program.
struct Kept {
  Kept(Buffer* storage) : storage(storage), version(storage->issued.load()) { storage->retain_handle(); }
  Kept(Kept&& o) noexcept : storage(std::exchange(o.storage, nullptr)), version(o.version) {}
  ~Kept() {
    if (storage) storage->release_handle();
  }
  Buffer* storage;
  uint32_t version;
};

struct NodeObject {
  PyObject_HEAD PyObject *op, *inputs, *outputs,
      *attrs;  // inputs and outputs are null once the backward pass has released the node; attrs may be null
  unsigned long long seq;  // larger than that of any node made before, so than those of its inputs
  unsigned save;           // see record()
  unsigned site;           // the line that made it
  std::vector<Kept> kept;
};
inline NodeObject* as_node(PyObject* o) { return reinterpret_cast<NodeObject*>(o); }
extern PyTypeObject* node_type;
PyTypeObject* make_node_type();

// Makes a node of `op` (whose gradients are its own matter) and ties the outputs to it. `save`: bit i: the value of
// input i is needed; bit 7: the values of the outputs. Other arrays are kept without their values. False with an
// exception set.
bool record(PyObject* op, PyObject* const* inputs, Py_ssize_t n_in, PyObject* const* outputs, Py_ssize_t n_out,
            PyObject* attrs, unsigned save);

unsigned long long tape_position();  // number of the newest node

// Takes note that the node of `output` needs the values of `saved`, a tuple of arrays, as they are now.
void watch_saved(PyObject* output, PyObject* saved);

}  // namespace forerun
