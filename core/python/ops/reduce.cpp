// Reductions, scans, products, random numbers and host tasks, for Python.
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "base/bfloat16.h"
#include "kernels/matmul.h"
#include "kernels/move.h"
#include "kernels/neighbours.h"
#include "kernels/random.h"
#include "kernels/reduce.h"
#include "python/bindings.h"
#include "python/capture/captured_program.h"
#include "python/dispatch/operator_table.h"
#include "python/dispatch/primitive_type.h"
#include "python/dispatch/ufunc_type.h"
#include "python/numpy_api.h"
#include "python/ops/host_task.h"
#include "python/ops/reduce.h"

namespace forerun {

namespace {

// The loop that takes and gives dtype t.
Loop uniform_loop(UfuncObject* u, DType t) {
  const Signature* s = same_loop(u, t);
  if (!s || s->types[u->nin] != t || u->nin != 2 || u->nout != 1)
    throw Error(ErrorKind::type, std::string(u->name) +
                                     ": must have a loop that combines two values of a dtype into one, got " + name(t));
  return s->loop;
}

Scalar identity_of(UfuncObject* u, DType t) {
  Scalar scalar{};
  PyObject* value = is_inexact(t) ? PyFloat_FromDouble(u->identity) : PyLong_FromDouble(u->identity);
  bool good = value && put_scalar(u->name, value, t, scalar.bytes);
  Py_XDECREF(value);
  if (!good) {  // all bits set, for unsigned integers
    PyErr_Clear();
    std::fill(std::begin(scalar.bytes), std::end(scalar.bytes), 0xff);
  }
  return scalar;
}

// What may be combined with any value of dtype t and leaves it as it is, but for a sum of nothing but -0.0, which NumPy
// makes positive, too.
std::optional<Scalar> neutral_of(UfuncObject* u, DType t) {
  auto is = [&](const char* name) { return std::strcmp(u->name, name) == 0; };
  Scalar scalar{};
  auto put = [&](auto value) {
    std::memcpy(scalar.bytes, &value, sizeof value);
    return scalar;
  };
  auto real = [&](double value, uint16_t half) {
    switch (t) {
      case DType::f16: return put(half);
      case DType::bf16: return put(Bfloat16(static_cast<float>(value)));
      case DType::f32: return put(static_cast<float>(value));
      default: return put(value);
    }
  };
  if (is("logical_and")) return t == DType::b1 ? std::optional(put(true)) : std::nullopt;
  if (is("logical_or")) return t == DType::b1 ? std::optional(put(false)) : std::nullopt;
  if (is("add")) return scalar;
  if (is("multiply") && !is_complex(t)) return is_inexact(t) ? real(1, 0x3c00) : identity_of(u, t);
  bool most = is("maximum"), least = is("minimum");
  if (!(most || least) || is_complex(t)) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_inexact(t)) return real(most ? -kInfinity : kInfinity, most ? 0xfc00 : 0x7c00);
  // Integers: all bits alike, but for the sign.
  bool ones = least, sign = is_signed(t);
  std::memset(scalar.bytes, t == DType::b1 ? ones : ones ? 0xff : 0, item_size(t));
  if (sign) scalar.bytes[item_size(t) - 1] ^= 0x80;
  return scalar;
}

// Sums and products of 16-bit floats are made in float32 and rounded once: a running sum of bfloat16 would stop growing
// at 256.
DType accumulator(UfuncObject* u, DType t) {
  bool rounds = std::strcmp(u->name, "add") == 0 || std::strcmp(u->name, "multiply") == 0;
  return rounds && is_real_float(t) && item_size(t) == 2 ? DType::f32 : t;
}

}  // namespace

