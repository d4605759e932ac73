// The backward pass over the tape: from heads to leaves, later operations first.
// Nodes are numbered in the order of recording, after those of their inputs. So of the nodes reached, the one with the
// largest number has all its gradients, and is processed next: a sorted table, no recursion, however long the tape is.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "cpu/kernels/copy/copy.h"
#include "cpu/kernels/scalar.h"
#include "engine/devices/memory_budget.h"
#include "python/autograd/gradient_call.h"
#include "python/autograd/leaf.h"
#include "python/bindings.h"
#include "python/capture/captured_program.h"
#include "python/dispatch/operator_table.h"
#include "python/dispatch/primitive_type.h"
#include "python/dispatch/ufunc_type.h"
#include "python/object/array_arguments.h"
#include "python/object/array_object.h"
#include "python/object/conversion/numpy_memory.h"
#include "python/object/conversion/python_scalars.h"
#include "python/object/create.h"
#include "python/object/node.h"
#include "python/object/views/basic_index.h"
#include "python/ops/reduce.h"
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/interpreter/package_functions.h"
#include "python/runtime/submission/devices.h"
#include "python/runtime/submission/submit.h"

namespace forerun {

namespace {

nb::object filled_like(PyObject* like, long value) {
  const ArrayObject* a = as_array(like);
  Array out = Array::make(a->array.layout.dtype, a->array.layout.shape, budget_of(a->device));
  Scalar scalar{};
  nb::object number = checked(PyLong_FromLong(value));
  if (!put_scalar("backward", number.ptr(), out.layout.dtype, scalar.bytes)) throw nb::python_error();
  Building op;
  build_fill(*op, scalar, out);
  op.issue(a->device);
  return wrapped(std::move(out));
}

nb::object view_of(PyObject* array, nb::handle index) {
  Array view;
  if (!basic_index(as_array(array)->array, index.ptr(), &view))
    throw Error(ErrorKind::type, "backward: index must be a basic one");
  return wrapped(std::move(view));
}

// Zeros like an array, with g at a basic index.
nb::object at_index(PyObject* like, const nb::object& g, nb::handle index) {
  nb::object whole = filled_like(like, 0), part = view_of(whole.ptr(), index);
  Building op;
  build_copy(*op, arg("backward", g), as_array(part.ptr())->array);
  op.issue(as_array(like)->device);
  return whole;
}

void add_at(PyObject* sum, const nb::object& g, nb::handle index) {
  nb::object part = view_of(sum, index);
  PyObject* inputs[] = {part.ptr(), g.ptr()};
  checked(call_operator(Operator::add, inputs, 2, part.ptr()));
}

// A gradient cast and summed to the shape and dtype of the input.
nb::object fitted(nb::object g, PyObject* like) {
  if (!is_array(g.ptr()))
    throw Error(ErrorKind::type, std::string("backward: gradients must be arrays, got ") + Py_TYPE(g.ptr())->tp_name);
  const Layout &a = as_array(g.ptr())->array.layout, &b = as_array(like)->array.layout;
  if (a.dtype == b.dtype && a.shape == b.shape) return g;
  if (a.dtype == b.dtype && !recording) return wrapped(sum_to(arg("backward", g), b.shape));
  return checked(call_package(PackageFunction::fit, g.ptr(), like, nullptr));
}

std::string name_of(PyObject* op) { return nb::cast<std::string>(nb::str(nb::handle(op).attr("name"))); }

void check_versions(NodeObject* node) {
  for (const Kept& value : node->kept)
    if (value.storage->issued.load() != value.version)
      throw Error(ErrorKind::runtime, "backward: values that " + name_of(node->op) +
                                          " saved must not be overwritten before, got an in-place write on them");
}

// Whether it is a leaf of integers or bools, whose gradient is zero. A leaf with Request::null represents any array on
// the tape.
bool is_exact_leaf(PyObject* array) {
  const ArrayObject* a = as_array(array);
  return !is_inexact(a->array.layout.dtype) && PyObject_TypeCheck(a->node, leaf_type) &&
         as_leaf(a->node)->request != LeafObject::Request::null;
}

// An array's place on the tape.
using TapeSlot = std::pair<PyObject*, int64_t>;
TapeSlot slot_of(PyObject* array) { return {as_array(array)->node, as_array(array)->index}; }

class BackwardPass {
 public:
  // variables: the arrays whose gradients are returned as new arrays; null: all leaves receive theirs.
  BackwardPass(const std::vector<nb::object>* variables, bool keep, bool create)
      : create_(create), keep_(keep || create), to_leaves_(!variables) {
    if (variables)
      for (const nb::object& x : *variables) found_[slot_of(x.ptr())];
  }

