// The SM clock while launches run, which determines the peak that a rate is compared with.
#pragma once

#include <optional>

#include "bench/llm/launch_timer.h"

namespace gvb {

// Times a batch. NVML's clock is read behind its last launch, while the device still works at those before; `highest`
// becomes the highest reading so far.
LaunchBatch time_with_clock(const DeviceSession& session, LaunchTimer& timer, unsigned launches,
                            const LaunchTimer::Launch& launch, std::optional<unsigned>& highest);

}  // namespace gvb
