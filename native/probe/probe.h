// A probe: something that real software does in its first second and that is publicly reported to fail under a layer.
#pragma once

#include <vector>

#include "probe/run.h"

namespace gvb::probe {

struct Probe {
  const char* name;
  const char* issue;
  void (*run)(Run&);
  // The body of its second process, if it has one; the token passes what that needs to know.
  void (*second)(Run&) = nullptr;
  // It may disturb others or needs most of the card's memory, so it runs alone, after the others.
  bool alone = false;
};

using Probes = std::vector<Probe>;

// One list per subject, each in the file of that name.
Probes vmm_probes();
Probes memory_info_probes();
Probes pool_probes();
Probes graph_probes();
Probes ipc_probes();
Probes fork_probes();
Probes loading_probes();
Probes entry_point_probes();
Probes environment_probes();
Probes visible_device_probes();
Probes nccl_probes();
Probes nvml_probes();
Probes many_probes();
Probes launch_probes();

Probes all_probes();

}  // namespace gvb::probe
