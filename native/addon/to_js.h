// Plain structures to JavaScript values, as lib/native/addon-types.ts describes them.
#pragma once

#include <napi.h>

#include <optional>

#include "bench/call_pair.h"
#include "bench/compute_share.h"
#include "bench/discovery.h"
#include "bench/gpu_state.h"
#include "bench/inspect.h"
#include "bench/launch_latency.h"
#include "bench/layer_probe.h"
#include "bench/live_set.h"
#include "bench/memory_latency.h"
#include "bench/paced_launch.h"
#include "bench/start_up.h"
#include "bench/window.h"
#include "bench/work_unit.h"
#include "driver/clock_check.h"

namespace gvb {

Napi::Value to_js(Napi::Env env, const LaunchBlock& block);
Napi::Value to_js(Napi::Env env, const AllocationBlock& block);
Napi::Value to_js(Napi::Env env, const FreeBlock& block);
Napi::Value to_js(Napi::Env env, const std::vector<LiveSetCell>& cells);
Napi::Value to_js(Napi::Env env, const PacedLaunches& launches);
Napi::Value to_js(Napi::Env env, const PairBlock& block);
Napi::Value to_js(Napi::Env env, const GpuState& state);
Napi::Value to_js(Napi::Env env, const std::optional<GpuState>& state);
Napi::Value to_js(Napi::Env env, const VisibleMemory& memory);
Napi::Value to_js(Napi::Env env, const LayerProbe& probe);
Napi::Value to_js(Napi::Env env, const ComputeShare& share);
Napi::Value to_js(Napi::Env env, const StartUp& start);
Napi::Value to_js(Napi::Env env, const Discovery& discovery);
Napi::Value to_js(Napi::Env env, const Window& window);
Napi::Value to_js(Napi::Env env, const Work& work);
Napi::Value to_js(Napi::Env env, const Driver& driver, const Inspection& inspection);
Napi::Value to_js(Napi::Env env, const Provenance& provenance);
Napi::Value to_js(Napi::Env env, const ClockReading& reading);

}  // namespace gvb
