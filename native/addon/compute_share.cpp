// The share of the device's compute that a tenant gets.
#include "bench/compute_share.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<ComputeShareRequest> : FieldsOf<ComputeShareRequest> {
  static constexpr const char* kName = "ComputeShareRequest";
  static constexpr const char* kDoc = "Whole numbers, above 0 but for `blocks`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(duration_ms).above_zero().says("For how long the host launches, in milliseconds."));
    visit(GVB_FIELD(blocks).says("Number per kernel; 0 asks for 1000 per multiprocessor of the device."));
    visit(GVB_FIELD(threads_per_block).above_zero());
    visit(GVB_FIELD(spin_ns).above_zero().says("For how long every block spins, in nanoseconds."));
    visit(GVB_FIELD(in_flight).above_zero().says("Most launches in flight at any time."));
    visit(GVB_FIELD(bin_ms).above_zero().says("Length of one of `bins`, in milliseconds of the device's time."));
  }
};

template <>
struct Fields<ComputeShare> : FieldsOf<ComputeShare> {
  static constexpr const char* kName = "ComputeShare";
  static constexpr const char* kDoc = "Shares are of 1, in the time the device itself stamps.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(launches));
    visit(GVB_FIELD(kernel_ns).says("How long a kernel took at the median."));
    visit(GVB_FIELD(busy_share).says("Share of the time from the first kernel's start to the last one's end."));
    visit(
        GVB_FIELD(bins).as_array().says("Share of each whole window of `binMs` from the first kernel's start; the time "
                                        "after the last one is left out."));
  }
};

namespace {

const Topic compute_share_topic{"Shares of compute",
                                {in_session("computeShare", measure_compute_share)
                                     .says("Keeps kernels that fill the device queued and reports the share of the "
                                           "device's time in which they ran.")}};

}  // namespace

}  // namespace gvb