Array reduced(UfuncObject* u, const char* label, const Array& in, const bool* axes, DType t, bool keepdims) {
  if (DType wide = accumulator(u, t); wide != t)
    return copied(reduced(u, label, in, axes, wide, keepdims), t, device_of(in));
  Loop loop = uniform_loop(u, t);
  int n = in.layout.ndim();
  std::optional<Scalar> neutral = neutral_of(u, t);
  if (neutral && in.layout.size > 0 && in.layout.contiguous()) {
    // Axes that do not follow one another: the last ones first, so that each step can be a part of a group.
    auto counts = [&](int i) { return axes[i] && in.layout.shape[i] > 1; };
    int last = n - 1;
    while (last >= 0 && !counts(last)) --last;
    int first = last;
    while (first > 0 && (axes[first - 1] || in.layout.shape[first - 1] == 1)) --first;
    bool more = false;
    for (int i = 0; i < first; ++i) more = more || counts(i);
    if (more) {
      bool inner[kMaxDims] = {};
      for (int i = first; i <= last; ++i) inner[i] = axes[i];
      return reduced(u, label, reduced(u, label, in, inner, t, true), axes, t, keepdims);
    }
  }
  int64_t kept[kMaxDims], shown[kMaxDims];
  int n_kept = 0, n_shown = 0;
  bool empty = false;
  for (int i = 0; i < n; ++i) {
    if (!axes[i])
      kept[n_kept++] = shown[n_shown++] = in.layout.shape[i];
    else if (keepdims)
      shown[n_shown++] = 1;
    empty = empty || (axes[i] && in.layout.shape[i] == 0);
  }
  Array out = Array::make(t, Dims(kept, n_kept), budget_of(device_of(in)));
  if (empty && !u->has_identity && out.layout.size > 0)
    throw Error(ErrorKind::value,
                std::string(label) + ": reduced axes must not be empty, got shape " + to_string(in.layout.shape));
  // As in NumPy, sums start from 0 and products from 1: of complex numbers that can be seen.
  auto is = [&](const char* name) { return std::strcmp(u->name, name) == 0; };
  bool starts = u->has_identity && (empty || is("add") || is("multiply"));
  Scalar identity = starts ? identity_of(u, t) : Scalar{};
  Building building;
  build_reduce(*building, label, loop, in, axes, starts ? &identity : nullptr, neutral ? &*neutral : nullptr, out);
  building.issue(device_of(in));
  if (!keepdims) return out;
  return Array(out.storage(), Layout::dense(t, Dims(shown, n_shown)));
}

namespace {

nb::object reduce(nb::handle op, nb::handle a, nb::handle axes_object, nb::handle dtype, bool keepdims,
                  const char* name) {
  UfuncObject* u = get_ufunc("reduce", op.ptr());
  const char* label = *name ? intern(name) : u->name;
  const Array& in = arg(label, a);
  DType t = dtype.is_none() ? in.layout.dtype : parse_dtype(label, dtype.ptr());
  bool axes[kMaxDims] = {};
  for (int64_t axis : parse_dims(label, axes_object.ptr())) {
    int i = normal_axis(label, axis, in.layout.ndim());
    if (axes[i])
      throw Error(ErrorKind::value,
                  std::string(label) + ": axes must be different, got " + std::to_string(i) + " twice");
    axes[i] = true;
  }
  return wrapped_result(reduced(u, label, in, axes, t, keepdims));
}

}  // namespace

Array sum_to(const Array& array, const Dims& shape) {
  const Dims& from = array.layout.shape;
  int lead = from.size() - shape.size(), n = 0;
  int64_t kept[kMaxDims];
  bool reduced[kMaxDims], fits = lead >= 0;
  for (int i = 0; fits && i < from.size(); ++i) {
    reduced[i] = i < lead || (shape[i - lead] == 1 && from[i] != 1);
    fits = reduced[i] || from[i] == shape[i - lead];
    if (!reduced[i]) kept[n++] = from[i];
  }
  if (!fits)
    throw Error(ErrorKind::value, "backward: gradient must have a shape that " + to_string(shape) +
                                      " broadcasts to, got " + to_string(from));
  auto* add = get_ufunc("sum", slot_op(Slot::add));
  DType t = accumulator(add, array.layout.dtype);
  Array out = Array::make(t, Dims(kept, n), budget_of(device_of(array)));
  Scalar zero{};
  Building building;
  std::optional<Scalar> neutral = neutral_of(add, t);
  build_reduce(*building, "sum", uniform_loop(add, t), array, reduced, array.layout.size ? nullptr : &zero,
               neutral ? &*neutral : nullptr, out);
  building.issue(device_of(array));
  Array total(out.storage(), Layout::dense(t, shape));
  return t == array.layout.dtype ? total : copied(total, array.layout.dtype, device_of(array));
}

