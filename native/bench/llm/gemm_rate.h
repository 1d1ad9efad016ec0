// How fast matrix products run in each number format on random inputs, with a check of their results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"
#include "bench/llm/number.h"

namespace gvb {

struct GemmRatesRequest {
  std::optional<Number> number;  // the only format; without it all of them, in turn
  unsigned side = 0;             // size of all three matrices, a multiple of 16
  unsigned rounds = 1;           // each runs a batch of launches of every format
  // Limits of a batch.
  unsigned least_launches = 1;
  uint64_t least_ns = 0;
  uint64_t seed = 0;  // for the inputs, and for the elements in the checksum
};

struct GemmRate {
  Number number = Number::kF32;
  std::string unsupported;  // why the device has no kernel for it; the other fields are then empty
  std::string variant;
  double launch_flops = 0;
  double launch_bytes = 0;        // the three matrices, each counted once
  std::vector<double> launch_ns;  // per batch
  unsigned launches = 0;          // per batch
  // The highest reading while launches ran; only NVML reports it.
  std::optional<unsigned> sm_clock_mhz;
  unsigned sampled = 0;    // elements
  double worst_error = 0;  // over them, against double precision, relative to the square root of the side
  std::string checksum;    // over the elements that the seed selects
};

struct GemmRates {
  std::string compute_capability;
  unsigned multiprocessors = 0;
  std::vector<GemmRate> rates;
};

// Throws kInvalidResult if a launch did not run or a product is wrong.
GemmRates measure_gemm(DeviceSession& session, const GemmRatesRequest& request);

}  // namespace gvb
