// The SM clock while launches run, which determines the peak rate for comparison.
#pragma once

#include <optional>

#include "bench/llm/launch_timer.h"

namespace gvb {

// Times a batch. Reads NVML's clock after submitting the last launch, while the device still runs earlier ones;
// `highest` becomes the highest reading so far.
LaunchBatch time_with_clock(const DeviceSession& session, LaunchTimer& timer, unsigned launches,
                            const LaunchTimer::Launch& launch, std::optional<unsigned>& highest);

}  // namespace gvb