Array scanned(UfuncObject* u, const char* label, const Array& in, int axis, DType t) {
  Array out = Array::make(t, in.layout.shape, budget_of(device_of(in)));
  Building building;
  build_scan(*building, label, uniform_loop(u, t), in, axis, out);
  building.issue(device_of(in));
  return out;
}

namespace {

nb::object scan(nb::handle op, nb::handle a, int64_t axis, nb::handle dtype, const char* name) {
  UfuncObject* u = get_ufunc("scan", op.ptr());
  const char* label = *name ? intern(name) : u->name;
  const Array& in = arg(label, a);
  DType t = dtype.is_none() ? in.layout.dtype : parse_dtype(label, dtype.ptr());
  return wrapped(scanned(u, label, in, normal_axis(label, axis, in.layout.ndim()), t));
}

// NumPy's own loop for products of dtypes that BLAS does not know.
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
Array turned(const Array& array) {
  Layout layout = array.layout;
  int n = layout.ndim();
  if (n < 2)
    throw Error(ErrorKind::value,
                "matmul: transposed operands must have at least two dimensions, got shape " + to_string(layout.shape));
  std::swap(layout.shape[n - 2], layout.shape[n - 1]);
  std::swap(layout.strides[n - 2], layout.strides[n - 1]);
  return Array(array.storage(), std::move(layout));
}

// Any operands: vectors become matrices, batch axes broadcast.
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
  const Array &a = transpose_a ? turned(given_a) : given_a, &b = transpose_b ? turned(given_b) : given_b;
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
  if (t == DType::bf16) {  // BLAS has no such product: through float32, rounded once
    nb::object product =
        matmul(wrapped(copied(a, DType::f32, device)), wrapped(copied(b, DType::f32, device)), false, false);
    return wrapped_like(product, copied(arg("matmul", product), t, device));
  }
  return wrapped_result(product_of(a, b));
}

// Sums of neighbours with weights, of vectors of one dtype; none where there is nothing for them.
nb::object neighbours(nb::handle in_object, nb::handle weights_object, int64_t first, int64_t length) {
  const Array &in = arg("correlate", in_object), &weights = arg("correlate", weights_object);
  const DType t = in.layout.dtype;
  const bool good = (t == DType::f32 || t == DType::f64) && weights.layout.dtype == t && in.layout.ndim() == 1 &&
                    weights.layout.ndim() == 1 && in.layout.contiguous() && in.layout.size > 0 &&
                    weights.layout.size > 0 && weights.layout.size <= kMostWeights && length > 0;
  if (!good) return nb::none();
  Array out = Array::make(t, Dims{length}, budget_of(same_device("correlate", in, weights)));
  Building op;
  build_neighbours(*op, in, weights, first, out);
  op.issue(device_of(in));
  return wrapped(std::move(out));
}

nb::object concatenate(nb::handle sequence, int64_t axis) {
  std::vector<Array> arrays = args("concatenate", sequence);
  if (arrays.empty()) throw Error(ErrorKind::value, "concatenate: there must be at least one array, got none");
  const Layout& first = arrays[0].layout;
  int at = normal_axis("concatenate", axis, first.ndim());
  Dims shape = first.shape;
  shape[at] = 0;
  for (const Array& a : arrays) {
    same_device("concatenate", arrays[0], a);
    bool fits = a.layout.ndim() == first.ndim() && a.layout.dtype == first.dtype;
    for (int i = 0; fits && i < first.ndim(); ++i) fits = i == at || a.layout.shape[i] == first.shape[i];
    if (!fits)
      throw Error(ErrorKind::value, "concatenate: arrays must agree in dtype and all axes but one, got " +
                                        to_string(first.shape) + " and " + to_string(a.layout.shape));
    shape[at] += a.layout.shape[at];
  }
  Array out = Array::make(first.dtype, shape, budget_of(device_of(arrays[0])));
  Building op;
  build_concatenate(*op, arrays, at, out);
  op.issue(device_of(arrays[0]));
  return wrapped(std::move(out));
}

