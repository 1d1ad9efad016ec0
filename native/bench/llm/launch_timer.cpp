#include "bench/llm/launch_timer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/clock.h"

namespace gvb {

namespace {

constexpr unsigned kMostTimedLaunches = 100'000;
constexpr unsigned kMostMore = 10;
// Limits on the host's time beyond the events': half of the least change that counts (delta of the metrics of rates),
// and for waking up after the last launch.
constexpr double kMostBeside = 1.025, kWakeUpNs = 200'000;

bool agree(const LaunchBatch& batch) { return batch.host_ns <= batch.device_ns * kMostBeside + kWakeUpNs; }

}  // namespace

LaunchTimer::LaunchTimer(const DeviceSession& session)
    : cuda_(session.cuda),
      token_(session.token),
      stream_(make_stream(cuda_)),
      begin_(make_event(cuda_)),
      end_(make_event(cuda_)) {}

unsigned LaunchTimer::launches_of_batch(const BatchLength& length, const Launch& launch) {
  constexpr unsigned kFew = 3;
  time(kFew, launch);
  const double each = std::max(1.0, time(kFew, launch).launch_ns());
  const double wanted = std::ceil(static_cast<double>(length.least_ns) / each);
  return std::max(length.least_launches, static_cast<unsigned>(std::min(wanted, double{kMostTimedLaunches})));
}

LaunchBatch LaunchTimer::time(unsigned launches, const Launch& launch) {
  token_.check();
  GVB_CALL(cuda_, "waiting before a batch of launches", cuStreamSynchronize, stream_.get());
  const int64_t began = now_ns();
  GVB_CALL(cuda_, "recording an event", cuEventRecord, begin_.get(), stream_.get());
  for (unsigned i = 0; i < launches; ++i) launch(stream_.get());
  GVB_CALL(cuda_, "recording an event", cuEventRecord, end_.get(), stream_.get());
  GVB_CALL(cuda_, "waiting for a batch of launches", cuStreamSynchronize, stream_.get());
  const int64_t ended = now_ns();
  float ms = 0;
  GVB_CALL(cuda_, "timing a batch of launches", cuEventElapsedTime, &ms, begin_.get(), end_.get());
  return {launches, double{ms} * 1e6, static_cast<double>(ended - began)};
}

void LaunchTimer::check_events(const std::vector<LaunchBatch>& batches, const char* what, const Launch& launch) {
  if (batches.empty() || std::any_of(batches.begin(), batches.end(), agree)) return;
  const LaunchBatch& last = batches.back();
  const auto shorter = [](const LaunchBatch& a, const LaunchBatch& b) { return a.launch_ns() < b.launch_ns(); };
  const double least = std::min_element(batches.begin(), batches.end(), shorter)->launch_ns();
  for (unsigned i = 0; i < kMostMore; ++i) {
    const LaunchBatch more = time(last.launches, launch);
    if (agree(more) && more.launch_ns() <= least * kMostBeside) return;
  }
  throw Failure(FailureKind::kInvalidResult, std::string("the events around ") + what + " measured " +
                                                 std::to_string(last.device_ns / 1e6) + " ms, the host's clock " +
                                                 std::to_string(last.host_ns / 1e6) + " ms.");
}

}  // namespace gvb
