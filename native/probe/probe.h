// A probe: something that real software does in its first second or after an error, and the public report of its
// failure under a layer.
#pragma once

#include <vector>

#include "probe/run.h"

namespace gvb::probe {

struct Probe {
  const char* name;
  const char* issue;
  void (*run)(Run&);
  // The body of its second process, if it has one; the token passes the data that the second process needs.
  void (*second)(Run&) = nullptr;
  // Whether the probe must run alone, after the others, because it may disturb them or needs most of the card's memory.
  bool alone = false;
  // The metrics that use the probe: COMPAT-001, ERR-003, or ERR-002. For the last two it ends with a kernel whose
  // result is checked.
  bool compatibility = true;
  bool errors = false;
  // Whether the probe needs the layer's state file of a tenant; it cannot test a layer without one.
  bool needs_state = false;
};

// A probe of ERR-003 only.
inline Probe error_probe(Probe probe) {
  probe.compatibility = false;
  probe.errors = true;
  return probe;
}
// A probe of COMPAT-001 and ERR-003.
inline Probe also_error_probe(Probe probe) {
  probe.errors = true;
  return probe;
}
// A probe of ERR-002.
inline Probe recovery_probe(Probe probe) {
  probe.compatibility = false;
  return probe;
}

using Probes = std::vector<Probe>;

// One list of probes per subject, each in the file of that name.
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
Probes exhaustion_probes();
Probes misuse_probes();
Probes state_file_probes();
Probes reset_probes();

Probes all_probes();

}  // namespace gvb::probe