// --- random numbers: a stream is (seed, number of the op) ------------------------------------------------------------

uint64_t seed = 0, next_number = 0;  // guarded by the interpreter lock

void draws_on_host() {
  if (capture) capture->refuse("it draws random numbers on the host, or from a stream of its own");
}

// With a stream of the caller's, (its seed, number of the op in it), the numbers are the same in each run of a program:
// so it is no program.
nb::object random(std::string_view kind, nb::handle shape, nb::handle dtype, nb::handle device, nb::handle lo,
                  nb::handle hi, nb::handle stream) {
  DType t = parse_dtype("random", dtype.ptr());
  int d = device_index("random", device);
  Distribution what = kind == "uniform"       ? Distribution::uniform
                      : kind == "normal"      ? Distribution::normal
                      : kind == "exponential" ? Distribution::exponential
                                              : Distribution::integers;
  if (what == Distribution::integers ? !(is_integer(t) || t == DType::b1) : t != DType::f32 && t != DType::f64)
    throw Error(ErrorKind::type,
                "random: dtype must suit the distribution, got " + std::string(kind) + " of " + name(t));
  double a = 0, b = 1;
  int64_t low = 0;
  uint64_t range = 0;
  if (what == Distribution::integers) {
    Scalar first{}, last{};
    nb::object end = checked(PyNumber_Subtract(hi.ptr(), checked(PyLong_FromLong(1)).ptr()));
    if (!put_scalar("integers", lo.ptr(), t, first.bytes) || !put_scalar("integers", end.ptr(), t, last.bytes))
      throw nb::python_error();
    nb::object width = checked(PyNumber_Subtract(end.ptr(), lo.ptr()));
    range = PyLong_AsUnsignedLongLong(width.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw Error(ErrorKind::value, "integers: low must be below high, got " + nb::cast<std::string>(nb::str(lo)) +
                                        " and " + nb::cast<std::string>(nb::str(hi)));
    }
    low = static_cast<int64_t>(PyLong_AsUnsignedLongLongMask(lo.ptr()));
  } else {
    a = nb::cast<double>(lo), b = nb::cast<double>(hi);
    if (what != Distribution::uniform && b < 0)
      throw Error(ErrorKind::value, std::string(kind) + ": scale must not be negative, got " + std::to_string(b));
  }
  Array out = Array::make(t, parse_dims("random", shape.ptr()), budget_of(d));
  uint64_t from = seed, number = 0;
  if (stream.is_none()) {
    number = next_number++;
  } else {
    draws_on_host();
    from = nb::cast<uint64_t>(stream[0]), number = nb::cast<uint64_t>(stream[1]);
  }
  Building op;
  build_random(*op, what, from, number, a, b, low, range, out);
  op.issue(d);
  return wrapped(std::move(out));
}

// --- host tasks ------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse_cut(const char* label, Cut cut, const Array& a) {
  throw Error(ErrorKind::value, std::string(label) + ": operands must have one extent of at least " +
                                    std::to_string(cut.pieces) + " along axis " + std::to_string(cut.axis) +
                                    ", got shape " + to_string(a.layout.shape));
}

void check_cut(const char* label, Cut cut, const std::vector<Array>& operands) {
  for (const Array& a : operands) {
    bool has = cut.axis >= 0 && cut.axis < a.layout.ndim() && cut.pieces > 0 && a.layout.shape[cut.axis] >= cut.pieces;
    if (!has || a.layout.shape[cut.axis] != operands[0].layout.shape[cut.axis]) refuse_cut(label, cut, a);
  }
}

// outs: of each result its shape and dtype; or an array, which is written.
// Whether a task whose cost grows with the elements may run in the call.
bool small(const std::vector<Array>& in, const std::vector<Array>& out) {
  constexpr int64_t kMost = 1 << 15;
  int64_t bytes = 0;
  for (const auto* arrays : {&in, &out})
    for (const Array& a : *arrays) bytes += a.layout.nbytes();
  return bytes <= kMost;
}

