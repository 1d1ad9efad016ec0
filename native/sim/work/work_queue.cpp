#include "sim/work/work_queue.h"

#include <algorithm>

#include "sim/clock.h"

namespace gvb::sim {
namespace {

// How many entries to search for results that new work overwrites.
constexpr size_t kLookBack = 64;
// At most this many results stay uncomputed.
constexpr size_t kMostUncomputed = 256;
constexpr size_t kCollectedAtOnce = 4;

bool overlap(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

bool overlap(const Ranges& some, const Range& one) {
  return std::any_of(some.begin(), some.end(), [&](const Range& range) { return overlap(range, one); });
}

bool overlap(const Ranges& some, const Ranges& others) {
  return std::any_of(others.begin(), others.end(), [&](const Range& other) { return overlap(some, other); });
}

bool covers(const Ranges& whole, const Range& part) {
  return std::any_of(whole.begin(), whole.end(),
                     [&](const Range& range) { return range.begin <= part.begin && part.end <= range.end; });
}

bool covers(const Ranges& whole, const Ranges& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const Range& part) { return covers(whole, part); });
}

void inherit(const std::vector<Count>& counts, Work* heir) {
  for (const Count& count : counts) {
    const auto same = std::find_if(heir->counts.begin(), heir->counts.end(),
                                   [&](const Count& known) { return known.counter == count.counter; });
    if (same != heir->counts.end()) {
      same->by += count.by;
      continue;
    }
    heir->counts.push_back(count);
    heir->reads.push_back(range_of(count.counter, sizeof(uint64_t)));
  }
}

std::function<void(const Placement&)> counting(std::vector<Count> counts) {
  return [counts = std::move(counts)](const Placement&) {
    for (const Count& count : counts) *reinterpret_cast<uint64_t*>(count.counter) += count.by;
  };
}

}  // namespace

// `heir`: the work that overwrites the results and takes over their counts; nullptr if there is none.
void WorkQueue::drop_overwritten(const Ranges& written, Ranges read, Work* heir) {
  size_t seen = 0;
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && seen < kLookBack; ++entry, ++seen) {
    if (entry->seen != Seen::kLater) continue;
    if (entry->run && !entry->dropped && covers(written, entry->writes) && !overlap(read, entry->writes))
      drop(&*entry, heir);
    if (entry->run) read.insert(read.end(), entry->reads.begin(), entry->reads.end());
  }
}

void WorkQueue::drop(Entry* entry, Work* heir) {
  entry->run = nullptr;
  entry->compute = nullptr;
  if (entry->counts.empty()) return;
  if (heir != nullptr)
    inherit(std::exchange(entry->counts, {}), heir);
  else
    entry->run = counting(std::exchange(entry->counts, {}));
  entry->dropped = true;
}

void WorkQueue::push(Work work) {
  const std::lock_guard<std::mutex> lock(entries_mutex_);
  if (work.run) drop_overwritten(work.writes, work.reads, &work);
  Entry entry;
  static_cast<Work&>(entry) = std::move(work);
  entry.in_time = in_time(entry.seen);
  if (entry.in_time) in_time_.fetch_add(1, std::memory_order_release);
  entry.number = ++pushed_;
  entries_.push_back(std::move(entry));
  pending_.fetch_add(1, std::memory_order_release);
  // Only a few per push, so that every call costs the same, however many are made without waiting.
  collect_first(kCollectedAtOnce, seen_in_time() ? raw_now() : 0);
}

void WorkQueue::collect_first(size_t most, int64_t now) {
  const size_t count = std::min(most, entries_.size());
  for (size_t i = 0; i < count; ++i) {
    Entry& entry = entries_[i];
    if (entry.over) continue;
    entry.over = card_->is_over(entry.point);
    if (!entry.begun && (entry.over || card_->has_begun(entry.point))) {
      entry.begun = true;
      entry.placement.start = card_->start_of(entry.point);
    }
    if (!entry.over) continue;
    entry.placement = card_->placement(entry.point);
    card_->collected(entry.point);
    if (entry.tail) entry.tail->store(std::max(entry.tail->load(std::memory_order_relaxed), entry.placement.end));
    if (entry.placed) entry.placed(entry.placement);
  }
  remove_finished(count, now);
}

