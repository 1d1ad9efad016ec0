// How soon the host learns of a fault.
#include "bench/fault_detection.h"

#include "addon/fault_kinds.h"
#include "addon/mapping_fields.h"
#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<FaultWait> kFaultWaits{"FaultWait",
                                     {{FaultWait::kQuery, "query"}, {FaultWait::kSynchronize, "synchronize"}}};

}  // namespace

template <>
struct Fields<FaultDetectionRequest> : FieldsOf<FaultDetectionRequest> {
  static constexpr const char* kName = "FaultDetectionRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(fault).one_of(fault_kinds()));
    visit(GVB_FIELD(wait).one_of(kFaultWaits).says("Whether the host queries repeatedly or waits inside a call."));
  }
};

template <>
struct Fields<FaultDetection> : FieldsOf<FaultDetection> {
  static constexpr const char* kName = "FaultDetection";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code).says("Result of the first call that reported an error; 0: no call did within a second."));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(stamped).says("Whether the kernel noted the time at which it failed."));
    visit(GVB_FIELD(latency_ns).says("Time from the kernel's stamp until that call returned."));
    visit(
        GVB_FIELD(submitted_ns).says("Time from the kernel's stamp until the launch call returned; usually negative."));
    visit(
        GVB_FIELD(successes).says("Number of earlier calls that reported that the kernel had ended without an error."));
    visit(GVB_FIELD(mapping));
  }
};

namespace {

const Topic fault_detection_topic{"Detection of faults",
                                  {in_session("detectFault", detect_fault)
                                       .says("Launches a kernel that fails in a known way and measures how long the "
                                             "host takes to learn of it. The context is lost.")}};

}  // namespace

}  // namespace gvb