  // Adds `g` to the gradient of `array`, an input of an op or a head.
  void accumulate(PyObject* array, nb::object g) {
    g = is_exact_leaf(array) ? filled_like(array, 0) : fitted(std::move(g), array);
    PyObject* node = as_array(array)->node;
    if (PyObject_TypeCheck(node, leaf_type)) return deliver_to_leaf(node, std::move(g));
    if (!Py_IS_TYPE(node, node_type))
      throw Error(ErrorKind::type,
                  std::string("backward: place on the tape must be a node or a leaf, got ") + Py_TYPE(node)->tp_name);
    Pending& pending = pending_of(node);
    auto at = static_cast<size_t>(as_array(array)->index);
    pending.hold(at);
    pending.own[at] = static_cast<bool>(pending.gradients[at]);
    add(pending.gradients[at], std::move(g));
  }

  // The same for a gradient that is zero except at a basic index. Later ones are added in place: many views of one
  // array cost no more than the array.
  void accumulate_slice(PyObject* array, const nb::object& g, nb::handle index) {
    PyObject* node = as_array(array)->node;
    if (PyObject_TypeCheck(node, leaf_type)) {
      LeafObject* leaf = as_leaf(node);
      if (is_exact_leaf(array) || !to_leaves_ || !leaves_.count(node) || leaf->request == LeafObject::Request::null ||
          !is_array(leaf->grad) || as_array(leaf->grad)->node)
        return accumulate(array, at_index(array, g, index));
      ++leaf->received;
      return add_at(leaf->grad, g, index);
    }
    Pending& pending = pending_of(node);
    auto at = static_cast<size_t>(as_array(array)->index);
    pending.hold(at);
    nb::object& sum = pending.gradients[at];
    if (!sum) {
      sum = at_index(array, g, index);
    } else {
      if (!pending.own[at])
        sum = wrapped(copied(arg("backward", sum), arg("backward", sum).layout.dtype, as_array(array)->device));
      add_at(sum.ptr(), g, index);
    }
    pending.own[at] = true;
  }

  void run() {
    while (!waiting_.empty()) {
      Pending next = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      visit(as_node(next.node.ptr()), next.gradients);
      if (keep_) continue;
      NodeObject* node = as_node(next.node.ptr());
      node->kept.clear();
      Py_CLEAR(node->inputs);
      Py_CLEAR(node->outputs);
      Py_CLEAR(node->attrs);
    }
  }

  nb::object found(PyObject* variable, bool zeros) {
    const nb::object& g = found_.at(slot_of(variable));
    return g ? g : zeros ? filled_like(variable, 0) : nb::none();
  }

 private:
  struct Pending {
    nb::object node;
    std::vector<nb::object> gradients;  // of its outputs, by number; null until a gradient arrives
    std::vector<bool> own;              // no other reference to this array exists: it may be written to
    void hold(size_t at) {
      if (gradients.size() <= at) gradients.resize(at + 1), own.resize(at + 1);
    }
  };

  Pending& pending_of(PyObject* node) {
    Pending& pending = waiting_[as_node(node)->seq];
    if (!pending.node) pending.node = nb::borrow(node);
    return pending;
  }

  static void add(nb::object& sum, nb::object g) {
    sum = sum ? checked(PyNumber_Add(sum.ptr(), g.ptr())) : std::move(g);
  }

  // Adds a part of its gradient to a leaf at once, so that readers do not wait for the rest of the backward pass.
  void deliver_to_leaf(PyObject* leaf, nb::object g) {
    if (to_leaves_) {
      if (!receive_gradient(as_leaf(leaf), g.release().ptr(), leaves_.insert(leaf).second)) throw nb::python_error();
    } else if (auto at = found_.find({leaf, 0}); at != found_.end()) {
      add(at->second, std::move(g));
    }
  }

