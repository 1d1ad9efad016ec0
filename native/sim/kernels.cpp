#include "sim/kernels.h"

#include <sched.h>

#include <algorithm>
#include <cmath>

#include "sim/clock.h"
#include "sim/module.h"
#include "sim/work_kernels.h"

namespace gvb::sim {
namespace {

Plan planEmpty(const Arguments&, const Geometry&) { return {}; }

void publishStamp(uint64_t slot, uint64_t value) {
  __atomic_store_n(reinterpret_cast<uint64_t*>(slot), value, __ATOMIC_RELEASE);
}

Plan planStamp(const Arguments& arguments, const Geometry&) {
  const auto slot = arguments.get<uint64_t>(0);
  const auto run = [slot](const Placement& placement) { publishStamp(slot, deviceClock(placement.start)); };
  return {0, Talk::kTimed, {{slot, 8, 8}}, run};
}

// Serves the host in real time, so the stamps are the clock's readings when the requests were seen.
void echo(uint64_t request, uint64_t replies, unsigned exchanges, uint64_t patience) {
  constexpr int kSpinsBeforeYield = 2000;
  uint64_t last = deviceClock(rawNow());
  for (unsigned i = 1; i <= exchanges; ++i) {
    for (int spins = 0; __atomic_load_n(reinterpret_cast<unsigned*>(request), __ATOMIC_ACQUIRE) < i; ++spins) {
      if (deviceClock(rawNow()) - last > patience) return;
      if (spins > kSpinsBeforeYield) sched_yield();
    }
    last = deviceClock(rawNow());
    publishStamp(replies + (i - 1) * 8ULL, last);
  }
}

Plan planClockEcho(const Arguments& arguments, const Geometry&) {
  const auto request = arguments.get<uint64_t>(0);
  const auto replies = arguments.get<uint64_t>(1);
  const auto exchanges = arguments.get<unsigned>(2);
  const auto patience = arguments.get<uint64_t>(3);
  const auto run = [=](const Placement&) { echo(request, replies, exchanges, patience); };
  return {0, Talk::kAnswering, {{request, 4, 4}, {replies, exchanges * size_t{8}, 8}}, run};
}

Plan planTimerSteps(const Arguments& arguments, const Geometry&) {
  const auto out = arguments.get<uint64_t>(0);
  const auto count = arguments.get<unsigned>(1);
  const auto step = static_cast<uint64_t>(settings().timer_step_ns);
  const auto run = [=](const Placement& placement) {
    const uint64_t first = deviceClock(placement.start);
    for (uint64_t i = 0; i < count; ++i) reinterpret_cast<uint64_t*>(out)[i] = first + (i + 1) * step;
  };
  const double duration = static_cast<double>(count) * static_cast<double>(step) / deviceClockRate();
  return {duration, Talk::kTimed, {{out, count * size_t{8}, 8}}, run};
}

Plan planMix(const Arguments& arguments, const Geometry&) {
  const auto words = arguments.get<uint64_t>(0);
  const auto count = arguments.get<unsigned>(1);
  const auto seed = arguments.get<unsigned>(2);
  const auto run = [=](const Placement&) {
    for (unsigned i = 0; i < count; ++i) reinterpret_cast<uint32_t*>(words)[i] = (i + seed) * 2654435761u;
  };
  return {count * 4.0 / settings().dram_gbs, Talk::kNone, {{words, count * size_t{4}, 4}}, run};
}

// Blocks run in waves of as many as the card holds at a time, each wave as long as one block spins.
double waves(const Geometry& geometry) {
  const auto product = [](const unsigned(&extent)[3]) { return double{1} * extent[0] * extent[1] * extent[2]; };
  const int resident = maxActiveBlocks(static_cast<int>(product(geometry.block)), geometry.sharedBytes);
  return std::ceil(product(geometry.grid) / (static_cast<double>(resident) * static_cast<double>(settings().sms)));
}

uint64_t blocksOf(const Geometry& geometry) { return uint64_t{geometry.grid[0]} * geometry.grid[1] * geometry.grid[2]; }

void add(uint64_t counter, uint64_t count) { *reinterpret_cast<uint64_t*>(counter) += count; }

Plan planCount(const Arguments& arguments, const Geometry& geometry) {
  const auto blocks = arguments.get<uint64_t>(0);
  const auto run = [blocks, count = blocksOf(geometry)](const Placement&) { add(blocks, count); };
  return {0, Talk::kNone, {{blocks, 8, 8}}, run};
}

Plan planOccupy(const Arguments& arguments, const Geometry& geometry) {
  const auto stamps = arguments.get<uint64_t>(0);
  const auto spin = arguments.get<uint64_t>(1);
  const auto blocks = arguments.get<uint64_t>(2);
  const auto run = [stamps, blocks, count = blocksOf(geometry)](const Placement& placement) {
    if (blocks != 0) add(blocks, count);
    publishStamp(stamps, deviceClock(placement.start));
    publishStamp(stamps + 8, std::max(*reinterpret_cast<uint64_t*>(stamps + 8), deviceClock(placement.end)));
  };
  const double duration = waves(geometry) * static_cast<double>(spin) / deviceClockRate();
  std::vector<Span> touches = {{stamps, 16, 8}};
  if (blocks != 0) touches.push_back({blocks, 8, 8});
  return {duration, Talk::kTimed, touches, run};
}

Plan planGemm(const Arguments& arguments, const Geometry&) {
  const auto a = arguments.get<uint64_t>(0), b = arguments.get<uint64_t>(1), c = arguments.get<uint64_t>(2);
  const auto n = arguments.get<unsigned>(3);
  const auto run = [=](const Placement&) {
    multiplyHalf(reinterpret_cast<const uint16_t*>(a), reinterpret_cast<const uint16_t*>(b),
                 reinterpret_cast<float*>(c), n);
  };
  const double operations = 2.0 * n * n * n;
  const size_t count = size_t{n} * n;
  return {operations / (settings().tensor_tflops * 1e3),
          Talk::kNone,
          {{a, count * 2, 2}, {b, count * 2, 2}, {c, count * 4, 4}},
          run};
}

Plan planAttention(const Arguments& arguments, const Geometry& geometry) {
  const auto q = arguments.get<uint64_t>(0), k = arguments.get<uint64_t>(1), v = arguments.get<uint64_t>(2),
             out = arguments.get<uint64_t>(3);
  const auto length = arguments.get<unsigned>(4);
  const unsigned heads = geometry.grid[0];
  const auto run = [=](const Placement&) {
    attend(reinterpret_cast<const float*>(q), reinterpret_cast<const float*>(k), reinterpret_cast<const float*>(v),
           reinterpret_cast<float*>(out), heads, length);
  };
  const size_t bytes = size_t{heads} * length * 64 * sizeof(float);
  const double operations = 4.0 * heads * length * length * 64;
  return {operations / (settings().fp32_tflops * 1e3),
          Talk::kNone,
          {{q, bytes, 4}, {k, bytes, 4}, {v, bytes, 4}, {out, bytes, 4}},
          run};
}

const Kernel kKernels[] = {
    {"gvb_empty", {}, planEmpty},
    {"gvb_stamp", {8}, planStamp},
    {"gvb_clock_echo", {8, 8, 4, 8}, planClockEcho},
    {"gvb_timer_steps", {8, 4}, planTimerSteps},
    {"gvb_mix", {8, 4, 4}, planMix},
    {"gvb_count", {8}, planCount},
    {"gvb_occupy", {8, 8, 8}, planOccupy},
    {"gvb_gemm", {8, 8, 8, 4}, planGemm},
    {"gvb_attention", {8, 8, 8, 8, 4}, planAttention},
};

}  // namespace

const Kernel* findKernel(const std::string& name) {
  for (const Kernel& kernel : kKernels)
    if (name == kernel.name) return &kernel;
  return nullptr;
}

}  // namespace gvb::sim
