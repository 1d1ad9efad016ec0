#include "bench/llm/loaded_clock.h"

#include <algorithm>

#include "bench/gpu_state.h"

namespace gvb {

LaunchBatch time_with_clock(const DeviceSession& session, LaunchTimer& timer, unsigned launches,
                            const LaunchTimer::Launch& launch, std::optional<unsigned>& highest) {
  unsigned left = launches;
  return timer.time(launches, [&](abi::CUstream stream) {
    launch(stream);
    if (--left > 0 || session.nvml_device == nullptr) return;
    const auto clock = read_gpu_state(session.driver.nvml.api, session.nvml_device, GpuDetail::kReadings).sm_clock_mhz;
    if (clock) highest = std::max(*clock, highest.value_or(0));
  });
}

}  // namespace gvb
