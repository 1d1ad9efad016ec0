// A probe: something that real software does, in its first second or when something goes wrong, and the public report
// of it going wrong under a layer.
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
  // What it is asked for: COMPAT-001, ERR-003, or ERR-002. Of the last two it ends with a kernel whose result is
  // checked.
  bool compatibility = true;
  bool errors = false;
  // It says nothing of a layer that keeps no file for a tenant.
  bool needs_state = false;
};

// Of ERR-003 alone.
inline Probe error_probe(Probe probe) {
  probe.compatibility = false;
  probe.errors = true;
  return probe;
}
// Of both.
inline Probe also_error_probe(Probe probe) {
  probe.errors = true;
  return probe;
}
// Of ERR-002.
inline Probe recovery_probe(Probe probe) {
  probe.compatibility = false;
  return probe;
}

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
Probes exhaustion_probes();
Probes misuse_probes();
Probes state_file_probes();
Probes reset_probes();

Probes all_probes();

}  // namespace gvb::probe
