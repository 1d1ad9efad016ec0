#include "bench/memory_churn.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "base/clock.h"
#include "base/elementary.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

// The standard does not define how its distributions draw, but a plan must be the same everywhere.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

size_t below(std::mt19937_64& random, size_t count) {
  return std::min(count - 1, static_cast<size_t>(uniform(random) * static_cast<double>(count)));
}

size_t log_uniform(std::mt19937_64& random, const ChurnSizes& sizes) {
  const double low = logarithm(static_cast<double>(sizes.smallest)),
               high = logarithm(static_cast<double>(sizes.largest));
  const auto bytes = static_cast<uint64_t>(exponential(low + uniform(random) * (high - low)));
  return std::max(sizes.step, bytes / sizes.step * sizes.step);
}

class Churn {
 public:
  Churn(DeviceSession& session, const MemoryChurnRequest& request, HeldMemory& held, FillBatch& batch)
      : session_(session), request_(request), held_(held), batch_(batch), random_(request.seed), began_(now_ns()) {
    const PathSizes path = batch.path->sizes();
    sizes_ = {path.step, request.smallest_bytes, std::min<uint64_t>(request.largest_bytes, path.largest)};
  }

  MemoryChurn run() {
    const ChurnPlan plan = plan_churn(std::mt19937_64(random_()), request_.fill_bytes, sizes_, request_.keep_bytes);
    if (request_.compact)
      take_all(plan, plan.kept);
    else
      fill(plan);
    // Freed blocks that a pool keeps do not count as free memory.
    batch_.path->finish();
    if (churn_.no_memory.empty()) churn_.no_memory = held_.look_at_all();
    churn_.blocks = batch_.blocks.size();
    churn_.took_ns = static_cast<double>(now_ns() - began_);
    return churn_;
  }

 private:
  bool goes_on() {
    session_.token.check();
    churn_.timed_out = static_cast<uint64_t>(now_ns() - began_) > request_.most_ns;
    return !churn_.timed_out && churn_.no_memory.empty();
  }

  // Returns false if the allocation was refused.
  bool take(size_t bytes) {
    ++churn_.operations;
    const CUresult code = held_.take(batch_, bytes, churn_.no_memory);
    if (code == CUDA_SUCCESS) {
      churn_.held_bytes += bytes;
      return true;
    }
    note_refused(churn_.refusals, session_.cuda, code, batch_.path->failed_call, bytes);
    return false;
  }

  // The last block takes its place.
  void give(size_t place) {
    ++churn_.operations;
    const PathBlock block = batch_.blocks[place].block;
    batch_.blocks[place] = batch_.blocks.back();
    batch_.blocks.pop_back();
    churn_.held_bytes -= block.bytes;
    const CUresult code = batch_.path->release(block);
    if (code != CUDA_SUCCESS) note_refused(churn_.refusals, session_.cuda, code, batch_.path->failed_call, block.bytes);
  }

  bool take_all(const ChurnPlan& plan, const std::vector<size_t>& places) {
    for (const size_t place : places)
      if (!goes_on() || !take(plan.sizes[place])) return false;
    return true;
  }

  void fill(const ChurnPlan& plan) {
    std::vector<size_t> all(plan.sizes.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const bool filled = take_all(plan, all);
    if (filled && request_.turnover == 0) {
      free_planned(plan);
      return;
    }
    for (uint64_t i = 0; i < request_.turnover && goes_on(); ++i) turn_over();
    while (churn_.held_bytes > request_.keep_bytes && !batch_.blocks.empty() && goes_on())
      give(below(random_, batch_.blocks.size()));
  }

  void free_planned(const ChurnPlan& plan) {
    // Maps each place of the plan to the current index of its block, and back.
    std::vector<size_t> at(plan.sizes.size()), of(plan.sizes.size());
    std::iota(at.begin(), at.end(), size_t{0});
    std::iota(of.begin(), of.end(), size_t{0});
    for (const size_t place : plan.freed) {
      if (!goes_on()) return;
      const size_t now = at[place], last = batch_.blocks.size() - 1;
      give(now);
      of[now] = of[last];
      at[of[now]] = now;
    }
  }

  void turn_over() {
    const size_t bytes = log_uniform(random_, sizes_);
    const bool fits = churn_.held_bytes + bytes <= request_.fill_bytes;
    if ((!fits || random_() % 2 == 0) && !batch_.blocks.empty())
      give(below(random_, batch_.blocks.size()));
    else if (fits)
      take(bytes);
  }

  DeviceSession& session_;
  const MemoryChurnRequest& request_;
  HeldMemory& held_;
  FillBatch& batch_;
  ChurnSizes sizes_{};
  std::mt19937_64 random_;
  const int64_t began_;
  MemoryChurn churn_;
};

}  // namespace

ChurnPlan plan_churn(std::mt19937_64 random, uint64_t fill_bytes, const ChurnSizes& sizes, uint64_t keep_bytes) {
  ChurnPlan plan;
  uint64_t held = 0;
  for (size_t bytes = log_uniform(random, sizes); held + bytes <= fill_bytes; bytes = log_uniform(random, sizes)) {
    plan.sizes.push_back(bytes);
    held += bytes;
  }
  std::vector<size_t> live(plan.sizes.size());
  std::iota(live.begin(), live.end(), size_t{0});
  while (held > keep_bytes && !live.empty()) {
    const size_t chosen = below(random, live.size());
    plan.freed.push_back(live[chosen]);
    held -= plan.sizes[live[chosen]];
    live[chosen] = live.back();
    live.pop_back();
  }
  std::sort(live.begin(), live.end());
  plan.kept = std::move(live);
  return plan;
}

MemoryChurn churn_memory(DeviceSession& session, const MemoryChurnRequest& request) {
  auto path = make_path(session, request.path);
  HeldMemory& held = session.kept<HeldMemory>();
  return Churn(session, request, held, held.begin(std::move(path))).run();
}

}  // namespace gvb
