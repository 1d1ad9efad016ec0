// Which results the simulated card computes, and when: a queue on a card of its own.
#include "sim/work/work_queue.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "check.h"
#include "sim/card/region_state.h"
#include "sim/clock.h"

namespace test {
namespace {

using namespace gvb::sim;

constexpr Range kA = {0x1000, 0x2000};
constexpr Range kPartOfA = {0x1000, 0x1800};
constexpr Range kB = {0x2000, 0x3000};

class Scene {
 public:
  Scene() : region_(static_cast<RegionState*>(std::calloc(1, sizeof(RegionState)))) {
    initialise(region_.get(), Settings{});
    card_ = std::make_unique<Card>(region_.get(), 0, 0);
    queue_ = std::make_unique<WorkQueue>(card_.get());
    lane_ = card_->open_lane(card_->open_client(false, 1));
  }

  WorkQueue& queue() { return *queue_; }

  // Numbered from 0 in the order of submission.
  LanePoint put(Seen seen, const Ranges& reads, const Ranges& writes, double alone_ns = 10) {
    return put(Work(), seen, reads, writes, alone_ns);
  }
  // Also adds 1 to `counted`.
  LanePoint put_counting(Ranges reads, const Ranges& writes) {
    Work work;
    work.counts = {{reinterpret_cast<uint64_t>(&counted), 1}};
    reads.push_back(range_of(reinterpret_cast<uint64_t>(&counted), sizeof counted));
    return put(std::move(work), Seen::kLater, reads, writes, 10);
  }

  LanePoint put(Work work, Seen seen, const Ranges& reads, const Ranges& writes, double alone_ns) {
    Item item;
    item.not_before = raw_now();
    item.alone_ns = alone_ns;
    const Item* only = &item;
    work.point = card_->submit(lane_, &only, 1);
    work.seen = seen;
    work.reads = reads;
    work.writes = writes;
    work.run = [this, number = submitted_++](const Placement&) { done.push_back(number); };
    const LanePoint point = work.point;
    queue_->push(std::move(work));
    return point;
  }

  // Like a host that waits, but not in real time.
  void reach(const LanePoint& point) {
    card_->wait_for({point});
    queue_->run_seen(raw_now());
  }

  std::vector<int> done;
  uint64_t counted = 0;

 private:
  struct Free {
    void operator()(RegionState* region) const { std::free(region); }
  };
  std::unique_ptr<RegionState, Free> region_;
  std::unique_ptr<Card> card_;
  std::unique_ptr<WorkQueue> queue_;
  int lane_ = -1;
  int submitted_ = 0;
};

// A result computed in parts: remembers all requested bytes, in order.
struct Deferred {
  Ranges asked;

