// How soon the host knows of a fault.
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
    visit(GVB_FIELD(wait).one_of(kFaultWaits).says("Whether the host asks again and again, or waits inside a call."));
  }
};

template <>
struct Fields<FaultDetection> : FieldsOf<FaultDetection> {
  static constexpr const char* kName = "FaultDetection";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(code).says("Of the first call that told of an error; 0: none did within a second."));
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(stamped).says("Whether the kernel noted the time at which it failed."));
    visit(GVB_FIELD(latency_ns).says("From that time until the call returned."));
    visit(GVB_FIELD(submitted_ns).says("From that time until the launch call had returned, usually before it."));
    visit(GVB_FIELD(successes).says("Calls before that one which said that the kernel had ended well."));
    visit(GVB_FIELD(mapping));
  }
};

namespace {

const Topic fault_detection_topic{
    "Detection of faults",
    {in_session("detectFault", detect_fault)
         .says(
             "Launches a kernel that fails in a known way, and says how long after it the host is told. The context is "
             "lost.")}};

}  // namespace

}  // namespace gvb
