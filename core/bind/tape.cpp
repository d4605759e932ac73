#include "bind/tape.h"

#include <structmember.h>

#include <utility>
#include <vector>

namespace forerun {

thread_local bool recording = false, training = false;

namespace {

PyTypeObject* node_type = nullptr;
unsigned long long newest = 0;  // guarded by the interpreter lock

struct NodeObject {
  PyObject_HEAD
  PyObject *op, *inputs, *outputs, *attrs;
  unsigned long long seq;
  // Storages whose values are kept, and how many writes each had then. References are held by the arrays in inputs, outputs and attrs.
  std::vector<std::pair<Storage*, uint32_t>>* versions;
};

NodeObject* as_node(PyObject* o) { return reinterpret_cast<NodeObject*>(o); }

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
  if (n->versions) n->versions->clear();
  Py_CLEAR(n->op);
  Py_CLEAR(n->inputs);
  Py_CLEAR(n->outputs);
  Py_CLEAR(n->attrs);
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, dealloc)
  PyTypeObject* type = Py_TYPE(self);
  clear(self);
  delete as_node(self)->versions;
  PyObject_GC_Del(self);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

PyObject* check_versions(PyObject* self, PyObject*) {
  for (auto [storage, version] : *as_node(self)->versions) {
    if (storage->issued.load() == version) continue;
    PyObject* name = PyObject_GetAttrString(as_node(self)->op, "name");
    PyErr_Format(PyExc_RuntimeError, "backward: values that %S saved must not be overwritten before, got an in-place write on them", name ? name : Py_None);
    Py_XDECREF(name);
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* release(PyObject* self, PyObject*) {
  NodeObject* n = as_node(self);
  n->versions->clear();
  Py_CLEAR(n->inputs);
  Py_CLEAR(n->outputs);
  Py_CLEAR(n->attrs);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"check_versions", check_versions, METH_NOARGS, "Raises RuntimeError if a value that this node saved was overwritten since."},
    {"release", release, METH_NOARGS, "Lets go of the inputs, outputs and attributes; all become None."},
    {},
};
PyMemberDef members[] = {
    {"op", T_OBJECT, offsetof(NodeObject, op), READONLY, "The op that was called."},
    {"inputs", T_OBJECT, offsetof(NodeObject, inputs), READONLY, "Its inputs; arrays without value where the gradients need none."},
    {"outputs", T_OBJECT, offsetof(NodeObject, outputs), READONLY, "Its outputs, without their places on the tape."},
    {"attrs", T_OBJECT, offsetof(NodeObject, attrs), READONLY, "Its keyword attributes, or None."},
    {"seq", T_ULONGLONG, offsetof(NodeObject, seq), READONLY, "Larger than that of any node made before."},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("An entry of the tape: one recorded call.")},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {},
};
PyType_Spec spec = {"forerun._core.Node", sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

// The array as the tape keeps it: with its place, but without its values unless they are needed.
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
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(saved); ++i) {
    Storage* s = as_array(PyTuple_GET_ITEM(saved, i))->array.storage();
    node->versions->push_back({s, s->issued.load()});
  }
}

bool record(PyObject* op, PyObject* const* inputs, Py_ssize_t n_in, PyObject* const* outputs, Py_ssize_t n_out, PyObject* attrs, unsigned save) {
  NodeObject* node = PyObject_GC_New(NodeObject, node_type);
  if (!node) return false;
  node->op = Py_NewRef(op);
  node->attrs = attrs && attrs != Py_None ? Py_NewRef(attrs) : nullptr;
  node->inputs = PyTuple_New(n_in);
  node->outputs = PyTuple_New(n_out);
  node->seq = ++newest;
  node->versions = new std::vector<std::pair<Storage*, uint32_t>>;
  auto* self = reinterpret_cast<PyObject*>(node);
  auto keep = [&](PyObject* to, Py_ssize_t i, PyObject* o, bool value, bool place) {
    PyObject* k = kept(o, value, place);
    if (!k) return false;
    PyTuple_SET_ITEM(to, i, k);
    if (value && is_array(o) && as_array(o)->array.storage()) {
      Storage* s = as_array(o)->array.storage();
      node->versions->push_back({s, s->issued.load()});
    }
    return true;
  };
  bool good = node->inputs && node->outputs;
  for (Py_ssize_t i = 0; good && i < n_in; ++i) good = keep(node->inputs, i, inputs[i], i < 7 ? save >> i & 1 : save & 1, true);
  for (Py_ssize_t i = 0; good && i < n_out; ++i) good = keep(node->outputs, i, outputs[i], save >> 7 & 1, false);
  for (Py_ssize_t i = 0; good && i < n_out; ++i) set_node(as_array(outputs[i]), self, i);
  PyObject_GC_Track(self);
  Py_DECREF(self);
  return good;
}

}  // namespace forerun
