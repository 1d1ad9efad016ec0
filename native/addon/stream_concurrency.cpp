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
    visit(GVB_FIELD(kernels).above_zero().says("Kernels per stream, one after the other."));
    visit(GVB_FIELD(kernel_ns).says("Target duration of a kernel that runs alone."));
    visit(GVB_FIELD(rounds).says(
        "Rounds of arithmetic per kernel; 0: calibrated so that a kernel takes about kernelNs."));
    visit(GVB_FIELD(runs).above_zero());
    visit(GVB_FIELD(partition).says(
        "All streams on a green context of so many multiprocessors, which a driver may round up; 0: no partition."));
  }
};

template <>
struct Fields<StreamConcurrency> : FieldsOf<StreamConcurrency> {
  static constexpr const char* kName = "StreamConcurrency";
  static constexpr const char* kDoc = "Times are by the device's clock, with one value per run.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds));
    visit(GVB_FIELD(blocks).says("Blocks of a kernel, one a multiprocessor."));
    visit(GVB_FIELD(multiprocessors)
              .says("Multiprocessors of the partition, as the driver says; without one, of the device."));
    visit(GVB_FIELD(alone_ns).says("A kernel that had the device to itself."));
    visit(GVB_FIELD(kernel_ns).says("The median kernel of the run."));
    visit(GVB_FIELD(span_ns).says("From the first start to the last end."));
    visit(GVB_FIELD(mean).says("Kernels that ran at the same time in that span, on average."));
    visit(GVB_FIELD(most).says("Most kernels that ran at the same time in that span."));
  }
};

namespace {

const Topic stream_concurrency_topic{
    "Independent streams",
    {in_session("streamConcurrency", measure_stream_concurrency)
         .says("Runs kernels in independent streams and reports how many ran at the same time.")}};

}  // namespace

}  // namespace gvb
