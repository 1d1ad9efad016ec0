// Matrix products.
#include "addon/topic.h"
#include "bench/llm/gemm_rate.h"

namespace gvb {

namespace {

const Choices<Number> kGemmNumbers{
    "NumberFormat",
    {{Number::kF16, "fp16"}, {Number::kBf16, "bf16"}, {Number::kF32, "fp32"}, {Number::kE4m3, "fp8 e4m3"}}};

}  // namespace

template <>
struct Fields<GemmRatesRequest> : FieldsOf<GemmRatesRequest> {
  static constexpr const char* kName = "GemmRatesRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(number).one_of(kGemmNumbers).says("The only format to measure; null: all of them, in turn."));
    visit(GVB_FIELD(side).above_zero().says("Side of all three matrices, a multiple of 16."));
    visit(GVB_FIELD(rounds).above_zero().says("Number of rounds; each round runs one batch of launches per format."));
    visit(GVB_FIELD(least_launches).above_zero().says("Minimum number of launches per batch."));
    visit(GVB_FIELD(least_ns).says("Minimum duration of a batch."));
    visit(GVB_FIELD(seed).says("Seed of the inputs and of the choice of elements in the checksum."));
  }
};

template <>
struct Fields<GemmRate> : FieldsOf<GemmRate> {
  static constexpr const char* kName = "GemmRate";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(number).one_of(kGemmNumbers));
    visit(GVB_FIELD(unsupported)
              .or_null()
              .says("Reason why the device has no kernel for this format; the fields below are then empty."));
    visit(GVB_FIELD(variant));
    visit(GVB_FIELD(launch_flops));
    visit(GVB_FIELD(launch_bytes).says("Size of the three matrices in bytes, each counted once."));
    visit(GVB_FIELD(launch_ns).says("Time per launch in each batch."));
    visit(GVB_FIELD(launches).says("Launches per batch."));
    visit(GVB_FIELD(sm_clock_mhz).says("Highest SM clock while launches ran; null if NVML does not report it."));
    visit(GVB_FIELD(sampled).says("Number of elements compared with double precision."));
    visit(GVB_FIELD(worst_error).says("Largest error of those elements, relative to the square root of the side."));
    visit(GVB_FIELD(checksum).says("Checksum of the elements that the seed chose."));
  }
};

template <>
struct Fields<GemmRates> : FieldsOf<GemmRates> {
  static constexpr const char* kName = "GemmRates";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(compute_capability));
    visit(GVB_FIELD(multiprocessors));
    visit(GVB_FIELD(rates));
  }
};

namespace {

const Topic gemm_topic{"Matrix products", {in_session("gemmRates", measure_gemm)}};

}  // namespace

}  // namespace gvb
