// What a context's device work does, as opposed to when: it is executed when the host could look at the result.
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
  kLater,      // when other work has copied it to where the host looks: until then it need not be computed
  kWhenOver,   // once the host knows that the work is over
  kFromStart,  // in real time, by looking at memory, from the work's first instruction on
  kFromEnd,    // likewise, from its last one
};

inline bool in_time(Seen seen) { return seen == Seen::kFromStart || seen == Seen::kFromEnd; }

inline Range range_of(uint64_t address, size_t bytes) { return {address, address + bytes}; }

// What work adds to a counter of 64 bits, which lies in what it reads.
struct Count {
  uint64_t counter;
  uint64_t by;
};

struct Work {
  LanePoint point;
  Seen seen = Seen::kLater;
  Ranges reads;
  Ranges writes;
  std::shared_ptr<std::atomic<int64_t>> tail;  // of its stream: the latest end that is known
  std::function<void(const Placement&)> run;   // empty: no effect
  DeferredResults::Compute compute;  // in place of `run`: computes parts of the result, as somebody reads them
  std::vector<Count> counts;         // done even where the results are overwritten before anyone reads them
  std::function<void(const Placement&)> placed;  // told when the end is known; must not call the queue
};

// The work of a context, in the order of submission.
class WorkQueue {
 public:
  explicit WorkQueue(Card* card) : card_(card) {}

  // Results that `work` overwrites and nobody has read by then are never computed.
  void push(Work work);

  // Learns what is over.
  void collect();

  // Executes what the host could see by `now`, or by the end that it was told of ahead of time. While work that shows
  // itself in real time is pending, nothing later is done.
  void run_seen(int64_t now);
  bool try_run_seen(int64_t now);  // false when another thread is at it

  // Before memory changes by other means: results in it are computed, or dropped where the change ends them.
  void settle(const Range& range, bool overwritten);

  void forget();  // all of it, of a context that failed or ends

  // No work is left, and none is in progress.
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
    bool dropped = false;  // its results; what it counts is still done
    bool in_time = false;  // it shows itself in real time, and its end has not passed
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
  std::mutex run_mutex_;  // taken first: one thread executes at a time
  DeferredResults deferred_;
  std::atomic<bool> has_deferred_{false};
  std::mutex entries_mutex_;
  Entries entries_;
  uint64_t pushed_ = 0;
  std::atomic<size_t> pending_{0};
  std::atomic<size_t> in_time_{0};
  std::atomic<bool> executing_{false};
};

// Has a thread execute the queue's due work for a host that polls memory instead of synchronising.
void publish(const std::shared_ptr<WorkQueue>& queue);

}  // namespace gvb::sim
