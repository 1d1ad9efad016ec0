// How fast matrix products run in each number format, on random inputs, with a look at whether they are right.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"
#include "bench/llm/number.h"

namespace gvb {

enum class GemmFormats { kAll, kSingle };

struct GemmRatesRequest {
  GemmFormats formats = GemmFormats::kAll;
  unsigned side = 0;    // of all three matrices, a multiple of 16
  unsigned rounds = 1;  // in each, a batch of launches of every format
  // Of a batch.
  unsigned least_launches = 1;
  uint64_t least_ns = 0;
  uint64_t seed = 0;  // of the inputs, and of the elements behind the checksum
};

struct GemmRate {
  Number number = Number::kF32;
  std::string unsupported;  // why the device has no kernel for it; then nothing follows
  std::string variant;
  double launch_flops = 0;
  double launch_bytes = 0;        // of the three matrices, each once
  std::vector<double> launch_ns;  // of each batch
  unsigned launches = 0;          // in a batch
  // The highest of the readings while launches ran, which only NVML gives.
  std::optional<unsigned> sm_clock_mhz;
  unsigned sampled = 0;    // elements
  double worst_error = 0;  // of them against double precision, relative to the square root of the side
  std::string checksum;    // of those elements that the seed chose
};

struct GemmRates {
  std::string compute_capability;
  unsigned multiprocessors = 0;
  std::vector<GemmRate> rates;
};

// Throws kInvalidResult where a launch did not run or a product is wrong.
GemmRates measure_gemm(DeviceSession& session, const GemmRatesRequest& request);

}  // namespace gvb
