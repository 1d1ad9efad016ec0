// How fast decode attention reads a paged cache of keys and values: one token of each of many sequences attends to its
// whole context, so that the cache is read once from DRAM.
#pragma once

#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct DecodeAttentionRequest {
  unsigned batch = 0, context = 0;  // sequences, and tokens of each
  unsigned heads = 0, kv_heads = 0, dimension = 0;
  uint64_t seed = 0;
  unsigned batches = 0;  // of launches that are timed
  unsigned least_launches = 0;
  uint64_t least_ns = 0;  // of a batch
};

struct DecodeAttentionRate {
  uint64_t bytes = 0;             // of keys and values that a launch reads
  unsigned splits = 0;            // parts of a context
  std::vector<double> launch_ns;  // one a batch
  double reference_error = 0;     // of sampled heads, against double precision
};

// Throws kInvalidResult where sampled results are not those of double precision, or events and the host's clock differ.
DecodeAttentionRate decode_attention_rate(DeviceSession& session, const DecodeAttentionRequest& request);

}  // namespace gvb
