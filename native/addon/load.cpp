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
              .says("With `_ptsz`: as cuGetProcAddress gives it for per-thread default streams, in the thread's."));
    visit(GVB_FIELD(nodes).above_zero().says("Kernels of a launch; above 1 for graphs alone."));
    visit(GVB_FIELD(blocks_per_multiprocessor)
              .says("For each multiprocessor that the tenant sees; 0: as many as run at once, which a cooperative "
                    "launch needs."));
    visit(GVB_FIELD(blocks).says("Number in the whole kernel, instead of `blocksPerMultiprocessor`; 0: not set."));
    visit(GVB_FIELD(threads_per_block).above_zero());
    visit(GVB_FIELD(rounds).says(
        "Of a block; 0: as many as make a kernel of about `kernelNs`, measured before the start. Tenants that are "
        "compared get the `rounds` that one of them measured alone and without a limit."));
    visit(GVB_FIELD(kernel_ns).above_zero().says("About how long a kernel takes alone on the GPU."));
    visit(GVB_FIELD(in_flight).above_zero().says(
        "Most launches in flight; 1: each is waited for with cuStreamSynchronize."));
    visit(GVB_FIELD(start_at_ns).says("A time of `now`; starts at once if it has passed."));
    visit(GVB_FIELD(duration_ns).above_zero().says("By the device's clock or the host's, whichever passes first."));
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
  static constexpr const char* kDoc = "Of the device's time, in ns from the beginning of the first bin.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(at_ns).as_array());
    visit(GVB_FIELD(took_ns).as_array());
  }
};

template <>
struct Fields<Load> : FieldsOf<Load> {
  static constexpr const char* kName = "Load";
  static constexpr const char* kDoc = "Work is in rounds times blocks: its amount does not depend on how long it took.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(rounds).says("Of a block, as done."));
    visit(GVB_FIELD(blocks));
    visit(GVB_FIELD(multiprocessors).says("That the tenant sees."));
    visit(GVB_FIELD(multiprocessors_used).says("On which a block ended (%smid)."));
    visit(GVB_FIELD(partition).says("Its multiprocessors, as the driver says; 0: none was asked for."));
    visit(GVB_FIELD(launches));
    visit(GVB_FIELD(kernels));
    visit(GVB_FIELD(work));
    visit(GVB_FIELD(first_bin).says(
        "Number of the first bin: bin i begins at i * binNs of %globaltimer, so bins of tenants of one GPU compare by "
        "their numbers."));
    visit(
        GVB_FIELD(host_origin_ns)
            .says(
                "When the first bin begins by the host's clock, relative to `startAtNs`, to half of `hostBracketNs`."));
    visit(GVB_FIELD(host_bracket_ns));
    visit(
        GVB_FIELD(bins).as_array().says("Work that was done in each; the first and last are of a part of their time."));
    visit(GVB_FIELD(started_ns).says("The first kernel's start, in ns from the beginning of the first bin."));
    visit(GVB_FIELD(ended_ns).says("The last kernel's end, likewise."));
    visit(GVB_FIELD(busy_ns).says("Between the two, while a kernel ran."));
    visit(GVB_FIELD(host_started_ns).says("When the first launch call was made, relative to `startAtNs`."));
    visit(GVB_FIELD(gaps).says("Times of at least `gapNs` between two kernels."));
    visit(GVB_FIELD(gaps_listed));
    visit(GVB_FIELD(kernels_listed));
    visit(GVB_FIELD(calls_ns).as_array().says("How long the latest launch calls took."));
    visit(GVB_FIELD(most_in_flight).says("Most launches in flight when a launch call returned."));
  }
};

namespace {

const Topic load_topic{
    "Loads of tenants",
    {in_session("load", measure_load)
         .says("Keeps kernels of one shape running from an absolute time on, and says how much work was done "
               "in each bin of the device's time.")}};

}  // namespace

}  // namespace gvb
