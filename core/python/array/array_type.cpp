#include "python/array/array_type.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "python/array/attributes.h"
#include "python/array/indexing.h"
#include "python/array/iterators.h"
#include "python/array/operators.h"
#include "python/array/values.h"
#include "python/front_end.h"
#include "python/object/array_object.h"

namespace forerun {

namespace {

#define FN(f) reinterpret_cast<void*>(f)
const PyType_Slot object_slots[] = {
    {Py_tp_doc, const_cast<char*>("The core's part of an array; forerun.np.ndarray derives from it.")},
    {Py_tp_traverse, FN(visit_array)},
    {Py_tp_clear, FN(exclusive<clear_array>)},
    {Py_tp_is_gc, FN(is_collected)},
    {Py_tp_dealloc, FN(exclusive<free_array>)},
    {Py_tp_hash, FN(PyObject_HashNotImplemented)},
    {Py_mp_subscript, FN(exclusive<subscript>)},
    {Py_mp_ass_subscript, FN(exclusive<assign_subscript>)},
    {Py_tp_iter, FN(exclusive<iterate>)},
    {Py_sq_item, FN(exclusive<sequence_item>)},
};
#undef FN

std::vector<PyType_Slot> all_slots() {
  std::vector<PyType_Slot> all(std::begin(object_slots), std::end(object_slots));
  for (std::span<const PyType_Slot> some : {operator_slots(), value_slots(), attribute_slots()})
    all.insert(all.end(), some.begin(), some.end());
  all.push_back({});
  return all;
}

// A subclass without members of its own has no further members to release. For a class that was made in Python, Python
// looks up __getitem__ at each step of an iteration; this slot is as fast.
void shorten(PyTypeObject* type) {
  if (type->tp_basicsize == array_base->tp_basicsize && type->tp_dictoffset == 0)
    type->tp_dealloc = exclusive<free_array>;
  type->tp_as_sequence->sq_item = sequence_item;
}

}  // namespace

PyTypeObject* make_array_type() {
  std::vector<PyType_Slot> slots = all_slots();
  PyType_Spec spec = {"forerun._core.Array", sizeof(ArrayObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots.data()};
  array_base = array_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  scalar_type = array_base;
  std::fill(std::begin(scalar_types), std::end(scalar_types), array_base);
  return array_base;
}

void set_array_type(PyTypeObject* type) { shorten(array_type = type); }
void set_scalar_type(PyTypeObject* type) {
  shorten(scalar_type = type);
  std::fill(std::begin(scalar_types), std::end(scalar_types), type);
}

void set_scalar_type_of(DType dtype, PyTypeObject* type) {
  if (type != scalar_type) shorten(type);
  scalar_types[static_cast<int>(dtype)] = type;
}

}  // namespace forerun
