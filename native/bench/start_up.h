// OH-004: the start of a CUDA process, split into its steps. Runs once, in a fresh process, before any other call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

enum class ContextApi { kPrimary, kCreate };

struct StartUpRequest {
  std::optional<std::string> simulated_folder;
  DeviceSelector device;
  SymbolPath path;
  ContextApi context_api;
  unsigned recreations;  // of the primary context, after the start
};

struct StartUp {
  double load_ns, resolve_ns, init_ns, device_ns, context_ns, module_ns, first_alloc_ns, first_launch_ns,
      second_launch_ns;
  double total_ns;  // cuInit … first kernel's result on the host, without resolving symbols
  bool result_correct;
  std::string context_function, context_owner;
  std::optional<int> loading_mode;
  // NVML's compute processes while the context existed and after it was released.
  std::optional<std::vector<unsigned>> processes_during, processes_after;
  unsigned pid;
  std::vector<double> retain_ns, release_ns;
  // Whether the driver, and NVML, said after every release that the context was gone.
  bool inactive_between = true;
  std::optional<bool> left_list_between;
};

StartUp measure_start_up(const StartUpRequest& request, const CancelToken& token);

}  // namespace gvb
