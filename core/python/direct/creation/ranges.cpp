// Plain calls of arange and linspace.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "array/array.h"
#include "python/direct/creation/creation_arguments.h"
#include "python/direct/function_type.h"
#include "python/object/array_object.h"
#include "python/object/conversion/dtypes.h"
#include "python/object/plain.h"
#include "python/runtime/submission/at_once.h"
#include "python/runtime/submission/devices.h"

namespace forerun {

namespace {

// A vector of n floats of the default dtype, computed from their indices, except the last one if it is given; the
// Python function reports sizes that are too large.
template <class F>
PyObject* floats(int64_t n, double largest, F at, const double* last = nullptr) {
  if (default_float == DType::f32 && !(std::abs(largest) <= std::numeric_limits<float>::max())) return nullptr;
  Array made = made_at_once(default_float, Dims{n}, here());
  if (!made.storage()) return nullptr;
  // The index is an int: vector instructions convert it to every dtype.
  auto fill = [&](auto* to) {
    for (int i = 0; i < static_cast<int>(n); ++i)
      to[i] = static_cast<std::remove_reference_t<decltype(*to)>>(at(static_cast<double>(i)));
    if (last) to[n - 1] = static_cast<std::remove_reference_t<decltype(*to)>>(*last);
  };
  char* to = made.storage()->data();
  default_float == DType::f64 ? fill(reinterpret_cast<double*>(to)) : fill(reinterpret_cast<float*>(to));
  written_at_once(made);
  return wrap(std::move(made));
}

// Reads floats and ints; absent ones are unchanged. False: there is another object.
bool plain_floats(PyObject* const* given, int n, double* numbers) {
  for (int i = 0; i < n; ++i) {
    if (absent(given[i])) continue;
    int beyond = 0;
    if (plain_int(given[i]))
      PyLong_AsLongLongAndOverflow(given[i], &beyond);
    else if (!PyFloat_CheckExact(given[i]))
      return false;
    if (beyond) return false;
    numbers[i] = PyFloat_AsDouble(given[i]);
  }
  return std::all_of(numbers, numbers + n, [](double v) { return std::isfinite(v); });
}

// As in NumPy, the step is the difference that the first addition makes.
PyObject* float_range(PyObject* const* given) {
  double number[3] = {0, 0, 1};
  if (!plain_floats(given, 3, number)) return nullptr;
  if (absent(given[1])) std::swap(number[0], number[1]);
  auto [start, stop, step] = number;
  const double n = std::ceil((stop - start) / step), by = (start + step) - start;
  if (!(n >= 1 && n <= INT32_MAX)) return nullptr;
  return floats(static_cast<int64_t>(n), std::max(std::abs(start), std::abs(start + n * by)),
                [=](double i) { return start + i * by; });
}

// As NumPy's, between two numbers.
PyObject* linspace(const DirectCall& call) {
  static constexpr const char* names[] = {"start", "stop", "num", "endpoint"};
  PyObject* v[4];
  double ends[2];
  if (!call.arrange(names, v) || absent(v[0]) || absent(v[1]) || (v[3] && !PyBool_Check(v[3]))) return nullptr;
  const nb::object numbers[] = {number_of_scalar(v[0]), number_of_scalar(v[1])};
  PyObject* const given[] = {numbers[0].ptr(), numbers[1].ptr()};
  if (!plain_floats(given, 2, ends)) return nullptr;
  if ((default_float != DType::f64 && default_float != DType::f32) || !may_work_at_once()) return nullptr;
  Dims count{50};
  if (v[2] && (!plain_int(v[2]) || !plain_shape(v[2], &count))) return nullptr;
  const bool last = v[3] != Py_False;
  const int64_t n = count[0], steps = n - last;
  const double start = ends[0], stop = ends[1], step = (stop - start) / static_cast<double>(steps);
  if (n < 2 || step == 0 || !std::isfinite(step)) return nullptr;
  return floats(
      n, std::max(std::abs(start), std::abs(stop)), [=](double i) { return i * step + start; }, last ? &stop : nullptr);
}

PyObject* arange(const DirectCall& call) {
  static constexpr const char* names[] = {"start", "stop", "step"};
  PyObject* v[3];
  int64_t number[3] = {0, 0, 1};
  if (!call.arrange(names, v) || ints_become_floats || !may_work_at_once()) return nullptr;
  const nb::object numbers[] = {number_of_scalar(v[0]), number_of_scalar(v[1]), number_of_scalar(v[2])};
  for (int i = 0; i < 3; ++i) v[i] = numbers[i].ptr();
  if ((default_float == DType::f64 || default_float == DType::f32) &&
      std::any_of(v, v + 3, [](PyObject* o) { return o && PyFloat_CheckExact(o); })) {
    return absent(v[0]) ? nullptr : float_range(v);
  }
  for (int i = 0; i < 3; ++i) {
    if (absent(v[i])) continue;
    if (!plain_int(v[i])) return nullptr;
    int overflow = 0;
    number[i] = PyLong_AsLongLongAndOverflow(v[i], &overflow);
    if (overflow || number[i] > INT32_MAX || number[i] < INT32_MIN) return nullptr;
  }
  if (absent(v[0]) || number[2] == 0) return nullptr;
  if (absent(v[1])) number[1] = std::exchange(number[0], 0);
  auto [start, stop, step] = number;
  int64_t n = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
  n = std::max<int64_t>(0, n);
  Array made = made_at_once(DType::i64, Dims{n}, here());
  if (!made.storage()) return nullptr;
  auto* to = reinterpret_cast<int64_t*>(made.storage()->data());
  for (int64_t i = 0; i < n; ++i) to[i] = start + i * step;
  written_at_once(made);
  return wrap(std::move(made));
}

}  // namespace

void add_direct_ranges() {
  add_direct("arange", arange);
  add_direct("linspace", linspace);
}

}  // namespace forerun
