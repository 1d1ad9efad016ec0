#include "probe/probe.h"

namespace gvb::probe {

Probes all_probes() {
  Probes all;
  for (const auto subject :
       {vmm_probes, memory_info_probes, pool_probes, graph_probes, ipc_probes, fork_probes, loading_probes,
        entry_point_probes, environment_probes, visible_device_probes, nccl_probes, nvml_probes, many_probes,
        launch_probes, exhaustion_probes, misuse_probes, state_file_probes, reset_probes})
    for (const Probe& probe : subject()) all.push_back(probe);
  return all;
}

}  // namespace gvb::probe
