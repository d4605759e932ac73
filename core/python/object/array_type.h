// The Python array: a handle, and its place on the tape.
#pragma once
#include <Python.h>

#include <chrono>

#include "array/array.h"
#include "base/error.h"
#include "engine/engine.h"

namespace forerun {

struct ArrayObject {
  PyObject_HEAD PyObject* weak;
  PyObject* node;  // owned; null: not on the tape. The object is known to the garbage collector only while it has one.
  int device;
  bool tracked;   // by the garbage collector
  int64_t index;  // which output of the node
  Array array;    // no storage: an array whose value was not kept
};

// Thrown by C++ code when a Python exception is set already.
struct PythonError {};

extern PyTypeObject* array_base;   // _core.Array
extern PyTypeObject* array_type;   // what new arrays are: a subclass of it
extern PyTypeObject* scalar_type;  // what scalars are: a subclass of that (python/object/scalar.h)

inline bool is_array(PyObject* o) {
  if (Py_TYPE(o) == array_type || Py_TYPE(o) == scalar_type) return true;
  return !PyLong_CheckExact(o) && !PyFloat_CheckExact(o) && PyObject_TypeCheck(o, array_base);
}
inline ArrayObject* as_array(PyObject* o) { return reinterpret_cast<ArrayObject*>(o); }
// The array in `o`; TypeError naming `op` if it is none.
const Array& get_array(const char* op, PyObject* o);

PyObject* wrap(Array array);
// A scalar: one element of a storage. Null with an exception set.
PyObject* wrap_element(Buffer* storage, DType dtype, int64_t offset);
void trim_objects();  // gives Python the memory of objects that are kept for new arrays
void set_node(ArrayObject* array, PyObject* node, int64_t index);

// Runs `body`, and turns what it throws into a Python exception.
void set_python_error(const Error& error);
void set_python_error(const Failure& failure);
template <class F>
PyObject* guarded(F body) {
  try {
    return body();
  } catch (const PythonError&) {
  } catch (const Error& error) {
    set_python_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// --- issue and wait, with the interpreter lock held ------------------------------------------------------------------
extern bool synchronous;
// Of this thread: what it issues belongs to an exchange between devices. It may read arrays of other CPU devices where
// they are, and goes before older ready ops.
extern constinit thread_local bool exchanging;
// Hands `op` to a queue of the device. May wait for room; throws PythonError if that is interrupted, or (synchronous
// mode) if the op fails. `cheap`: a host task that costs no more than handing it over, so that it may run at once.
void issue(Op* op, int device, Queue::Kind kind = Queue::Kind::compute, bool cheap = false);
// Waits until `array` has its values; raises if it is poisoned.
void wait_for(const Array& array);
void must_not_wait_for_itself(
    Storage& storage);  // in a host task: throws if the storage is settled only after its end, as far as is known now
void wait_until_written(
    const Array& array);  // the same for who does not look at the values: a program that is recorded may
// Waits until all of them have their values; raises what is wrong with them, several failures as a group.
void wait_for(const std::vector<Array>& arrays);
// Waits for all ops issued before `mark`; wait_all() raises the failures that nobody has seen.
// `what`: why, if no call of the program asks for it.
void wait_mark(uint64_t mark, const char* what = nullptr);
void wait_all(uint64_t mark, const char* what = nullptr);
// Waits for all work, and ends the workers; they start again with the next op.
void quiesce();
// A closed door keeps other threads from issuing; true: this thread has closed it before.
bool close_door();
void open_door();
// From now on, waits raise and say why: nobody does what is pending.
void give_up(const char* why);
bool gave_up();
class Door {
 public:
  Door() : before_(close_door()) {}
  Door(const Door&) = delete;
  ~Door() {
    if (!before_) open_door();
  }

 private:
  const bool before_;
};
// Raises if the array, whose values are there, is poisoned.
void check_failure(const Array& array);
// Error if the array must not be written to.
[[noreturn]] void refuse_write(const char* op, const Array& array);
inline const Array& writable(const char* op, const Array& array) {
  if (!array.writable()) refuse_write(op, array);
  return array;
}
inline int device_of(const Array& array) { return array.storage()->budget->device; }
Budget* budget_of(int device);
extern DType default_float;
extern bool numpy_rules;  // the front end stands in for NumPy: operands of foreign classes are refused, small integers
                          // give small floats

// --- NumPy -----------------------------------------------------------------------------------------------------------
PyObject* dtype_object(DType t);  // borrowed: a numpy.dtype
PyObject* bfloat16();             // borrowed: its numpy.dtype; ImportError without ml_dtypes
DType parse_dtype(const char* op, PyObject* dtype);
DType dtype_of_typenum(int typenum, bool* known = nullptr);
// An array with a copy of a NumPy array's values (any object that numpy.asarray takes).
Array from_object(const char* op, PyObject* o, int device);
// A read-only NumPy array on the array's values, which no later op changes; waits.
PyObject* to_numpy(const Array& array);
// The same for an array whose values are there, and will not change before this returns.
PyObject* shared_view(const Array& array);
// Whether bytes that the program has written may be seen as bools: from then on what others are to see is looked at
// first. Set once; with the interpreter lock.
extern bool bytes_as_bools;
// Makes every byte 0 or 1; whether those of an array of bools are.
void make_bools(char* data, int64_t n);
bool only_bools(const Layout& layout, const char* data);
// A NumPy array on memory that an op may use while it runs.
PyObject* numpy_view(const Layout& layout, char* data, bool writable, PyObject* base);
// A Python scalar of the first element at `data`.
PyObject* scalar_at(DType t, const char* data);
// Puts a Python or NumPy scalar into `bytes` as dtype t. False with OverflowError/TypeError set.
bool put_scalar(const char* op, PyObject* value, DType t, unsigned char* bytes);
Dims parse_dims(const char* op, PyObject* o);  // an int or a sequence of ints

}  // namespace forerun
