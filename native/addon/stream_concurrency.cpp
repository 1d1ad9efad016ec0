// Kernels in independent streams.
#include "bench/stream_concurrency.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<ConcurrencyRequest> : FieldsOf<ConcurrencyRequest> {
  static constexpr const char* kName = "ConcurrencyRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(streams).above_zero());
    visit(GVB_FIELD(kernels).above_zero().says("Of each stream, one behind the other."));
    visit(GVB_FIELD(kernel_ns).says("Duration of a kernel alone to aim for."));
    visit(GVB_FIELD(rounds).says("Of arithmetic in a kernel; 0: as many as kernelNs takes, which is tried out."));
    visit(GVB_FIELD(runs).above_zero());
    visit(GVB_FIELD(partition).says(
        "All streams on a green context of so many multiprocessors, which a driver may round up; 0: no partition."));
  }
};

template <>
struct Fields<StreamConcurrency> : FieldsOf<StreamConcurrency> {
  static constexpr const char* kName = "StreamConcurrency";
  static constexpr const char* kDoc = "By the device's clock, a value a run.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds));
    visit(GVB_FIELD(blocks).says("Of a kernel, one a multiprocessor."));
    visit(GVB_FIELD(multiprocessors).says("Of the partition, as the driver says; without one, of the device."));
    visit(GVB_FIELD(alone_ns).says("A kernel that had the device to itself."));
    visit(GVB_FIELD(kernel_ns).says("The median kernel of the run."));
    visit(GVB_FIELD(span_ns).says("From the first start to the last end."));
    visit(GVB_FIELD(mean).says("Kernels that ran at the same time in that span, on average."));
    visit(GVB_FIELD(most).says("And at most."));
  }
};

namespace {

const Topic stream_concurrency_topic{
    "Independent streams",
    {in_session("streamConcurrency", measure_stream_concurrency)
         .says("Runs kernels in streams that do not depend on each other, and says how many ran at once.")}};

}  // namespace

}  // namespace gvb
