// A tenant that generates tokens.
#include "addon/topic.h"
#include "bench/llm/decode_attention.h"
#include "bench/llm/decoding.h"

namespace gvb {

template <>
struct Fields<DecoderShape> : FieldsOf<DecoderShape> {
  static constexpr const char* kName = "DecoderShape";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(layers));
    visit(GVB_FIELD(hidden));
    visit(GVB_FIELD(heads));
    visit(GVB_FIELD(kv_heads));
    visit(GVB_FIELD(mlp));
    visit(GVB_FIELD(vocabulary));
  }
};

template <>
struct Fields<DecoderRequest> : FieldsOf<DecoderRequest, DecoderShape> {
  static constexpr const char* kName = "DecoderRequest";
  static constexpr const char* kDoc = "If all sizes are 0, they are chosen to fit the memory limit.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(limit_bytes).says("Memory limit for default sizes; 0: the memory of the device."));
    visit(GVB_FIELD(batch).above_zero().says("Number of sequences that decode together."));
    visit(GVB_FIELD(prompt).above_zero().says("Prompt tokens per sequence."));
    visit(GVB_FIELD(output).above_zero().says("Tokens to generate per sequence."));
    visit(GVB_FIELD(seed).says("Seed of weights and prompts."));
  }
};

template <>
struct Fields<PreparedDecoder> : FieldsOf<PreparedDecoder, DecoderShape> {
  static constexpr const char* kName = "PreparedDecoder";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(weight_bytes).says("Bytes of weights that a step reads."));
    visit(GVB_FIELD(cache_bytes).says("Size of the keys and values in bytes."));
    visit(GVB_FIELD(l2_bytes).says("Size of the device's L2 cache in bytes; 0: unknown."));
    visit(GVB_FIELD(dram_ceiling_gbs).says("Peak memory bandwidth from memory clock and bus width; 0: unknown."));
    visit(GVB_FIELD(launches).says("Launches per step."));
    visit(GVB_FIELD(variant).says("Kernel variant of the matrix products of decode steps."));
    visit(GVB_FIELD(prompt_variant).says("Kernel variant of the matrix products of prompts, and of their attention."));
    visit(GVB_FIELD(overlaps).says(
        "Whether a kernel begins before the previous one ends (programmatic dependent launch)."));
    visit(GVB_FIELD(reference_error)
              .says("Largest difference of a logit between a small decoder on this device and double precision."));
  }
};

template <>
struct Fields<DecodeRequest> : FieldsOf<DecodeRequest> {
  static constexpr const char* kName = "DecodeRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(graph).says("Whether a step is launched as one captured graph."));
    visit(GVB_FIELD(start_at_ns).says("Start time on the clock of `now`. If it has passed, starts at once."));
    visit(GVB_FIELD(window_ns).says(
        "Time during which requests and steps are started; the first request is always finished."));
    visit(GVB_FIELD(requests).says("Maximum number of requests; 0: as many as time allows."));
  }
};

template <>
struct Fields<Decoding> : FieldsOf<Decoding> {
  static constexpr const char* kName = "Decoding";
  static constexpr const char* kDoc = "Times are relative to `startAtNs`.";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(started_ns));
    visit(GVB_FIELD(ended_ns));
    visit(GVB_FIELD(first_at_ns).as_array().says("Per request: when its prompt was submitted."));
    visit(GVB_FIELD(first_token_ns).as_array().says("How long after that its first token was visible."));
    visit(GVB_FIELD(digests).as_array().says(
        "Per request: digest of its tokens and of all bits of its logits; 0 if the window ended before it."));
    visit(GVB_FIELD(at_ns).as_array().says("Per further step: when it was submitted."));
    visit(GVB_FIELD(token_ns).as_array().says("How long after that its tokens were visible."));
    visit(GVB_FIELD(blocks).says("Blocks of the matrix products and of prompt attention, counted by the device."));
  }
};

template <>
struct Fields<DecodeAttentionRequest> : FieldsOf<DecodeAttentionRequest> {
  static constexpr const char* kName = "DecodeAttentionRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(batch).above_zero().says("Number of sequences."));
    visit(GVB_FIELD(context).above_zero().says("Context length of each sequence in tokens."));
    visit(GVB_FIELD(heads).above_zero());
    visit(GVB_FIELD(kv_heads).above_zero().says("Number of KV heads; at most eight query heads may split one."));
    visit(GVB_FIELD(dimension).above_zero().says("Head dimension: 64 or 128."));
    visit(GVB_FIELD(seed));
    visit(GVB_FIELD(batches).above_zero().says("Number of timed batches of launches."));
    visit(GVB_FIELD(least_launches).above_zero().says("Minimum number of launches per batch."));
    visit(GVB_FIELD(least_ns).says("Minimum duration of a batch."));
  }
};

template <>
struct Fields<DecodeAttentionRate> : FieldsOf<DecodeAttentionRate> {
  static constexpr const char* kName = "DecodeAttentionRate";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Size of the keys and values that a launch reads, in bytes."));
    visit(GVB_FIELD(splits).says("Number of equal parts into which the pages of all sequences are split."));
    visit(GVB_FIELD(launch_ns).as_array().says("Time per launch in each batch."));
    visit(GVB_FIELD(reference_error).says("Largest error of sampled heads, against double precision."));
  }
};

namespace {

Nothing drop(DeviceSession& session) {
  drop_decoder(session);
  return {};
}

const Topic decoder_topic{
    "Decoders",
    {in_session("prepareDecoder", prepare_decoder)
         .says("Creates a synthetic decoder in the session. Rejects if the logits of a small decoder with the same "
               "kernels differ from double precision."),
     in_session("decodeTokens", decode_tokens)
         .says("Serves requests one after the other with the session's decoder. Rejects if a token is missing or work "
               "was skipped."),
     in_session("decodeAttentionRate", decode_attention_rate)
         .says("Measures how fast decode attention reads a paged cache. Rejects if sampled results are wrong."),
     in_session("dropDecoder", drop).says("Frees the session's decoder.")}};

}  // namespace

}  // namespace gvb
