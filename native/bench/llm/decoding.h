// A tenant that generates tokens with a synthetic decoder: time to the first token, time between tokens, and whether
// each of them is what its kernels compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/llm/decoder_shape.h"

namespace gvb {

// Sizes of 0: those of default_decoder.
struct DecoderRequest : DecoderShape {
  uint64_t limit_bytes = 0;  // of memory, that default sizes follow; 0: what the device has
  unsigned batch = 1, prompt = 0, output = 0;
  uint64_t seed = 0;
};

struct PreparedDecoder : DecoderShape {
  uint64_t weight_bytes = 0;    // that a step reads
  uint64_t cache_bytes = 0;     // of keys and values
  uint64_t l2_bytes = 0;        // of the device; 0: it does not tell
  double dram_ceiling_gbs = 0;  // by its memory clock and bus width; 0: it does not tell
  unsigned launches = 0;        // of a step
  std::string variant;          // of the matrix products of steps that decode
  std::string prompt_variant;   // of the matrix products of prompts, and of their attention
  bool overlaps = false;        // whether a kernel begins before the one ahead of it ends
  // Of a small decoder on this device, against double precision: the largest difference of a logit.
  double reference_error = 0;
};

// Keeps a decoder in the session, in place of one that was there. First a small one with the same kernels is compared
// with double precision: throws kInvalidResult where it differs.
PreparedDecoder prepare_decoder(DeviceSession& session, const DecoderRequest& request);

struct DecodeRequest {
  bool graph = false;       // steps as one captured graph
  int64_t start_at_ns = 0;  // CLOCK_MONOTONIC_RAW; a time that has passed starts at once, and says so
  uint64_t window_ns = 0;   // for which requests are begun, and steps made
  unsigned requests = 0;    // of them at most; 0: as many as there is time for
};

struct Decoding {
  // Relative to start_at_ns.
  double started_ns = 0, ended_ns = 0;
  // Of each request: when its prompt was submitted, how long after that its first token was visible, and a digest of
  // the tokens and of all logits' bits of its steps (0 of one that the window cut short).
  std::vector<double> first_at_ns, first_token_ns, digests;
  // Of each further step: when it was submitted, and how long after that its tokens were visible.
  std::vector<double> at_ns, token_ns;
  uint64_t blocks = 0;  // of matrix products and of attention of prompts, counted by the device
};

// Requests one after the other, each with a prompt of its own that follows from the seed and its number: the same
// numbers have the same digests, however their steps are launched. Throws kInvalidResult where a token is missing or
// blocks are.
Decoding decode_tokens(DeviceSession& session, const DecodeRequest& request);

// Frees the decoder's memory.
void drop_decoder(DeviceSession& session);

}  // namespace gvb
