// The effects of a context's device work, as opposed to its timing: executed when the host could look at the result.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/card/card.h"
#include "sim/work/deferred.h"

namespace gvb::sim {

// When the host could see the effect of work.
enum class Seen {
  kLater,      // once other work has copied it to where the host looks: need not be computed until then
  kWhenOver,   // once the host knows that the work is over
  kFromStart,  // in real time, by reading memory, from the work's first instruction on
  kFromEnd,    // the same, from its last instruction on
};

inline bool in_time(Seen seen) { return seen == Seen::kFromStart || seen == Seen::kFromEnd; }

inline Range range_of(uint64_t address, size_t bytes) { return {address, address + bytes}; }

// Work adds `by` to a 64-bit counter, which is part of what it reads.
struct Count {
  uint64_t counter;
  uint64_t by;
};

struct Work {
  LanePoint point;
  Seen seen = Seen::kLater;
  Ranges reads;
  Ranges writes;
  std::shared_ptr<std::atomic<int64_t>> tail;  // the latest known end of its stream
  std::function<void(const Placement&)> run;   // empty: no effect
  DeferredResults::Compute compute;            // instead of `run`: computes the parts of the result that are read
  std::vector<Count> counts;                   // applied even if the results are overwritten before they are read
  // Receives the placement once the end is known; must not call the queue.
  std::function<void(const Placement&)> placed;
};

// The work of a context, in the order of submission.
class WorkQueue {
 public:
  explicit WorkQueue(Card* card) : card_(card) {}

  // Results that `work` overwrites before they are read are never computed.
  void push(Work work);

  // Checks which work is over.
  void collect();

  // Executes what the host could see by `now`, or by the end that it was told ahead of time. While work that shows its
  // effect in real time is pending, later work is not executed.
  void run_seen(int64_t now);
  bool try_run_seen(int64_t now);  // false if another thread is executing

  // Before memory changes by other means: computes the results in it, or drops them if the change overwrites them.
  void settle(const Range& range, bool overwritten);

  void forget();  // drops all work of a context that failed or ends

  // True if no work is pending or being executed.
  bool idle() const {
    return pending_.load(std::memory_order_acquire) == 0 && !executing_.load(std::memory_order_acquire);
  }
  size_t pending() const { return pending_.load(std::memory_order_relaxed); }
  bool seen_in_time() const { return in_time_.load(std::memory_order_acquire) != 0; }

 private:
  struct Entry : Work {
    uint64_t number = 0;
    bool over = false;
    bool begun = false;
    bool dropped = false;  // its results were dropped; its counts are still applied
    bool in_time = false;  // shows its effect in real time, and its end has not passed
    Placement placement{};
  };
  using Entries = std::deque<Entry>;
  struct Run {
    std::function<void(const Placement&)> run;
    Placement placement;
    Ranges reads, writes;
    DeferredResults::Compute compute;
  };
  using Runs = std::vector<Run>;

  bool due(const Entry& entry, int64_t now) const;
  void drop_overwritten(const Ranges& written, Ranges read, Work* heir);
  static void drop(Entry* entry, Work* heir);
  void collect_first(size_t most, int64_t now);
  void run_seen_held(int64_t now);
  Runs take_through(uint64_t last, int64_t now);
  void execute(Runs runs);
  void remove_finished(size_t count, int64_t now);

  Card* card_;
  std::mutex run_mutex_;  // taken first: only one thread executes at a time
  DeferredResults deferred_;
  std::atomic<bool> has_deferred_{false};
  std::mutex entries_mutex_;
  Entries entries_;
  uint64_t pushed_ = 0;
  std::atomic<size_t> pending_{0};
  std::atomic<size_t> in_time_{0};
  std::atomic<bool> executing_{false};
};

// Lets a thread execute the queue's due work for a host that polls memory instead of synchronising.
void publish(const std::shared_ptr<WorkQueue>& queue);

}  // namespace gvb::sim
