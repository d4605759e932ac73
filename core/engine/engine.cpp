#include "engine/engine.h"

#include "base/containers/free_list.h"

namespace forerun {

Engine& Engine::get() {
  static Engine* engine = new Engine;  // never destroyed: threads may outlive static destructors
  return *engine;
}

Op* Engine::make_op() {
  Op* op = FreeList<Op>::take();
  return op ? op : FreeList<Op>::made(new Op);
}

void Engine::discard(Op* op) {
  op->drop_kernel();
  for (int i = 0; i < op->n_access; ++i) op->access(i).storage->release();
  Dispatcher::recycle(op);
}

// With WorkerPool::wake(), WorkerPool::sleep() and Dispatcher::serve() modelled in verification/models/wake.py.
uint64_t Engine::issue(Op* op) {
  for (int i = 0; i < op->n_access; ++i)
    if (op->access(i).mode != Mode::read) op->access(i).storage->issued.fetch_add(1, std::memory_order_relaxed);
  // The number is drawn before the sleeping workers are counted, and a worker counts itself as sleeping before it reads
  // the numbers (both seq_cst): one of the two sees the other.
  uint64_t seq = ring.draw_number();
  Queue* queue = op->queue;
  op->seq = seq;
  op->record = nullptr;
  if (trace.on()) [[unlikely]]
    recorder.submitted(*op);
  producer.submits(seq, op->cost);
  ring.put(seq, op);
  if (queue->attended && dispatcher.hand_over_fresh(*queue, seq)) [[unlikely]]
    return seq;
  // A worker in a timed wait reads the ring by itself.
  if (queue->sleeping.load() > 0 && (queue->timed_waits.load() == 0 || producer.fresh_cost() >= producer.wake_cost()))
    pool.wake(*queue);
  return seq;
}

bool Engine::run_at_once(Op* op) {
  if (!at_once.run(*op)) return false;
  discard(op);
  return true;
}

bool Engine::watch(Completion& completion, Storage& storage, CompletionQueue& queue) {
  if (!notifier.watch(completion, storage, queue)) return false;
  relief.call_if_needed();
  return true;
}

void Engine::configure(const std::vector<int>& workers, int cores, int io_threads) {
  Lock held = mutex_.lock();
  devices.configure(workers, io_threads);
  scheduler.set_cores(cores);
}

void Engine::use_device(int i) {
  Lock held = mutex_.lock();
  if (Device* device = devices.use(i)) pool.serve(*device);
}

void Engine::limit_shared(const MemoryLimits& limits) {
  Lock held = mutex_.lock();
  devices.limit_shared(limits);
}

void Engine::set_lane(int device, Queue::Kind kind, Lane* lane) {
  Lock held = mutex_.lock();
  Lane* const before = devices.set_lane(device, kind, lane);
  if (before) dispatcher.remove_attended(*before);
  if (lane && lane->attended()) dispatcher.add_attended(*lane);
}

void Engine::set_accelerator(int device, Accelerator& accelerator, Lane& compute, Lane& copy, size_t memory) {
  Lock held = mutex_.lock();
  devices.set_accelerator(device, accelerator, compute, copy, memory);
}

void Engine::set_ops_ahead(uint64_t n) {
  Lock held = mutex_.lock();
  devices.make_room(SubmissionRing::slots_for(n));
  ring.set_ops_ahead(n);
}

bool Engine::stop_workers(std::chrono::milliseconds limit) {
  if (!pool.begin_stop()) return true;
  relief.wake();
  if (!pool.finish_stop(limit)) return false;
  notifier.notify();  // wakes threads that looked for work in vain while the workers stopped
  return true;
}

void Engine::resume_workers() {
  pool.resume();
  relief.call_if_needed();
}

void Engine::gate(bool closed) {
  {
    Lock held = mutex_.lock();
    scheduler.set_gate(closed);
    if (pool.started()) pool.wake_all();
  }
  if (!closed) notifier.notify();
}

bool Engine::at_rest() {
  Lock held = mutex_.lock();
  return ring.idle() && !pool.started();
}

void Engine::before_fork() {
  mutex_.hold();
  notifier.before_fork();
  relief.before_fork();
  trace.before_fork();
}

// No other thread held a lock at the fork, so all state is consistent.
void Engine::after_fork(bool child) {
  trace.after_fork();
  if (child) {
    trace.abandon();
    task_waits.forget_all();
    producer.forget();
    pool.after_fork_in_child();
    dispatcher.remove_all_attended();
    devices.lose_accelerators();
    if (!ring.idle()) abandoned_.store(true);
  }
  relief.after_fork(child);
  notifier.after_fork(child);
  mutex_.release();
}

}  // namespace forerun
