// The share of the device's compute that a tenant gets.
#include "bench/compute_share.h"

#include "addon/topic.h"

namespace gvb {

template <>
struct Fields<ComputeShareRequest> : FieldsOf<ComputeShareRequest> {
  static constexpr const char* kName = "ComputeShareRequest";
  static constexpr const char* kDoc =
      "All values are integers above 0, except that `blocks` and `threadsPerBlock` may be 0.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(duration_ms).above_zero().says("Time during which the host launches, in milliseconds."));
    visit(GVB_FIELD(blocks).says("Blocks per kernel; 0: 500 waves of them."));
    visit(GVB_FIELD(threads_per_block).says("0: so many that no room is left on a multiprocessor."));
    visit(GVB_FIELD(spin_ns).above_zero().says("Time that every block spins, in nanoseconds."));
    visit(GVB_FIELD(in_flight).above_zero().says("Maximum number of launches in flight."));
    visit(GVB_FIELD(bin_ms).above_zero().says("Length of one of `bins`, in milliseconds of device time."));
  }
};

template <>
struct Fields<ComputeShare> : FieldsOf<ComputeShare> {
  static constexpr const char* kName = "ComputeShare";
  static constexpr const char* kDoc =
      "Shares are fractions from 0 to 1 of device time, from the device's own time stamps.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(launches));
    visit(GVB_FIELD(kernel_ns).says("Median duration of a kernel."));
    visit(GVB_FIELD(busy_share).says("Share of the time between the first kernel's start and the last one's end."));
    visit(
        GVB_FIELD(bins).as_array().says("Share of each whole window of `binMs` from the first kernel's start on. The "
                                        "remainder after the last whole window is left out."));
  }
};

namespace {

const Topic compute_share_topic{
    "Shares of compute",
    {in_session("computeShare", measure_compute_share)
         .says("Keeps kernels that fill the device queued and reports the share of device time in which they ran.")}};

}  // namespace

}  // namespace gvb
