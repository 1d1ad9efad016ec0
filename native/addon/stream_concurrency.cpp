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
  }
};

template <>
struct Fields<StreamConcurrency> : FieldsOf<StreamConcurrency> {
  static constexpr const char* kName = "StreamConcurrency";
  static constexpr const char* kDoc = "Times are by the device's clock, with one value per run.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds));
    visit(GVB_FIELD(blocks).says("Blocks per kernel, one per multiprocessor."));
    visit(GVB_FIELD(alone_ns).says("Duration of a kernel that had the device to itself."));
    visit(GVB_FIELD(kernel_ns).says("Median duration of a kernel in the run."));
    visit(GVB_FIELD(span_ns).says("Time from the first kernel's start to the last kernel's end."));
    visit(GVB_FIELD(mean).says("Average number of kernels that ran at the same time during that span."));
    visit(GVB_FIELD(most).says("Largest number of kernels that ran at the same time."));
  }
};

namespace {

const Topic stream_concurrency_topic{
    "Independent streams",
    {in_session("streamConcurrency", measure_stream_concurrency)
         .says("Runs kernels in independent streams and reports how many ran at the same time.")}};

}  // namespace

}  // namespace gvb
