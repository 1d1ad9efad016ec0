// Probes of the layer.
#include "bench/layer_probe.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<LayerProbeRequest> : FieldsOf<LayerProbeRequest> {
  static constexpr const char* kName = "LayerProbeRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(allocations).says("Size of each allocation in bytes."));
  }
};

template <>
struct Fields<TriedAllocation> : FieldsOf<TriedAllocation> {
  static constexpr const char* kName = "TriedAllocation";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes));
    visit(GVB_FIELD(code));
  }
};

template <>
struct Fields<LayerProbe> : FieldsOf<LayerProbe> {
  static constexpr const char* kName = "LayerProbe";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(visible_total_bytes));
    visit(GVB_FIELD(visible_free_bytes));
    visit(GVB_FIELD(pid_found).says(
        "HAMi-core's internal `pidfound`, and the limits that its functions report; null under any other layer."));
    visit(GVB_FIELD(memory_limit_bytes));
    visit(GVB_FIELD(sm_percent));
    visit(GVB_FIELD(allocations));
    visit(GVB_FIELD(partition_multiprocessors)
              .says("The size of the green context that the process is confined to, by the driver; null: it is not."));
    visit(GVB_FIELD(multiprocessors_used)
              .says("Multiprocessors on which blocks ran then, of enough blocks for the whole card."));
  }
};

namespace {

const Topic layer_probe_topic{"Layer",
                              {in_session("probeLayer", probe_layer)
                                   .says("Reports what the process can learn about its layer by experiment. Every "
                                         "granted allocation is freed at once.")}};

}  // namespace

}  // namespace gvb