  // Passes the gradients of a node's outputs on to its inputs.
  void visit(NodeObject* node, std::vector<nb::object>& gradients) {
    auto* self = reinterpret_cast<PyObject*>(node);
    if (!to_leaves_)
      for (size_t i = 0; i < gradients.size(); ++i)
        if (auto at = found_.find({self, static_cast<int64_t>(i)}); gradients[i] && at != found_.end())
          at->second = gradients[i];
    if (!node->inputs)
      throw Error(ErrorKind::runtime,
                  "backward: the graph of " + name_of(node->op) +
                      " must not have been freed: an earlier backward() freed it; pass retain_graph=True to that one");
    check_versions(node);
    if (is_program(node->op)) return propagate_captured(node, gradients);
    nb::object inputs = nb::borrow(node->inputs), outputs = placed(node), g;
    bool one = PyTuple_GET_SIZE(outputs.ptr()) == 1;
    if (one) {
      g = std::move(gradients[0]);
    } else {
      g = checked(PyTuple_New(PyTuple_GET_SIZE(outputs.ptr())));
      gradients.resize(static_cast<size_t>(PyTuple_GET_SIZE(outputs.ptr())));
      for (size_t i = 0; i < gradients.size(); ++i) {
        PyObject* y = PyTuple_GET_ITEM(outputs.ptr(), static_cast<Py_ssize_t>(i));
        PyTuple_SET_ITEM(g.ptr(), static_cast<Py_ssize_t>(i),
                         (gradients[i] ? std::move(gradients[i]) : filled_like(y, 0)).release().ptr());
      }
    }
    propagate(node, inputs.ptr(), g.ptr(), one ? PyTuple_GET_ITEM(outputs.ptr(), 0) : outputs.ptr());
  }

  // A recorded call: its gradients are a program likewise, or its ops are put onto the tape again.
  void propagate_captured(NodeObject* node, std::vector<nb::object>& gradients) {
    nb::object inputs = nb::borrow(node->inputs);
    std::vector<nb::object> back;
    if (!create_ && run_back(node, gradients, back)) {
      for (size_t i = 0; i < back.size(); ++i)
        if (back[i]) accumulate(PyTuple_GET_ITEM(inputs.ptr(), static_cast<Py_ssize_t>(i)), std::move(back[i]));
      return;
    }
    nb::object results = unfolded(node);
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i]) accumulate(nb::object(results[i]).ptr(), std::move(gradients[i]));
  }

  void propagate(NodeObject* node, PyObject* inputs, PyObject* g, PyObject* y) {
    SiteScope site(site_);
    bool ufunc = PyObject_TypeCheck(node->op, ufunc_type), primitive = PyObject_TypeCheck(node->op, primitive_type);
    auto* u = reinterpret_cast<UfuncObject*>(node->op);
    auto* p = reinterpret_cast<PrimitiveObject*>(node->op);
    PyObject* grads = ufunc ? u->grads : primitive ? p->grads : nullptr;
    const char* name = ufunc ? u->name : primitive ? PyUnicode_AsUTF8(p->name) : "";
    nb::object together;     // of ops that compute all of them at once
    if (!grads) site.end();  // functions of the program have lines of their own
    if (!grads)
      together = hang_if_finalizing([&] {
        return nb::object(nb::handle(node->op).attr("gradients")(nb::handle(g), nb::handle(inputs),
                                                                 node->attrs ? nb::borrow(node->attrs) : nb::none()));
      });
    for (Py_ssize_t i = 0, n = PyTuple_GET_SIZE(inputs); i < n; ++i) {
      PyObject* x = PyTuple_GET_ITEM(inputs, i);
      if (!is_array(x) || !as_array(x)->node) continue;
      nb::object back = grads ? checked(call_gradient(name, grads, i, g, y, inputs, node->attrs)) : taken(together, i);
      if (PyTuple_Check(back.ptr()))
        accumulate_slice(x, nb::object(back[0]), nb::object(back[1]));
      else if (!back.is_none())
        accumulate(x, std::move(back));
    }
  }

