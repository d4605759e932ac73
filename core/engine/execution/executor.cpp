#include "engine/execution/executor.h"

#include <algorithm>
#include <new>
#include <utility>

namespace forerun {

thread_local RunningTask* Executor::task_ = nullptr;

void Executor::run(Batch& batch) {
  RunningTask running{batch.is_task() ? batch.work[0].op : nullptr, task_};
  if (running.op) task_ = &running;
  bool inputs_ok = true;
  for (int i = 0; i < batch.n; ++i) {
    Work& work = batch.work[i];
    if ((work.held_back = !inputs_ok && i >= batch.sure)) continue;
    run(work);
    if (work.accepted) continue;  // it belongs to its lane, and the batch contains nothing else
    inputs_ok = inputs_ok && !work.no_memory && !work.run_later && !(work.op->n_tiles == 1 && work.op->failure);
  }
  task_ = running.outer;
}

void Executor::run(Work& work) {
  Op* op = work.op;
  bool poisoned = !work.joins && op->failure;  // set before it started; other tiles may set it later
  if (!work.joins && !poisoned) {
    uint64_t started = op->record ? Trace::now() : 0;
    if (!take_memory(*op)) {
      work.no_memory = true;
      return;
    }
    if (op->record) op->record->started = started, op->record->live_started = op->budget->live_kib();
    guarded(*op, [&] {
      try {
        op->task()->prepare(*op);
      } catch (const std::bad_alloc&) {
        if (!op->group) throw;
        work.no_memory = true;  // for the group; its ops may still run one by one
      }
      if (op->group && !work.no_memory) op->n_tiles = op->tiles_left = op->group->tiles();
    });
    if (work.no_memory) return;
    poisoned = op->failure != nullptr;
  }
  if (poisoned) {
    op->tiles_left = 1;  // nothing to compute, and no tile has been given to other threads
    if (op->queue->lane) op->queue->lane->left_out(*op, *op->failure);
  } else if (op->queue->lane) {
    hand_over(work);
  } else if (!work.joins && op->n_tiles > 1) {
    run_tiles(work);
  } else {
    try {
      run_kernel(work);
    } catch (const RunLater&) {
      work.run_later = true;
      return;
    }
    if (op->n_tiles == 1 && !op->group) op->drop_kernel();
  }
}

void Executor::hand_over(Work& work) {
  guarded(*work.op, [&] {
    const Lane::Outcome outcome = work.op->queue->lane->hand_over(*work.op);
    work.accepted = outcome == Lane::Outcome::accepted;
    work.no_memory = outcome == Lane::Outcome::no_memory;
  });
}

void Executor::run_kernel(Work& work) {
  const bool recorded = work.op->n_tiles > 1 && work.op->record;
  uint64_t started = recorded ? Trace::now() : 0;
  guarded(*work.op, [&] { work.op->task()->run(*work.op, work.tile); });
  if (recorded) recorder_.tile(*work.op, started);
}

// Modelled in verification/models/tiles.py. An op with several tiles has started: now that its outputs have memory,
// other threads may take tiles.
void Executor::run_tiles(Work& work) {
  Op* op = work.op;
  {
    Lock held = mutex_.lock();
    op->next_tile = 0, op->end_tile = op->n_tiles;
    work.tile = op->take_tile(CpuOccupancy::takes_last(CpuOccupancy::here()));
    op->queue->share(op, [op](Op* other) { return other->urgent == op->urgent ? other->seq > op->seq : op->urgent; });
    pool_.wake_others(op->queue, true, tile_cost(*op));
  }
  run_kernel(work);
}

void Executor::run_whole(Op& op, uint64_t before) {
  guarded(
      op,
      [&] {
        Kernel& kernel = *op.kernel();
        kernel.prepare(op);
        for (int64_t tile = 0, n = kernel.tiles(); tile < n; ++tile) kernel.run(op, tile);
      },
      before);
}

// Calls `f`; if it throws, the op has failed.
template <class F>
void Executor::guarded(Op& op, F f, uint64_t before) {
  FailurePtr thrown;  // outlives the lock below: it may own objects of the front end
  auto fails = [&](ErrorKind kind, auto message, std::shared_ptr<void> exception = nullptr) {
    thrown = failures_.made(kind, op, message, std::move(exception), before);
  };
  auto named = [&](const std::string& what) { return std::string(op.kernel()->name()) + ": " + what; };
  try {
    f();
  } catch (const Error& error) {
    fails(error.kind, [&] { return std::string(error.what()); }, error.exception);
  } catch (const std::bad_alloc&) {
    fails(ErrorKind::memory, [&] { return named("scratch memory must be available"); });
  } catch (const std::exception& error) {
    fails(ErrorKind::runtime, [&] { return named(error.what()); });
  }
  if (!thrown) return;
  Lock held = mutex_.lock();
  if (!op.failure) failures_.fail(op, thrown);
}

bool Executor::take_memory(Op& op) {
  bool grouped = op.group != nullptr;  // then another member may read values that a write replaces
  auto has = [&](Op& one) {
    for (int i = 0; i < one.n_access; ++i) {
      Access& a = one.access(i);
      if (a.mode == Mode::read || a.storage->elided) continue;
      if (a.apart) {  // it has memory, unless a failed op before it should have allocated it
        if (a.storage->taken() && a.storage->unshared()) continue;
        return false;
      }
      if (!a.storage->taken() ? !a.storage->take() : !a.storage->protect(a.mode == Mode::update || grouped))
        return false;
    }
    return true;
  };
  auto have = [&] {
    return has(op) && std::all_of(op.members.begin(), op.members.end(), [&](Op* member) { return has(*member); });
  };
  bool got = have() || (trim && trim() > 0 && have());
  op.budget->reserved.fetch_sub(op.to_take, std::memory_order_relaxed);
  return got;
}

}  // namespace forerun
