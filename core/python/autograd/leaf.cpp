// The leaves of the tape.
#include "python/autograd/leaf.h"

#include <structmember.h>

#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "engine/engine.h"
#include "python/bindings.h"
#include "python/front_end.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/create.h"
#include "python/object/scalar.h"
#include "python/runtime/submission/capture.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

PyTypeObject* leaf_type = nullptr;

namespace {

using Request = LeafObject::Request;
constexpr const char* kRequests[] = {"write", "add", "null"};

PyObject* get_request(PyObject* self, void*) {
  return PyUnicode_FromString(kRequests[static_cast<int>(as_leaf(self)->request)]);
}

int set_request(PyObject* self, PyObject* value, void*) {
  for (int i = 0; value && PyUnicode_Check(value) && i < 3; ++i)
    if (PyUnicode_CompareWithASCIIString(value, kRequests[i]) == 0)
      return as_leaf(self)->request = static_cast<Request>(i), 0;
  PyErr_Format(PyExc_ValueError, "attach_grad: grad_req must be \"write\", \"add\" or \"null\", got %R",
               value ? value : Py_None);
  return -1;
}

int init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"grad", "grad_req", nullptr};
  PyObject *grad, *request;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO", const_cast<char**>(names), &grad, &request)) return -1;
  Py_XSETREF(as_leaf(self)->grad, Py_NewRef(grad));
  return set_request(self, request, nullptr);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_leaf(self)->grad);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_leaf(self)->grad);
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"grad", T_OBJECT, offsetof(LeafObject, grad), 0, "The gradient: an array, or None."},
    {},
};
PyGetSetDef attributes[] = {
    {"grad_req", exclusive<get_request>, exclusive<set_request>,
     "The use of a gradient: \"write\" it, \"add\" it, or \"null\": none.", nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("Variable(grad, grad_req): a leaf of the tape, where gradients arrive.")},
    {Py_tp_init, reinterpret_cast<void*>(exclusive<init>)},
    {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(exclusive<clear>)},
    {Py_tp_dealloc, reinterpret_cast<void*>(exclusive<dealloc>)},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {},
};
PyType_Spec spec = {"forerun._core.Variable", sizeof(LeafObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

// Gradients are written to, so they are not scalars: a scalar without other references becomes an array, others are
// copied.
PyObject* writable_gradient(nb::object g) {
  if (!is_scalar(g.ptr())) return g.release().ptr();
  ArrayObject* a = as_array(g.ptr());
  if (Py_REFCNT(g.ptr()) == 1 && a->array.storage()->has_one_handle()) return become(g.ptr(), false), g.release().ptr();
  nb::object own = wrapped(copied(a->array, a->array.layout.dtype, a->device));
  set_node(as_array(own.ptr()), a->node, a->index);
  return own.release().ptr();
}

// Whether `array` is the only user of its memory: it has no views, and is not kept for a gradient.
bool alone(const Array& array) {
  return array.storage() && array.covers_storage() && array.storage()->has_one_handle();
}

// Gives the gradient array the memory of a new gradient without other references, instead of copying its values. False:
// it cannot.
bool take_over(PyObject* to, PyObject* from) {
  ArrayObject *a = as_array(to), *b = as_array(from);
  if (Py_REFCNT(from) != 1 || a->node || !alone(a->array) || !alone(b->array)) return false;
  if (a->device != b->device || a->array.layout.dtype != b->array.layout.dtype ||
      !(a->array.layout.shape == b->array.layout.shape))
    return false;
  std::swap(a->array, b->array);
  return true;
}

void assign(const Array& to, const Array& from) {
  Building op;
  build_copy(*op, from, to);
  op.issue(device_of(to), device_of(from) == device_of(to) ? Queue::Kind::compute : Queue::Kind::copy);
}

}  // namespace

PyTypeObject* make_leaf_type() { return leaf_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

bool receive_gradient(LeafObject* leaf, PyObject* g, bool first) {
  nb::object held = nb::steal(g);
  if (leaf->request == Request::null) return true;
  ++leaf->received;
  bool anew = first && leaf->request == Request::write;
  if (as_array(g)->node || !anew) {  // a gradient on the tape, for gradients of gradients, is never written to
    PyObject* sum = anew                ? held.release().ptr()
                    : as_array(g)->node ? PyNumber_Add(leaf->grad, g)
                                        : PyNumber_InPlaceAdd(leaf->grad, g);
    if (!sum) return false;
    sum = writable_gradient(nb::steal(sum));
    Py_SETREF(leaf->grad, sum);
  } else if (capture || !is_array(leaf->grad) || !take_over(leaf->grad, g)) {  // while capturing it must be an op
    assign(writable("backward", get_array("backward", leaf->grad)), get_array("backward", g));
  }
  return true;
}

}  // namespace forerun
