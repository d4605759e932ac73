// The number of operations that a program is expected to submit before its next wait; and work left to waiting threads.
#include <chrono>
#include <thread>
#include <vector>

#include "engine/operations/op.h"
#include "engine/scheduling/producer.h"
#include "program.h"

using namespace forerun;
using namespace forerun::test;

namespace {

// A program that submits bursts of operations, and waits after each.
class Bursts {
 public:
  ~Bursts() {
    for (Op* op : ops_) delete op;
  }
  void submit(uint32_t site, uint32_t cost) {
    ops_.push_back(new Op);
    ops_.back()->site = site, ops_.back()->cost = cost;
    producer.submits(ring.next(), cost);
    ring.put(ring.draw_number(), ops_.back());
  }
  // The rest of a burst whose first op has been seen.
  void finish(int more, uint32_t cost) {
    for (int i = 0; i < more; ++i) submit(99, cost);
    ring.set_planned(ring.next()), producer.planned(), producer.resumes();
  }

  SubmissionRing ring;
  Producer producer{ring};

 private:
  std::vector<Op*> ops_;
};

void a_burst_is_as_long_as_the_last_time() {
  Bursts program;
  program.finish(3, 10);
  program.submit(7, 1000);
  check(program.producer.expected().ops == 0, "nothing is known of a line at first");
  program.finish(4, 500);
  program.submit(7, 1000);
  const Producer::Burst known = program.producer.expected();
  check(known.ops == 5 && known.cost == 3000, "the whole burst is expected, got " + std::to_string(known.ops));
  program.finish(1, 100);
  program.submit(7, 1000);
  check(program.producer.expected().ops == 2, "the last burst counts");
}

void other_lines_and_later_ops_are_not_known() {
  Bursts program;
  program.finish(1, 10);
  for (int round = 0; round < 2; ++round) {
    program.submit(7, 1000);
    program.producer.expected();
    program.finish(4, 100);
  }
  program.submit(7 + 64, 1000);
  check(program.producer.expected().ops == 0, "another line with the same place in the table is not known");
  program.ring.set_planned(program.ring.next()), program.producer.planned();
  program.submit(7, 1000);
  check(program.producer.expected().ops == 0, "nothing is known in the middle of a burst");
}

void lengths_are_of_bursts_that_were_seen() {
  Bursts program;
  program.finish(1, 10);
  program.submit(7, 1000);
  program.producer.expected();
  program.finish(4, 100);
  program.submit(8, 1000), program.finish(1, 100);  // planned by a waiting thread
  program.submit(7, 1000);
  check(program.producer.expected().ops == 0, "the length of another burst is not taken for that of this line");
}

void a_program_that_waits_soon_is_left_a_little_work() {
  Bursts program;
  auto wait_after = [&](std::chrono::milliseconds time) {
    program.finish(0, 0);
    program.submit(7, 1000);
    if (time.count() > 0) std::this_thread::sleep_for(time);
    program.producer.waits();
    return program.producer.wake_cost();
  };
  uint64_t soon = kWakeCost;
  for (int i = 0; i < 10'000 && soon == kWakeCost; ++i) soon = wait_after(std::chrono::milliseconds(0));
  check(soon == kLittleCost, "a little work is not worth a wake-up");
  int ops = 0;
  while (ops < 1000 && program.producer.will_wait()) ++ops;
  check(ops > 0 && ops < 1000, "some ops run in the call, got " + std::to_string(ops));
  check(wait_after(std::chrono::milliseconds(2)) == kWakeCost,
        "it is where the program did other things before it waited");
  check(!program.producer.will_wait(), "none of a program that does other things does");
}

void work_is_left_only_to_threads_that_look_for_it() {
  Bursts program;
  Producer& producer = program.producer;
  check(!producer.leave_work(), "no thread looks for work");
  producer.begins_to_look();
  check(producer.stops_looking(), "a thread that stops learns of work that was left before it began");
  producer.begins_to_look(), producer.begins_to_look();
  check(producer.leave_work() && producer.looking() == 2, "two threads look for work");
  check(producer.stops_looking(), "the first one that stops learns of it");
  check(!producer.stops_looking() && producer.looking() == 0, "and no other one");
}

}  // namespace

int main() {
  a_burst_is_as_long_as_the_last_time();
  other_lines_and_later_ops_are_not_known();
  lengths_are_of_bursts_that_were_seen();
  a_program_that_waits_soon_is_left_a_little_work();
  work_is_left_only_to_threads_that_look_for_it();
  return 0;
}
