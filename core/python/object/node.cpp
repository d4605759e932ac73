#include "python/object/node.h"

#include <structmember.h>

#include <new>
#include <vector>

#include "array/array.h"
#include "python/bindings.h"
#include "python/front_end.h"
#include "python/object/array_object.h"
#include "python/runtime/call_sites/call_site.h"

namespace forerun {

thread_local bool recording = false, training = false;
constinit thread_local bool tracing = false;
PyTypeObject* node_type = nullptr;

namespace {

unsigned long long newest = 0;  // guarded by the interpreter lock

int traverse(PyObject* self, visitproc visit, void* arg) {
  NodeObject* n = as_node(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(n->op);
  Py_VISIT(n->inputs);
  Py_VISIT(n->outputs);
  Py_VISIT(n->attrs);
  return 0;
}

int clear(PyObject* self) {
  NodeObject* n = as_node(self);
  n->kept.clear();
  Py_CLEAR(n->op);
  Py_CLEAR(n->inputs);
  Py_CLEAR(n->outputs);
  Py_CLEAR(n->attrs);
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, dealloc) PyTypeObject* type = Py_TYPE(self);
  clear(self);
  as_node(self)->kept.~vector();
  PyObject_GC_Del(self);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

PyMemberDef members[] = {
    {"op", T_OBJECT, offsetof(NodeObject, op), READONLY, "The op that was called."},
    {"inputs", T_OBJECT, offsetof(NodeObject, inputs), READONLY,
     "Its inputs; arrays without a value if the gradients do not need it."},
    {"outputs", T_OBJECT, offsetof(NodeObject, outputs), READONLY, "Its outputs, without their places on the tape."},
    {"attrs", T_OBJECT, offsetof(NodeObject, attrs), READONLY,
     "Further arguments of the operation's gradients, or None."},
    {"save", T_UINT, offsetof(NodeObject, save), READONLY,
     "Bit i: the value of input i is kept; bit 7: the values of the outputs."},
    {"seq", T_ULONGLONG, offsetof(NodeObject, seq), READONLY, "Larger than that of any node made before."},
    {},
};
PyObject* get_site(PyObject* self, void*) {
  Site s = site(as_node(self)->site);
  if (!s.line) Py_RETURN_NONE;
  return Py_BuildValue("(si)", s.file.c_str(), s.line);
}
PyGetSetDef getters[] = {{"site", exclusive<get_site>, nullptr, "File and line of the call, or None.", nullptr}, {}};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("An entry of the tape: one recorded call.")},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(exclusive<clear>)},
    {Py_tp_dealloc, reinterpret_cast<void*>(exclusive<dealloc>)},
    {Py_tp_members, members},
    {Py_tp_getset, getters},
    {},
};
PyType_Spec spec = {"forerun._core.Node", sizeof(NodeObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

// A reference to the array for the tape: with its node, but without its values unless they are needed.
PyObject* kept(PyObject* o, bool value, bool place) {
  if (!is_array(o) || (value && place)) return Py_NewRef(o);
  ArrayObject* a = as_array(o);
  PyObject* copy = wrap(value ? a->array : Array(nullptr, a->array.layout));
  if (!copy) return nullptr;
  as_array(copy)->device = a->device;
  if (place && a->node) set_node(as_array(copy), a->node, a->index);
  return copy;
}

}  // namespace

PyTypeObject* make_node_type() { return node_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

unsigned long long tape_position() { return newest; }

void watch_saved(PyObject* output, PyObject* saved) {
  NodeObject* node = as_node(as_array(output)->node);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(saved); ++i)
    node->kept.emplace_back(as_array(PyTuple_GET_ITEM(saved, i))->array.storage());
}

bool record(PyObject* op, PyObject* const* inputs, Py_ssize_t n_in, PyObject* const* outputs, Py_ssize_t n_out,
            PyObject* attrs, unsigned save) {
  NodeObject* node = PyObject_GC_New(NodeObject, node_type);
  if (!node) return false;
  new (&node->kept) std::vector<Kept>;
  node->op = Py_NewRef(op);
  node->attrs = attrs && attrs != Py_None ? Py_NewRef(attrs) : nullptr;
  node->inputs = PyTuple_New(n_in);
  node->outputs = PyTuple_New(n_out);
  node->seq = ++newest;
  node->save = save = tracing ? 0xff : save;
  node->site = current_site();
  auto* self = reinterpret_cast<PyObject*>(node);
  auto keep = [&](PyObject* to, Py_ssize_t i, PyObject* o, bool value, bool place) {
    PyObject* k = kept(o, value, place);
    if (!k) return false;
    PyTuple_SET_ITEM(to, i, k);
    if (value && is_array(o) && as_array(o)->array.storage()) node->kept.emplace_back(as_array(o)->array.storage());
    return true;
  };
  bool good = node->inputs && node->outputs;
  try {
    for (Py_ssize_t i = 0; good && i < n_in; ++i)
      good = keep(node->inputs, i, inputs[i], i < 7 ? save >> i & 1 : save & 1, true);
    for (Py_ssize_t i = 0; good && i < n_out; ++i)
      good = keep(node->outputs, i, outputs[i], save & kSaveOutputs, false);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    good = false;
  }
  for (Py_ssize_t i = 0; good && i < n_out; ++i) set_node(as_array(outputs[i]), self, i);
  PyObject_GC_Track(self);
  Py_DECREF(self);
  return good;
}

}  // namespace forerun
