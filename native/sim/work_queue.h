#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace gvb::sim {

// A kernel that answers the host in real time; `end` is 0 until it is over.
struct Answer {
  std::atomic<int64_t> start{0};
  std::atomic<int64_t> end{0};
};

// What of the work so far the host has to wait for in real time: the modelled end of kernels that talk to it.
struct Marker {
  int64_t until = 0;
  std::vector<std::shared_ptr<Answer>> answers;

  bool empty() const { return until == 0 && answers.empty(); }
  bool answered() const;
  bool ready() const;
  void merge(const Marker& other);
  void waitForAnswers() const;
  int64_t lastAnswer() const;
};

// The functional part of a context's device work, in submission order. It is executed when the host could look at the
// result, not while it submits: a launch costs what the settings say, whatever the kernel computes.
class WorkQueue {
 public:
  // `after` is what the work waits for; `due` the earliest moment it may be seen (0: any).
  void push(const Marker& after, int64_t due, std::function<void()> run);

  // Executes what may be seen by `horizon` and is not behind an unfinished answer, waiting for each one's moment.
  void drain(int64_t horizon);
  bool tryDrain(int64_t horizon);  // false when another thread is at it

  bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }
  size_t pending() const { return pending_.load(std::memory_order_relaxed); }

 private:
  struct Work {
    int64_t due = 0;
    std::vector<std::shared_ptr<Answer>> after;
    std::function<void()> run;
  };
  bool next(int64_t horizon, Work* work);
  void drainHeld(int64_t horizon);

  std::mutex runMutex_;
  std::mutex itemsMutex_;
  std::deque<Work> items_;
  std::atomic<size_t> pending_{0};
};

// Has a thread execute the queue's due work for a host that polls memory instead of synchronising.
void publish(const std::shared_ptr<WorkQueue>& queue);

}  // namespace gvb::sim
