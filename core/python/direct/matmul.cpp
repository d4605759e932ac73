// Plain products of vectors and matrices.
#include "python/direct/matmul.h"

#include <utility>

#include "array/array.h"
#include "cpu/kernels/gemm/matmul.h"
#include "python/direct/creation/convert.h"
#include "python/direct/creation/from_lists.h"
#include "python/direct/function_type.h"
#include "python/direct/lent.h"
#include "python/dispatch/loops/promotion.h"
#include "python/numpy_api.h"
#include "python/object/array_object.h"
#include "python/ops/matmul.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

constexpr int64_t kMultipliedAtOnce = 1 << 15;  // products of two numbers that need no operation

// a @ b of one dtype, where one operand is a vector, if there are few products. No storage: an operation must do it.
Array multiplied_at_once(const Array& a, const Array& b, DType t) {
  const bool matrix_first = a.layout.ndim() == 2, vectors = !matrix_first && b.layout.ndim() == 1;
  const Layout& larger = matrix_first ? a.layout : b.layout;
  if ((matrix_first && b.layout.ndim() == 2) || larger.size == 0 || larger.size > kMultipliedAtOnce ||
      (t != DType::f32 && t != DType::f64) || a.layout.dtype != b.layout.dtype || !may_work_at_once())
    return {};
  const char *from = values_at_once(a), *by = from ? values_at_once(b) : nullptr;
  const Dims shape = vectors ? Dims{} : Dims{larger.shape[matrix_first ? 0 : 1]};
  Array made = by ? made_at_once(t, shape, device_of(a)) : Array();
  if (!made.storage() || !multiply_with_vector(a.layout, from, b.layout, by, made.storage()->data())) return {};
  written_at_once(made);
  return made;
}

// a @ b, with one or two axes each. Null without an exception set: not plain.
PyObject* product_of_plain(PyObject* first, PyObject* second) {
  const Array *a = plain_array(first), *b = plain_array(second);
  if (!a || !b || as_array(first)->device != as_array(second)->device) return nullptr;
  const DType t = promote(a->layout.dtype, b->layout.dtype);
  const Dims &sa = a->layout.shape, &sb = b->layout.shape;
  if (t == DType::b1 || item_size(t) == 2 || sa.empty() || sb.empty() || sa.size() > 2 || sb.size() > 2) return nullptr;
  if (sa[sa.size() - 1] != sb[sb.size() == 1 ? 0 : sb.size() - 2]) return nullptr;
  if (Array made = multiplied_at_once(*a, *b, t); made.storage()) return wrap_result(std::move(made));
  return wrap_result(product_of(of_dtype(*a, t), of_dtype(*b, t)));
}

constexpr int64_t kFewVectors = 32;  // with which a product takes no longer than a copy of the other operand

// Whether an operand is a vector, or a matrix of few vectors, which are multiplied with the columns of the second
// operand or, if `is_second`, with the rows of the first one.
bool has_few_vectors(PyObject* operand, bool is_second) {
  const Array* a = plain_array(operand);
  return a && (a->layout.ndim() < 2 || (a->layout.ndim() == 2 && a->layout.shape[is_second ? 1 : 0] <= kFewVectors));
}

// a @ b, with NumPy's larger operand read in place.
PyObject* product_in_place(PyObject* first, PyObject* second) {
  const auto bytes = [](PyObject* o) {
    return PyArray_CheckExact(o) ? PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(o)) : npy_intp{0};
  };
  const bool is_first = bytes(first) >= bytes(second);
  PyObject* larger = is_first ? first : second;
  const nb::object other = array_from_like(is_first ? second : first);
  const nb::object lent = has_few_vectors(other.ptr(), is_first) ? lent_by(larger, Reader::product) : nb::object();
  const nb::object array = lent ? lent : array_from_like(larger);
  PyObject* result = is_first ? product_of_plain(array.ptr(), other.ptr()) : product_of_plain(other.ptr(), array.ptr());
  return lent ? when_ended(result) : result;
}

}  // namespace

PyObject* matmul_directly(PyObject* first, PyObject* second) {
  return guarded([&] {
    if (PyArray_CheckExact(first) || PyArray_CheckExact(second)) return product_in_place(first, second);
    const nb::object a = array_from_like(first), b = array_from_like(second);
    return product_of_plain(a.ptr(), b.ptr());
  });
}

namespace {

PyObject* dot(const DirectCall& call) {
  return call.n == 2 && !call.kwnames ? matmul_directly(call.args[0], call.args[1]) : nullptr;
}

// Products of two vectors of real numbers.
PyObject* inner(const DirectCall& call) {
  const Array *a = call.n == 2 && !call.kwnames ? plain_array(call.args[0]) : nullptr,
              *b = a ? plain_array(call.args[1]) : nullptr;
  if (!b || a->layout.ndim() != 1 || b->layout.ndim() != 1 || is_complex(a->layout.dtype)) return nullptr;
  return matmul_directly(call.args[0], call.args[1]);
}

}  // namespace

void add_direct_products() {
  add_direct("dot", dot);
  add_direct("inner", inner);
}

}  // namespace forerun
