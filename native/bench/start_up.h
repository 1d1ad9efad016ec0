// The start of a CUDA process, split into its steps. Runs once, in a fresh process, before any other call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class ContextApi { kPrimary, kCreate };

struct StartUpRequest : DeviceTarget {
  ContextApi context_api = ContextApi::kPrimary;
  unsigned recreations = 0;  // how often the primary context is recreated after the start
  // CLOCK_MONOTONIC_RAW; the start waits for it before looking for libcuda. If the time has passed, starts at once.
  std::optional<int64_t> start_at_ns;
  // Keeps the context until the process ends, like a running program, and recreates nothing.
  bool keep = false;
};

enum class LoadingMode { kEager, kLazy };

struct StartUp {
  double load_ns = 0, resolve_ns = 0, init_ns = 0, device_ns = 0, context_ns = 0, module_ns = 0, first_alloc_ns = 0,
         first_launch_ns = 0, second_launch_ns = 0;
  double total_ns = 0;  // from cuInit to the first kernel's result on the host, without resolving symbols
  // CLOCK_MONOTONIC_RAW: the request arrived, the start began, the first result was on the host.
  int64_t ready_at_ns = 0, began_at_ns = 0, first_result_at_ns = 0;
  std::optional<double> first_release_ns;  // for the context that did the work; nullopt if it is kept
  bool result_correct = false;
  std::string context_function, context_owner;
  std::optional<LoadingMode> loading_mode;
  // When the driver was initialised, the object between it and this process, if any, and whether the primary context
  // existed before it was retained (nullopt: the driver does not report it).
  InitialisedAt initialised_at = InitialisedAt::kUnknown;
  std::string interposer;
  std::optional<bool> context_was_active;
  // NVML's compute processes while the context existed and after it was released.
  std::optional<std::vector<unsigned>> processes_during, processes_after;
  std::optional<uint64_t> gpu_free_during_bytes, gpu_free_after_bytes;  // also by NVML
  unsigned pid = 0;
  std::vector<double> retain_ns, release_ns;
  // Whether the driver, and NVML, reported after every release that the context was gone.
  bool inactive_between = true;
  std::optional<bool> left_list_between;  // nullopt for MPS clients: they stay listed until they end
  bool mps_client = false;
};

StartUp measure_start_up(const StartUpRequest& request, const CancelToken& token);

}  // namespace gvb