  // An item of a tuple, moved out of it if this is the only reference: an array without other references may become a
  // leaf's gradient without a copy.
  static nb::object taken(const nb::object& from, Py_ssize_t i) {
    nb::object item(from[i]);
    if (PyTuple_CheckExact(from.ptr()) && Py_REFCNT(from.ptr()) == 1)
      PyTuple_SetItem(from.ptr(), i, nb::none().release().ptr());
    return item;
  }

  // The outputs in the form that gradients may use: on the tape, if gradients are to be differentiated.
  nb::object placed(NodeObject* node) {
    if (!create_ || !(node->save & kSaveOutputs)) return nb::borrow(node->outputs);
    nb::object outputs = checked(PyTuple_New(PyTuple_GET_SIZE(node->outputs)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->outputs); ++i) {
      nb::object y = wrapped(as_array(PyTuple_GET_ITEM(node->outputs, i))->array);
      set_node(as_array(y.ptr()), reinterpret_cast<PyObject*>(node), i);
      PyTuple_SET_ITEM(outputs.ptr(), i, y.release().ptr());
    }
    return outputs;
  }

  const uint32_t site_ = current_site();  // the line of operations that package code issues for the backward pass
  const bool create_, keep_, to_leaves_;
  std::map<unsigned long long, Pending, std::greater<>> waiting_;  // by number of the node: the largest is next
  std::set<PyObject*> leaves_;                                     // that have received a part; kept alive by the tape
  std::map<TapeSlot, nb::object> found_;  // gradients that are returned as arrays; null: not computed yet
};

// The recording and training modes of this thread during a backward pass.
struct Switches {
  Switches(bool r, bool t) : recorded(std::exchange(recording, r)), trained(std::exchange(training, t)) {}
  ~Switches() { recording = recorded, training = trained; }
  bool recorded, trained;
};

nb::object run_backward(const char* name, nb::handle head_list, nb::object head_grads, nb::object variables, bool keep,
                        bool create, bool train, bool zeros) {
  std::string op = name;
  auto heads = list_of<nb::object>(head_list);
  std::vector<nb::object> wanted;
  if (!variables.is_none()) wanted = list_of<nb::object>(variables);
  BackwardPass pass(variables.is_none() ? nullptr : &wanted, keep, create);
  Switches switches(create, train);
  for (size_t i = 0; i < heads.size(); ++i) {
    PyObject* head = heads[i].ptr();
    if (!is_array(head) || !as_array(head)->node)
      throw Error(ErrorKind::runtime,
                  op + ": head must have been computed under autograd.record(), got one that was not");
    nb::object g = head_grads.is_none() ? nb::none() : nb::object(head_grads[i]);
    if (!g.is_none() && !(arg(op.c_str(), g).layout.shape == as_array(head)->array.layout.shape))
      throw Error(ErrorKind::value, op + ": head gradient must have the head's shape " +
                                        to_string(as_array(head)->array.layout.shape) + ", got " +
                                        to_string(arg(op.c_str(), g).layout.shape));
    pass.accumulate(head, g.is_none() ? filled_like(head, 1) : std::move(g));
  }
  pass.run();
  if (variables.is_none()) return nb::none();
  nb::list results;
  for (const nb::object& x : wanted) results.append(pass.found(x.ptr(), zeros));
  return results;
}

}  // namespace

void init_backward(Module& m) {
  m.def("run_backward", run_backward, nb::arg("op"), nb::arg("heads"), nb::arg("head_grads").none(),
        nb::arg("variables").none(), nb::arg("keep_graph"), nb::arg("create_graph"), nb::arg("train_mode"),
        nb::arg("zeros") = true,
        "Passes gradients from heads back: to the leaves, or, if variables are given, into a list of new arrays for "
        "them; zeros, or None, where none arrives.");
  m.def(
      "check_versions", [](nb::handle node) { check_versions(as_node(node.ptr())); }, nb::arg("node"),
      "Raises if a value that a node saved was overwritten since.");
}

}  // namespace forerun
