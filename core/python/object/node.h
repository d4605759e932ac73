// The tape: the op and the inputs that each array was computed from, as far as gradients need them.
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
// For this thread: whether the tape records how results are computed, not how gradients flow. It then also records
// operations without gradients, and keeps all values.
extern constinit thread_local bool tracing;

// Whether an op on this array would be recorded now.
inline bool on_tape(PyObject* o) { return recording && is_array(o) && as_array(o)->node; }

constexpr unsigned kSaveOutputs = 1 << 7;

// A value that a node keeps, and the number of writes of its storage at that time. The handle marks the value as used,
// also if the node shares the array object with the program.
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
  unsigned long long seq;  // larger than that of any node made before, and so than those of its inputs
  unsigned save;           // see record()
  unsigned site;           // the line that issued it
  std::vector<Kept> kept;
};
inline NodeObject* as_node(PyObject* o) { return reinterpret_cast<NodeObject*>(o); }
extern PyTypeObject* node_type;
PyTypeObject* make_node_type();

// Makes a node of `op` (which finds its gradients itself) and attaches the outputs to it. `save`: bit i: the value of
// input i is needed; bit 7: the values of the outputs. Other arrays are kept without their values. False with an
// exception set.
bool record(PyObject* op, PyObject* const* inputs, Py_ssize_t n_in, PyObject* const* outputs, Py_ssize_t n_out,
            PyObject* attrs, unsigned save);

unsigned long long tape_position();  // number of the newest node

// Records that the node of `output` needs the present values of `saved`, a tuple of arrays.
void watch_saved(PyObject* output, PyObject* saved);

}  // namespace forerun
