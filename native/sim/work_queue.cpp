#include "sim/work_queue.h"

#include <sched.h>

#include <algorithm>

#include "sim/clock.h"

namespace gvb::sim {
namespace {

bool allOver(const std::vector<std::shared_ptr<Answer>>& answers) {
  return std::all_of(answers.begin(), answers.end(),
                     [](const auto& answer) { return answer->end.load(std::memory_order_acquire) != 0; });
}

}  // namespace

bool Marker::answered() const { return allOver(answers); }

bool Marker::ready() const { return answered() && (until == 0 || rawNow() >= until); }

void Marker::merge(const Marker& other) {
  until = std::max(until, other.until);
  for (const auto& answer : other.answers)
    if (std::find(answers.begin(), answers.end(), answer) == answers.end()) answers.push_back(answer);
}

void Marker::waitForAnswers() const {
  constexpr int64_t kPoliteAfter = 50000;
  const int64_t from = answers.empty() ? 0 : rawNow();
  while (!answered()) {
    if (rawNow() - from > kPoliteAfter)
      sched_yield();
    else
      relax();
  }
}

int64_t Marker::lastAnswer() const {
  int64_t last = 0;
  for (const auto& answer : answers) last = std::max(last, answer->end.load(std::memory_order_acquire));
  return last;
}

void WorkQueue::push(const Marker& after, int64_t due, std::function<void()> run) {
  std::lock_guard<std::mutex> lock(itemsMutex_);
  items_.push_back({std::max(due, after.until), after.answers, std::move(run)});
  pending_.fetch_add(1, std::memory_order_release);
}

bool WorkQueue::next(int64_t horizon, Work* work) {
  std::lock_guard<std::mutex> lock(itemsMutex_);
  const auto item = std::find_if(items_.begin(), items_.end(), [&](const Work& candidate) {
    return candidate.due <= horizon && allOver(candidate.after);
  });
  if (item == items_.end()) return false;
  *work = std::move(*item);
  items_.erase(item);
  return true;
}

void WorkQueue::drainHeld(int64_t horizon) {
  for (Work work; next(horizon, &work); work = {}) {
    if (work.due != 0) waitUntil(work.due);
    work.run();
    pending_.fetch_sub(1, std::memory_order_release);
  }
}

void WorkQueue::drain(int64_t horizon) {
  if (idle()) return;
  std::lock_guard<std::mutex> lock(runMutex_);
  drainHeld(horizon);
}

bool WorkQueue::tryDrain(int64_t horizon) {
  std::unique_lock<std::mutex> lock(runMutex_, std::try_to_lock);
  if (!lock) return false;
  drainHeld(horizon);
  return true;
}

}  // namespace gvb::sim
