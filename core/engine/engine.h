// The engine runs ops that are submitted in program order, each as soon as its operands are computed.
//
//   Engine& engine = Engine::get();
//   Device& device = engine.devices[0];
//   while (engine.ring.full()) engine.waiter.make_room(50ms);   // back-pressure
//   Op* op = engine.make_op();
//   op->queue = device.compute.get(), op->budget = device.budget.get(), op->cost = 1000;
//   op->add(&input, Mode::read), op->add(&output, Mode::write);
//   op->emplace<MyKernel>(...);
//   engine.issue(op);                                           // returns at once
//   while (!engine.waiter.wait(output, 50ms)) {}                // works meanwhile; afterwards output has its values
//
// Its parts, each with its own state and a note on the lock that guards it, from the bottom up:
//
//   ring         submission: ops in program order, without a lock or an allocation
//   graph        the dependencies between ops
//   scheduler    plans the submitted ops, with the passes (passes/), and picks the next ready op
//   executor     memory for the outputs of ops, and their kernels
//   pool         the workers: how they start, stop, sleep and are woken
//   dispatcher   the steps of a worker or a waiting thread between two kernels
//   waiter       threads that need a result; notifier: notifies them, and event loops, when it is computed
//
// There is no scheduler thread: workers and waiting threads plan and pick ops themselves. One lock (EngineMutex) guards
// the graph, for microseconds at a time; kernels run without it.
#pragma once
#include "engine/execution/task_wait.h"
#include "engine/introspection.h"

namespace forerun {

class Engine {
 public:
  static Engine& get();

  // --- Submission: any thread ---
  Op* make_op();
  // Hands the op over, and returns its number. The caller has checked ring.full() before.
  uint64_t issue(Op* op);
  void discard(Op* op);  // in place of issue(): gives back an op that is not to run
  // Ends an op that its lane has accepted. A null failure means success. The caller holds no lock.
  void complete(Op& op, FailurePtr failure) { dispatcher.complete(op, std::move(failure)); }
  // The same for a lane that waiting threads may attend: the caller also hands the lane its next ops. It holds no lock
  // of the lane.
  void complete_and_go_on(Op& op, FailurePtr failure) { dispatcher.complete(op, std::move(failure), true); }
  // In place of issue(), for an op for which AtOnceRunner::fits(): runs it in this thread, and gives it back. False:
  // the op must be issued.
  bool run_at_once(Op* op);

  // --- Await: any thread, may hold the interpreter lock (reports/notifier.h) ---
  // Pushes the completion to the queue once all writes submitted so far have ended. Returns false if they have ended
  // already: then nothing is pushed.
  bool watch(Completion& completion, Storage& storage, CompletionQueue& queue);

  // --- Life cycle ---
  // Sets the workers per device (0: none; waiting threads do the work), how many of them may be busy at once, and
  // threads per device for files, which do not count. Devices that are used later get as many workers as the first one,
  // and share the cores. Must be idle.
  void configure(const std::vector<int>& workers, int cores, int io_threads = 1);
  // Makes a device, or serves it again. Any thread, any time; does not wait for work.
  void use_device(int i);
  void limit_shared(const MemoryLimits& limits);            // DeviceTable::limit_shared(), any time
  void set_lane(int device, Queue::Kind kind, Lane* lane);  // DeviceTable::set_lane(). Before the device is used
  // DeviceTable::set_accelerator(), likewise.
  void set_accelerator(int device, Accelerator& accelerator, Lane& compute, Lane& copy, size_t memory);
  void set_ops_ahead(uint64_t n);  // how many ops may be in flight. Must be idle.
  // Ends all workers; they start again with the next op. False if some still run after `limit`: the caller then calls
  // it again, or resume_workers(). One thread at a time may call it, without the interpreter lock.
  bool stop_workers(std::chrono::milliseconds limit);
  void resume_workers();
  void gate(bool closed);       // while the gate is closed, no op is planned or started
  bool at_rest();               // no op is pending, and no worker runs
  void before_fork();           // any thread calls it just before the process forks,
  void after_fork(bool child);  // and this just after; a child has no other thread
  // Whether this is the child of a process that forked while work was pending. That work belongs to the parent, and the
  // child cannot use the engine.
  bool abandoned() const { return abandoned_.load(); }

 private:
  Engine() = default;

  EngineMutex mutex_;
  std::atomic<bool> abandoned_{false};

 public:
  // --- The parts ---
  PassSettings passes;
  Trace trace;
  OpRecorder recorder{trace};
  SubmissionRing ring;
  Producer producer{ring};
  Notifier notifier;
  FailureLog failures{mutex_};
  DeviceTable devices{ring};
  DependencyGraph graph{ring, notifier, recorder, failures};
  Scheduler scheduler{ring, producer, devices, graph, failures, notifier, recorder, passes};
  WorkerPool pool{mutex_, devices, ring, producer, scheduler};
  ReliefWorker relief{mutex_, pool, notifier};
  Executor executor{mutex_, pool, failures, recorder};
  Dispatcher dispatcher{mutex_, ring, producer, graph, notifier, scheduler, pool, relief, executor};
  Waiter waiter{ring, producer, notifier, pool, relief, dispatcher, scheduler};
  AtOnceRunner at_once{mutex_, ring, producer, graph, notifier, scheduler, executor, recorder, passes};
  TaskWaits task_waits{mutex_};
  Introspection introspection{mutex_, ring, devices, graph, failures, scheduler, dispatcher, waiter, at_once, trace};
};

}  // namespace forerun