nb::list host(nb::handle fn, nb::handle inputs, nb::handle outs, nb::handle device, const char* name, const char* queue,
              bool trusted, bool fills, int64_t pieces, int axis, bool cheap) {
  const char* label = intern_some(name);
  std::vector<Array> in = args(label, inputs), out;
  int d = !device.is_none() || in.empty() ? device_index(label, device) : device_of(in[0]);
  if (device.is_none())
    for (const Array& a : in) same_device(label, in[0], a);
  for (nb::handle spec : outs)
    out.push_back(is_array(spec.ptr()) ? get_writable(label, spec.ptr())
                                       : Array::make(parse_dtype(label, nb::object(spec[1]).ptr()),
                                                     parse_dims(label, nb::object(spec[0]).ptr()), budget_of(d)));
  Cut cut{pieces, axis};
  if (pieces != 1 && fills)
    throw Error(ErrorKind::value, std::string(label) + ": a task that fills memory must not be cut, got " +
                                      std::to_string(pieces) + " pieces");
  if (pieces != 1) check_cut(label, cut, in), check_cut(label, cut, out);
  if (pieces != 1 && !in.empty() && !out.empty() && in[0].layout.shape[axis] != out[0].layout.shape[axis])
    refuse_cut(label, cut, out[0]);
  Building op;
  build_host(*op, label, fn.ptr(), in, out, fills ? HostTask::fills : trusted ? HostTask::trusted : HostTask::any, cut);
  op.issue(d, std::strcmp(queue, "io") == 0 ? Queue::Kind::io : Queue::Kind::compute,
           cheap && pieces == 1 && small(in, out));
  nb::list results;
  size_t i = 0;
  for (nb::handle spec : outs) {
    Array& a = out[i++];
    results.append(is_array(spec.ptr()) ? wrapped(std::move(a)) : wrapped_result(std::move(a)));
  }
  return results;
}

}  // namespace

Key draw_numbers(uint64_t count) { return {seed, std::exchange(next_number, next_number + count)}; }

void init_families(nb::module_& m) {
  m.def("reduce", reduce, nb::arg("op"), nb::arg("a"), nb::arg("axes"), nb::arg("dtype").none() = nb::none(),
        nb::arg("keepdims") = false, nb::arg("name") = "");
  m.def("sum_to", [](nb::handle a, nb::handle shape) {
    return wrapped(sum_to(arg("sum_to", a), parse_dims("sum_to", shape.ptr())));
  });
  m.def("scan", scan, nb::arg("op"), nb::arg("a"), nb::arg("axis"), nb::arg("dtype").none() = nb::none(),
        nb::arg("name") = "");
  m.def("matmul", matmul, nb::arg("a"), nb::arg("b"), nb::arg("transpose_a") = false, nb::arg("transpose_b") = false);
  m.def("neighbours", neighbours, nb::arg("a"), nb::arg("weights"), nb::arg("first"), nb::arg("length"),
        "Sums of a[first + i + j] * weights[j] over j, of few weights; None if it does not suit them.");
  m.def("concatenate", concatenate, nb::arg("arrays"), nb::arg("axis") = 0);
  m.def(
      "random",
      [](const char* kind, nb::handle shape, nb::handle dtype, nb::handle device, nb::handle lo, nb::handle hi,
         nb::handle stream) { return random(kind, shape, dtype, device, lo, hi, stream); },
      nb::arg("kind"), nb::arg("shape"), nb::arg("dtype"), nb::arg("device").none(), nb::arg("lo"), nb::arg("hi"),
      nb::arg("stream") = nb::none());
  m.def("random_key", [] { return draws_on_host(), next_number++; });
  m.def("random_seed", [] { return seed; });
  m.def("random_drawn", [] { return next_number; });  // how many ops have drawn since then
  m.def(
      "seed", [](uint64_t s, uint64_t drawn) { draws_on_host(), seed = s, next_number = drawn; }, nb::arg("value"),
      nb::arg("drawn") = 0);
  m.def("host", host, nb::arg("fn"), nb::arg("inputs"), nb::arg("outs"), nb::arg("device").none() = nb::none(),
        nb::arg("name") = "host", nb::arg("queue") = "compute", nb::arg("trusted") = false, nb::arg("fills") = false,
        nb::arg("pieces") = 1, nb::arg("axis") = 0, nb::arg("cheap") = false);
}

}  // namespace forerun
