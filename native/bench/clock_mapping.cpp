#include "bench/clock_mapping.h"

#include <algorithm>
#include <cmath>

#include "base/wait.h"

namespace gvb {

namespace {

constexpr size_t kRepliesOffset = 4096;
constexpr size_t kEchoPageBytes = kRepliesOffset + 4096;
constexpr size_t reply_offset(unsigned index) { return kRepliesOffset + index * sizeof(uint64_t); }
constexpr size_t kKept = 8;
constexpr int64_t kEchoPatienceNs = 100'000'000;
// On a busy host a series may have no tight exchange; another one a moment later usually does. (A bracket on an H200 is
// 1.6 to 2.1 us.)
constexpr unsigned kAttempts = 5;
constexpr int64_t kTightNs = 5'000;
// Lets the kernel become resident, so that the first exchange does not include the launch latency.
constexpr int64_t kEchoSettleNs = 30'000;
// Clocks drift by millionths (8 ppm on an H200). What differs by more is no clock.
constexpr double kMostDrift = 0.01;

}  // namespace

ClockEcho::ClockEcho(const DeviceSession& session)
    : cuda_(session.cuda),
      stream_(make_stream(session.cuda)),
      page_(session.cuda, kEchoPageBytes),
      echo_(session.module.function("gvb_clock_echo")),
      tick_ns_(measure_tick(session.module.function("gvb_timer_steps"))) {}

uint64_t ClockEcho::reply(unsigned index) const { return page_.load<uint64_t>(reply_offset(index)); }

double ClockEcho::measure_tick(abi::CUfunction steps) {
  constexpr unsigned kReadings = 256;
  abi::CUdeviceptr out = page_.device(kRepliesOffset);
  unsigned count = kReadings;
  void* parameters[] = {&out, &count};
  GVB_CALL(cuda_, "measuring the device timer's step", cuLaunchKernel, steps, 1, 1, 1, 1, 1, 1, 0, stream_.get(),
           parameters, nullptr);
  GVB_CALL(cuda_, "measuring the device timer's step", cuStreamSynchronize, stream_.get());
  uint64_t smallest = UINT64_MAX;
  for (unsigned i = 1; i < kReadings; ++i) smallest = std::min(smallest, reply(i) - reply(i - 1));
  return static_cast<double>(smallest);
}

std::vector<ClockEcho::Exchange> ClockEcho::exchange() {
  page_.store<uint32_t>(0);
  for (unsigned i = 0; i < kExchanges; ++i) page_.store<uint64_t>(0, reply_offset(i));

  abi::CUdeviceptr request_device = page_.device(), replies_device = page_.device(kRepliesOffset);
  unsigned exchanges = kExchanges;
  unsigned long long patience = kEchoPatienceNs;
  void* parameters[] = {&request_device, &replies_device, &exchanges, &patience};
  GVB_CALL(cuda_, "mapping the device clock", cuLaunchKernel, echo_, 1, 1, 1, 1, 1, 1, 0, stream_.get(), parameters,
           nullptr);
  spin_for_ns(kEchoSettleNs);
  std::vector<Exchange> series;
  for (unsigned i = 1; i <= kExchanges; ++i) {
    const int64_t before = now_ns();
    page_.store<uint32_t>(i);
    while (reply(i - 1) == 0 && now_ns() - before < kEchoPatienceNs) {
    }
    const int64_t after = now_ns();
    if (reply(i - 1) == 0) break;
    series.push_back({before + (after - before) / 2, static_cast<int64_t>(reply(i - 1)), after - before});
  }
  page_.store<uint32_t>(kExchanges);
  GVB_CALL(cuda_, "mapping the device clock", cuStreamSynchronize, stream_.get());
  return series;
}

void ClockMapping::exchange() {
  std::vector<Exchange> end;
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<Exchange> series = echo_.exchange();
    end.insert(end.end(), series.begin(), series.end());
    if (end.size() >= kKept && tightest(end).back().bracket <= kTightNs) break;
  }
  if (end.size() < kKept)
    throw Failure(FailureKind::kInvalidResult,
                  "The device answered only " + std::to_string(end.size()) + " clock exchanges.");
  ends_.push_back(std::move(end));
}

std::vector<ClockMapping::Exchange> ClockMapping::tightest(std::vector<Exchange> exchanges) {
  std::partial_sort(exchanges.begin(), exchanges.begin() + kKept, exchanges.end(),
                    [](const Exchange& a, const Exchange& b) { return a.bracket < b.bracket; });
  exchanges.resize(kKept);
  return exchanges;
}

void ClockMapping::fit() {
  std::vector<Exchange> points;
  for (const std::vector<Exchange>& end : ends_) {
    const std::vector<Exchange> kept = tightest(end);
    points.insert(points.end(), kept.begin(), kept.end());
    const auto tighter = [](const Exchange& a, const Exchange& b) { return a.bracket < b.bracket; };
    const auto tight = std::min_element(kept.begin(), kept.end(), tighter);
    quality_.bracket_ns = std::max(quality_.bracket_ns, static_cast<double>(tight->bracket));
  }
  // Relative to the first point: a double cannot hold nanoseconds of absolute device times.
  host_origin_ = points[0].host;
  device_origin_ = points[0].device;
  const auto host = [&](const Exchange& e) { return static_cast<double>(e.host - host_origin_); };
  const auto offset = [&](const Exchange& e) { return static_cast<double>(e.device - device_origin_) - host(e); };
  const double n = static_cast<double>(points.size());
  double mean_host = 0, mean_offset = 0;
  for (const Exchange& e : points) mean_host += host(e) / n, mean_offset += offset(e) / n;
  double covariance = 0, variance = 0;
  for (const Exchange& e : points) {
    covariance += (host(e) - mean_host) * (offset(e) - mean_offset);
    variance += (host(e) - mean_host) * (host(e) - mean_host);
  }
  drift_ = covariance / variance;
  if (!(std::abs(drift_) < kMostDrift))
    throw Failure(FailureKind::kInvalidResult, "the device's clock ran at " + std::to_string(1 + drift_) +
                                                   " of the rate of the host's: its times are not times.");
  offset_ = mean_offset - drift_ * mean_host;
  double squares = 0;
  for (const Exchange& e : points) {
    const double residual = offset(e) - (offset_ + drift_ * host(e));
    squares += residual * residual;
  }
  quality_.residual_ns = std::sqrt(squares / n);
  quality_.drift_ppm = drift_ * 1e6;
  quality_.tick_ns = echo_.tick_ns();
}

double ClockMapping::since(int64_t origin, DeviceTime time) const {
  // device = host + offset + drift·host, solved for host.
  const double device = static_cast<double>(static_cast<int64_t>(time.ns) - device_origin_);
  const double host = (device - offset_) / (1 + drift_);
  return host - static_cast<double>(origin - host_origin_);
}

}  // namespace gvb
