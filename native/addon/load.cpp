// Loads of tenants.
#include "bench/load.h"

#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<LoadCall> kLoadCalls{"LoadCall",
                                   {{LoadCall::kKernel, "cuLaunchKernel"},
                                    {LoadCall::kKernelEx, "cuLaunchKernelEx"},
                                    {LoadCall::kGraph, "cuGraphLaunch"},
                                    {LoadCall::kCooperative, "cuLaunchCooperativeKernel"},
                                    {LoadCall::kThreadKernel, "cuLaunchKernel_ptsz"},
                                    {LoadCall::kThreadGraph, "cuGraphLaunch_ptsz"}}};

}  // namespace

template <>
struct Fields<LoadRequest> : FieldsOf<LoadRequest> {
  static constexpr const char* kName = "LoadRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(call)
              .one_of(kLoadCalls)
              .says("A name with `_ptsz` means the function that cuGetProcAddress returns for per-thread default "
                    "streams, used with the thread's default stream."));
    visit(GVB_FIELD(nodes).above_zero().says("Kernels per launch; more than 1 only for graphs."));
    visit(GVB_FIELD(blocks_per_multiprocessor)
              .says("Blocks for each multiprocessor that the tenant is told; 0: as many as run at a time, which a "
                    "cooperative launch needs."));
    visit(GVB_FIELD(blocks).says("Blocks of the whole kernel, instead of `blocksPerMultiprocessor`; 0: not set."));
    visit(GVB_FIELD(threads_per_block).says("0: so many that as many blocks as run at a time leave no room."));
    visit(GVB_FIELD(rounds).says(
        "Rounds per block; 0: calibrated before the start so that a kernel takes about `kernelNs`. When tenants are "
        "compared, all use the `rounds` that one of them measured alone and without a limit."));
    visit(GVB_FIELD(kernel_ns).above_zero().says("Approximate duration of a kernel that runs alone on the GPU."));
    visit(GVB_FIELD(in_flight).above_zero().says(
        "Maximum number of launches in flight; 1: each launch is waited for with cuStreamSynchronize."));
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(duration_ns)
              .above_zero()
              .says("Duration of the load, by the device's clock or the host's, whichever is over first."));
    visit(GVB_FIELD(bin_ns).above_zero());
    visit(GVB_FIELD(gap_ns).says("The shortest time between two kernels that is listed."));
    visit(GVB_FIELD(most_listed).above_zero().says("Maximum number of gaps, kernels and calls; the latest are kept."));
    visit(GVB_FIELD(partition).says(
        "On a green context of so many multiprocessors, which a driver may round up; 0: no partition."));
  }
};

template <>
struct Fields<Stretches> : FieldsOf<Stretches> {
  static constexpr const char* kName = "Stretches";
  static constexpr const char* kDoc =
      "Intervals of device time: start (in ns from the beginning of the first bin) and length.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(at_ns).as_array());
    visit(GVB_FIELD(took_ns).as_array());
  }
};

template <>
struct Fields<Load> : FieldsOf<Load> {
  static constexpr const char* kName = "Load";
  static constexpr const char* kDoc = "Work is rounds times blocks, so its amount does not depend on how long it took.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds).says("Rounds per block that were used."));
    visit(GVB_FIELD(blocks));
    visit(GVB_FIELD(multiprocessors).says("Multiprocessors that the tenant sees."));
    visit(GVB_FIELD(multiprocessors_used).says("On which a block ended (%smid)."));
    visit(GVB_FIELD(partition).says("Multiprocessors of the partition, as the driver says; 0: none was asked for."));
    visit(GVB_FIELD(launches));
    visit(GVB_FIELD(kernels));
    visit(GVB_FIELD(work));
    visit(
        GVB_FIELD(first_bin).says("Number of the first bin. Bin i begins at i * binNs of %globaltimer, so bins of "
                                  "tenants of one GPU can be matched by their numbers."));
    visit(GVB_FIELD(host_origin_ns)
              .says("Beginning of the first bin on the host's clock, relative to `startAtNs`; accurate to half of "
                    "`hostBracketNs`."));
    visit(GVB_FIELD(host_bracket_ns));
    visit(GVB_FIELD(bins).as_array().says(
        "Work done in each bin. The load covers only a part of the first and the last bin."));
    visit(GVB_FIELD(started_ns).says("Start of the first kernel, in ns from the beginning of the first bin."));
    visit(GVB_FIELD(ended_ns).says("End of the last kernel, in ns from the beginning of the first bin."));
    visit(GVB_FIELD(busy_ns).says("Time between `startedNs` and `endedNs` during which a kernel ran."));
    visit(GVB_FIELD(host_started_ns).says("Time of the first launch call, relative to `startAtNs`."));
    visit(GVB_FIELD(gaps).says("Number of gaps of at least `gapNs` between two kernels."));
    visit(GVB_FIELD(gaps_listed));
    visit(GVB_FIELD(kernels_listed));
    visit(GVB_FIELD(calls_ns).as_array().says("Durations of the latest launch calls."));
    visit(GVB_FIELD(most_in_flight).says("Largest number of launches in flight when a launch call returned."));
  }
};

namespace {

const Topic load_topic{"Loads of tenants",
                       {in_session("load", measure_load)
                            .says("Keeps kernels of one shape running from a given time on and reports how much work "
                                  "was done in each bin of device time.")}};

}  // namespace

}  // namespace gvb