  Work work(Range needed) {
    Work work;
    work.compute = [this, needed](const Range& part, const DeferredResults::Need& need) {
      if (needed.begin < needed.end) need(needed);
      asked.push_back(part);
    };
    return work;
  }
  bool was_asked(const Ranges& expected) const {
    return asked.size() == expected.size() &&
           std::equal(asked.begin(), asked.end(), expected.begin(),
                      [](const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; });
  }
};

using Done = std::vector<int>;

void only_the_part_that_is_read_is_computed() {
  Scene scene;
  Deferred source, result;
  scene.put(source.work({}), Seen::kLater, {}, {kA}, 10);
  scene.put(result.work(kPartOfA), Seen::kLater, {kA}, {kB}, 10);
  scene.reach(scene.put(Seen::kWhenOver, {{0x2100, 0x2200}}, {}));
  CHECK(result.was_asked({{0x2100, 0x2200}}));
  CHECK(source.was_asked({kPartOfA}));
}

void a_deferred_result_is_computed_before_its_inputs_change() {
  Scene scene;
  Deferred result;
  scene.put(result.work({}), Seen::kLater, {kA}, {kB}, 10);
  scene.reach(scene.put(Seen::kWhenOver, {{0x4000, 0x5000}}, {}));
  CHECK(result.was_asked({}));
  scene.reach(scene.put(Seen::kWhenOver, {}, {kPartOfA}));
  CHECK(result.was_asked({kB}));
  scene.reach(scene.put(Seen::kWhenOver, {kB}, {}));
  CHECK(result.was_asked({kB}));
}

void a_deferred_result_that_is_overwritten_is_dropped() {
  Scene scene;
  Deferred result;
  scene.put(result.work({}), Seen::kLater, {}, {kA}, 10);
  scene.reach(scene.put(Seen::kWhenOver, {{0x4000, 0x5000}}, {}));
  scene.queue().settle(kA, true);
  scene.reach(scene.put(Seen::kWhenOver, {kA}, {}));
  CHECK(result.was_asked({}));
}

void a_deferred_result_that_is_overwritten_in_part_is_computed_first() {
  Scene scene;
  Deferred result;
  scene.put(result.work({}), Seen::kLater, {}, {kA}, 10);
  scene.reach(scene.put(Seen::kWhenOver, {}, {kPartOfA}));
  CHECK(result.was_asked({kA}));
}

void counting_alone_needs_no_inputs() {
  Scene scene;
  Deferred source;
  scene.put(source.work({}), Seen::kLater, {}, {kA}, 10);
  scene.put_counting({kA}, {kB});
  scene.put_counting({kA}, {kB});
  scene.queue().settle(kB, true);
  scene.reach(scene.put(Seen::kWhenOver, {{0x4000, 0x5000}}, {}));
  CHECK(scene.counted == 2);
  CHECK(source.was_asked({}));
}

void what_nobody_looks_at_is_not_computed() {
  Scene scene;
  scene.reach(scene.put(Seen::kLater, {}, {kA}));
  CHECK(scene.done.empty());
  CHECK(!scene.queue().idle());
}

void what_is_copied_to_the_host_is_computed_with_all_before_it() {
  Scene scene;
  scene.put(Seen::kLater, {}, {kA});
  scene.put(Seen::kLater, {kA}, {kB});
  scene.reach(scene.put(Seen::kWhenOver, {kB}, {}));
  CHECK(scene.done == (Done{0, 1, 2}));
}

void overwritten_results_are_never_computed() {
  Scene scene;
  for (int i = 0; i < 3; ++i) scene.put(Seen::kLater, {kB}, {kA});
  scene.reach(scene.put(Seen::kWhenOver, {kA}, {}));
  CHECK(scene.done == (Done{2, 3}));
}

void overwritten_work_counts_once() {
  Scene scene;
  for (int i = 0; i < 3; ++i) scene.put_counting({kB}, {kA});
  scene.reach(scene.put(Seen::kWhenOver, {kB}, {}));
  CHECK(scene.done == (Done{2, 3}));
  CHECK(scene.counted == 3);
}

void work_whose_results_are_overwritten_from_outside_counts() {
  Scene scene;
  for (int i = 0; i < 2; ++i) scene.put_counting({kB}, {kA});
  scene.queue().settle(kA, true);
  CHECK(scene.done.empty());
  scene.reach(scene.put(Seen::kWhenOver, {kB}, {}));
  CHECK(scene.done == (Done{2}));
  CHECK(scene.counted == 2);
}

void results_that_were_read_in_between_are_computed() {
  Scene scene;
  scene.put(Seen::kLater, {}, {kA});
  scene.put(Seen::kLater, {kA}, {kB});
  scene.put(Seen::kLater, {}, {kA});
  scene.reach(scene.put(Seen::kWhenOver, {kA, kB}, {}));
  CHECK(scene.done == (Done{0, 1, 2, 3}));
}

void what_is_updated_in_place_is_not_overwritten() {
  Scene scene;
  scene.put(Seen::kLater, {kA}, {kA});
  scene.put(Seen::kLater, {kA}, {kA});
  scene.reach(scene.put(Seen::kWhenOver, {kA}, {}));
  CHECK(scene.done == (Done{0, 1, 2}));
}

void a_part_does_not_overwrite_the_whole() {
  Scene scene;
  scene.put(Seen::kLater, {}, {kA});
  scene.put(Seen::kLater, {}, {kPartOfA});
  scene.reach(scene.put(Seen::kWhenOver, {kA}, {}));
  CHECK(scene.done == (Done{0, 1, 2}));
}

void freed_memory_needs_no_results_and_unmapped_memory_does() {
  Scene scene;
  scene.reach(scene.put(Seen::kLater, {}, {kA}));
  scene.queue().settle(kA, true);
  CHECK(scene.done.empty());
  scene.reach(scene.put(Seen::kLater, {}, {kA}));
  scene.queue().settle(kB, false);
  CHECK(scene.done.empty());
  scene.queue().settle(kA, false);
  CHECK(scene.done == (Done{1}));
}

// A result that another one needs is computed although its own memory is freed.
void freed_memory_that_was_read_is_computed() {
  Scene scene;
  scene.put(Seen::kLater, {}, {kA});
  scene.reach(scene.put(Seen::kLater, {kA}, {kB}));
  scene.queue().settle(kA, true);
  CHECK(scene.done == (Done{0, 1}));
}

void what_shows_itself_in_time_is_not_early_and_holds_back_the_rest() {
  Scene scene;
  constexpr double kWait = 20e6;
  scene.put(Seen::kFromEnd, {}, {kA}, kWait);
  const LanePoint last = scene.put(Seen::kWhenOver, {kA}, {});
  const int64_t from = raw_now();
  scene.reach(last);
  if (raw_now() - from < static_cast<int64_t>(kWait) / 2) CHECK(scene.done.empty());
  CHECK(scene.queue().seen_in_time() || !scene.done.empty());
  wait_until(from + static_cast<int64_t>(kWait) + 1'000'000);
  scene.reach(last);
  CHECK(scene.done == (Done{0, 1}));
  scene.queue().collect();
  CHECK(scene.queue().idle() && !scene.queue().seen_in_time());
}

// As many as the queue keeps uncomputed, and ten more.
void the_number_of_uncomputed_results_is_limited() {
  Scene scene;
  LanePoint last;
  for (uint64_t i = 0; i < 266; ++i) last = scene.put(Seen::kLater, {}, {{i * 16, i * 16 + 16}});
  scene.reach(last);
  CHECK(scene.done.size() >= 10 && scene.done.size() < 266);
  CHECK(scene.done.front() == 0);
}

}  // namespace
}  // namespace test

int main() {
  using namespace test;
  only_the_part_that_is_read_is_computed();
  a_deferred_result_is_computed_before_its_inputs_change();
  a_deferred_result_that_is_overwritten_is_dropped();
  a_deferred_result_that_is_overwritten_in_part_is_computed_first();
  counting_alone_needs_no_inputs();
  what_nobody_looks_at_is_not_computed();
  what_is_copied_to_the_host_is_computed_with_all_before_it();
  overwritten_results_are_never_computed();
  overwritten_work_counts_once();
  work_whose_results_are_overwritten_from_outside_counts();
  results_that_were_read_in_between_are_computed();
  what_is_updated_in_place_is_not_overwritten();
  a_part_does_not_overwrite_the_whole();
  freed_memory_needs_no_results_and_unmapped_memory_does();
  freed_memory_that_was_read_is_computed();
  what_shows_itself_in_time_is_not_early_and_holds_back_the_rest();
  the_number_of_uncomputed_results_is_limited();
  return report("work_queue_test");
}
