#include "python/ops/matmul.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/gemm/matmul.h"
#include "cpu/loops/loop.h"
#include "engine/devices/memory_budget.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/array_arguments.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/create.h"
#include "python/object/views/views.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

// NumPy's own loop for products of dtypes that BLAS does not support.
Loop matmul_loop(DType t) {
  static std::map<DType, Loop> loops;  // guarded by the interpreter lock
  if (loops.empty()) {
    PyObject* numpy = PyImport_ImportModule("numpy");
    PyObject* f = numpy ? PyObject_GetAttrString(numpy, "matmul") : nullptr;
    Py_XDECREF(numpy);
    if (!f) throw nb::python_error();
    auto* u = reinterpret_cast<PyUFuncObject*>(f);
    for (int i = 0; i < u->ntypes; ++i) {
      bool known;
      DType d = dtype_of_typenum(u->types[i * u->nargs], &known);
      if (known)
        loops.try_emplace(d, Loop{reinterpret_cast<LoopFunction>(u->functions[i]),
                                  u->data ? const_cast<void*>(u->data[i]) : nullptr});
    }
    // numpy.matmul lives as long as NumPy does.
  }
  return loops[t];
}

// The array with its last two axes exchanged.
Array transposed(const Array& array) {
  Layout layout = array.layout;
  int n = layout.ndim();
  if (n < 2)
    throw Error(ErrorKind::value,
                "matmul: transposed operands must have at least two dimensions, got shape " + to_string(layout.shape));
  std::swap(layout.shape[n - 2], layout.shape[n - 1]);
  std::swap(layout.strides[n - 2], layout.strides[n - 1]);
  return Array(array.storage(), std::move(layout));
}

// Operands of any number of axes: vectors become matrices, batch axes broadcast.
Array matmul_any(const Array& a, const Array& b, int device) {
  const Dims &sa = a.layout.shape, &sb = b.layout.shape;
  bool row = sa.size() == 1, column = sb.size() == 1;
  auto with_axis = [](const Layout& l, bool first) {  // a vector as a matrix
    Layout m = l;
    m.shape = first ? Dims{1, l.shape[0]} : Dims{l.shape[0], 1};
    m.strides = first ? Dims{0, l.strides[0]} : Dims{l.strides[0], 0};
    return m;
  };
  Layout la = row ? with_axis(a.layout, true) : a.layout, lb = column ? with_axis(b.layout, false) : b.layout;
  int na = la.ndim(), nb_ = lb.ndim();
  int64_t m = la.shape[na - 2], k = la.shape[na - 1], n = lb.shape[nb_ - 1];
  Dims batch = broadcast("matmul", Dims(la.shape.begin(), na - 2), Dims(lb.shape.begin(), nb_ - 2));
  auto with_batch = [&](int64_t rows, int64_t columns) {
    Dims shape(batch.size() + 2);
    std::copy(batch.begin(), batch.end(), shape.begin());
    shape[batch.size()] = rows, shape[batch.size() + 1] = columns;
    return shape;
  };
  Array out = Array::make(a.layout.dtype, with_batch(m, n), budget_of(device));
  Building op;
  build_matmul(*op, Array(a.storage(), broadcast_to("matmul", la, with_batch(m, k))),
               Array(b.storage(), broadcast_to("matmul", lb, with_batch(k, n))), out, matmul_loop(a.layout.dtype));
  op.issue(device);
  if (!row && !column) return out;
  Dims shape(batch.size() + !row + !column);
  std::copy(batch.begin(), batch.end(), shape.begin());
  if (!row) shape[batch.size()] = m;
  if (!column) shape[shape.size() - 1] = n;
  return Array(out.storage(), Layout::dense(out.layout.dtype, shape));
}

}  // namespace

Array product_of(const Array& a, const Array& b) {
  int device = device_of(a);
  if (a.layout.ndim() > 2 && b.layout.ndim() == 2 && a.layout.size > 0 && a.layout.contiguous()) {
    // A stack of matrices times one matrix is a tall matrix times that one.
    Dims shape = a.layout.shape;
    const int64_t terms = shape.back();
    const Array out = product_of(reshaped(a, Dims{a.layout.size / terms, terms}), b);
    shape[shape.size() - 1] = b.layout.shape[1];
    return reshaped(out, shape);
  }
  if (a.layout.ndim() != 2 || b.layout.ndim() != 2) return matmul_any(a, b, device);
  Array out = Array::make(a.layout.dtype, Dims{a.layout.shape[0], b.layout.shape[1]}, budget_of(device));
  Building op;
  build_matmul(*op, a, b, out, matmul_loop(a.layout.dtype));
  op.issue(device);
  return out;
}

namespace {

nb::object matmul(nb::handle a_object, nb::handle b_object, bool transpose_a, bool transpose_b) {
  const Array &given_a = arg("matmul", a_object), &given_b = arg("matmul", b_object);
  const Array &a = transpose_a ? transposed(given_a) : given_a, &b = transpose_b ? transposed(given_b) : given_b;
  int device = same_device("matmul", a, b);
  const Dims &sa = a.layout.shape, &sb = b.layout.shape;
  auto mismatch = [&](const char* what) {
    return Error(ErrorKind::value, std::string("matmul: ") + what + ", got " + to_string(sa) + " @ " + to_string(sb));
  };
  if (sa.empty() || sb.empty()) throw mismatch("operands must have at least one dimension");
  DType t = a.layout.dtype;
  if (t != b.layout.dtype)
    throw Error(ErrorKind::type,
                std::string("matmul: operands must have one dtype, got ") + name(t) + " and " + name(b.layout.dtype));
  if (sb[sb.size() == 1 ? 0 : sb.size() - 2] != sa[sa.size() - 1]) throw mismatch("inner dimensions must match");
  if (t == DType::bf16) {  // BLAS has no such product: computed in float32, rounded once
    nb::object product =
        matmul(wrapped(copied(a, DType::f32, device)), wrapped(copied(b, DType::f32, device)), false, false);
    return wrapped_like(product, copied(arg("matmul", product), t, device));
  }
  return wrapped_result(product_of(a, b));
}

}  // namespace

void init_matmul(Module& m) {
  m.def("matmul", matmul, nb::arg("a"), nb::arg("b"), nb::arg("transpose_a") = false, nb::arg("transpose_b") = false);
}

}  // namespace forerun
