// How fast decode attention reads a paged KV cache: one token of each of many sequences attends to its whole context,
// so that the cache is read once from DRAM.
#pragma once

#include <vector>

#include "bench/device_session.h"

namespace gvb {

struct DecodeAttentionRequest {
  unsigned batch = 0, context = 0;  // number of sequences, and tokens in each
  unsigned heads = 0, kv_heads = 0, dimension = 0;
  uint64_t seed = 0;
  unsigned batches = 0;  // timed batches of launches
  unsigned least_launches = 0;
  uint64_t least_ns = 0;  // per batch
};

struct DecodeAttentionRate {
  uint64_t bytes = 0;             // keys and values that a launch reads
  unsigned splits = 0;            // equal parts of all pages
  std::vector<double> launch_ns;  // one per batch
  double reference_error = 0;     // for sampled heads, against double precision
};

// Throws kInvalidResult if sampled results differ from double precision, or events and the host's clock disagree.
DecodeAttentionRate decode_attention_rate(DeviceSession& session, const DecodeAttentionRequest& request);

}  // namespace gvb