// Considers the first `count` entries.
void WorkQueue::remove_finished(size_t count, int64_t now) {
  // The host must wait for its end in real time, even if everything is done.
  for (size_t i = 0; i < count && seen_in_time(); ++i) {
    Entry& entry = entries_[i];
    if (!entry.in_time || !entry.over || entry.run || entry.placement.end > now) continue;
    entry.in_time = false;
    in_time_.fetch_sub(1, std::memory_order_release);
  }
  const size_t before = entries_.size();
  while (!entries_.empty() && entries_.front().over && !entries_.front().run && !entries_.front().in_time)
    entries_.pop_front();
  pending_.fetch_sub(before - entries_.size(), std::memory_order_release);
}

void WorkQueue::collect() {
  const std::lock_guard<std::mutex> lock(entries_mutex_);
  collect_first(entries_.size(), seen_in_time() ? raw_now() : 0);
}

bool WorkQueue::due(const Entry& entry, int64_t now) const {
  if (entry.seen == Seen::kFromStart) return entry.begun && entry.placement.start <= now;
  return entry.over && (!seen_in_time() || entry.placement.end <= now);
}

// Takes the pending effects of due entries up to number `last`. The entries stay in the queue until they are collected
// again.
WorkQueue::Runs WorkQueue::take_through(uint64_t last, int64_t now) {
  Runs runs;
  for (Entry& entry : entries_) {
    if (entry.number > last) break;
    if (!entry.run || !due(entry, now)) continue;
    Run run = {std::exchange(entry.run, nullptr), entry.placement, {}, {}, std::move(entry.compute)};
    // A dropped entry only counts; it reads none of its inputs.
    if (!entry.dropped) {
      run.reads = std::move(entry.reads);
      run.writes = std::move(entry.writes);
    }
    runs.push_back(std::move(run));
    if (entry.counts.empty()) continue;
    runs.push_back({counting(std::exchange(entry.counts, {})), entry.placement, {}, {}, nullptr});
  }
  // Must be set before the entries can be found finished.
  executing_.store(!runs.empty(), std::memory_order_release);
  return runs;
}

void WorkQueue::execute(Runs runs) {
  for (Run& work : runs) {
    if (!work.compute)
      for (const Range& read : work.reads) deferred_.compute(read);
    for (const Range& written : work.writes) deferred_.overwrite(written);
    work.run(work.placement);
    if (work.compute) deferred_.add({std::move(work.reads), std::move(work.writes), std::move(work.compute)});
  }
  has_deferred_.store(!deferred_.empty(), std::memory_order_release);
  executing_.store(false, std::memory_order_release);
}

void WorkQueue::run_seen_held(int64_t now) {
  Runs runs;
  {
    const std::lock_guard<std::mutex> lock(entries_mutex_);
    collect_first(entries_.size(), now);
    uint64_t last = 0;
    for (const Entry& entry : entries_)
      if (entry.run && entry.seen != Seen::kLater && due(entry, now)) last = entry.number;
    if (entries_.size() > kMostUncomputed) last = std::max(last, entries_[entries_.size() - kMostUncomputed].number);
    runs = take_through(last, now);
  }
  execute(std::move(runs));
}

void WorkQueue::run_seen(int64_t now) {
  if (idle()) return;
  const std::lock_guard<std::mutex> lock(run_mutex_);
  run_seen_held(now);
}

bool WorkQueue::try_run_seen(int64_t now) {
  const std::unique_lock<std::mutex> lock(run_mutex_, std::try_to_lock);
  if (!lock) return false;
  card_->look();
  run_seen_held(now);
  return true;
}

void WorkQueue::settle(const Range& range, bool overwritten) {
  if (idle() && !has_deferred_.load(std::memory_order_acquire)) return;
  const std::lock_guard<std::mutex> running(run_mutex_);
  Runs runs;
  {
    const std::lock_guard<std::mutex> lock(entries_mutex_);
    if (overwritten) drop_overwritten({range}, {}, nullptr);
    uint64_t last = 0;
    for (const Entry& entry : entries_)
      if (entry.run && (overlap(entry.reads, range) || overlap(entry.writes, range))) last = entry.number;
    runs = take_through(last, kForever);
  }
  execute(std::move(runs));
  if (overwritten)
    deferred_.overwrite(range);
  else
    deferred_.compute(range);
  has_deferred_.store(!deferred_.empty(), std::memory_order_release);
}

void WorkQueue::forget() {
  const std::lock_guard<std::mutex> running(run_mutex_);
  const std::lock_guard<std::mutex> lock(entries_mutex_);
  entries_.clear();
  deferred_.clear();
  has_deferred_.store(false);
  pending_.store(0);
  in_time_.store(0);
}

}  // namespace gvb::sim
