// A tenant that generates tokens with a synthetic decoder: time to the first token, time between tokens, and whether
// the tokens are correct.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/llm/decoder_shape.h"

namespace gvb {

// Sizes of 0: the defaults of default_decoder.
struct DecoderRequest : DecoderShape {
  uint64_t limit_bytes = 0;  // memory limit for the default sizes; 0: the device's memory
  unsigned batch = 1, prompt = 0, output = 0;
  uint64_t seed = 0;
};

struct PreparedDecoder : DecoderShape {
  uint64_t weight_bytes = 0;    // read by a step
  uint64_t cache_bytes = 0;     // for keys and values
  uint64_t l2_bytes = 0;        // 0: not reported by the device
  double dram_ceiling_gbs = 0;  // by its memory clock and bus width; 0: not reported
  unsigned launches = 0;        // per step
  std::string variant;          // for decode steps' matrix products
  std::string prompt_variant;   // for prompts' matrix products and attention
  bool overlaps = false;        // a kernel may begin before the previous one ends
  // The largest difference of a logit between a small decoder on this device and double precision.
  double reference_error = 0;
};

// Creates a decoder in the session and replaces any existing one. First compares a small one with the same kernels with
// double precision: throws kInvalidResult if it differs.
PreparedDecoder prepare_decoder(DeviceSession& session, const DecoderRequest& request);

struct DecodeRequest {
  bool graph = false;       // steps as one captured graph
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; if the time has passed, starts at once and reports it
  uint64_t window_ns = 0;   // how long requests and steps are started
  unsigned requests = 0;    // at most; 0: as many as time allows
};

struct Decoding {
  // Relative to start_at_ns.
  double started_ns = 0, ended_ns = 0;
  // Per request: when its prompt was submitted, the time until its first token was visible, and a digest of the tokens
  // and of all bits of its steps' logits (0 if the window cut it short).
  std::vector<double> first_at_ns, first_token_ns, digests;
  // Per further step: when it was submitted, and the time until its tokens were visible.
  std::vector<double> at_ns, token_ns;
  uint64_t blocks = 0;  // of matrix products and of prompt attention, counted by the device
};

// Runs requests one after the other. A request's prompt follows from the seed and its number, so equal numbers have
// equal digests, however the steps are launched. Throws kInvalidResult if a token is missing or blocks did not run.
Decoding decode_tokens(DeviceSession& session, const DecodeRequest& request);

// Frees the decoder's memory.
void drop_decoder(DeviceSession& session);

}  // namespace gvb
