// The synthetic decoder on the simulated GPU, against double precision and against itself.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.h"
#include "bench/llm/decode_attention.h"
#include "bench/llm/decoder.h"
#include "bench/llm/decoder_reference.h"
#include "bench/llm/decoding.h"
#include "test/check.h"

using namespace gvb;

namespace {

// Several sequences, each checked with the tokens that the device chose for it; prompts that go through the layers in
// pairs, with one left over; pages that begin in a step.
void test_reference(DeviceSession& session, const DecoderShape& shape, unsigned batch) {
  const DecoderTask task{batch, 14, 5, 9, 30};
  Decoder decoder(session, shape, task);
  decoder.begin(4);
  const std::vector<unsigned> prompts = decoder.prompts();
  std::vector<DecoderReference> references(task.batch, DecoderReference(shape, task.seed));
  std::vector<std::vector<double>> expected(task.batch);
  for (size_t i = 0; i < prompts.size(); ++i) expected[i / task.prompt] = references[i / task.prompt].next(prompts[i]);
  for (unsigned step = 0; step < task.output; ++step) {
    if (step == 0)
      decoder.prefill();
    else if (step % 2 == 0)
      decoder.step();
    else
      decoder.step_by_graph();
    decoder.await(step);
    const std::vector<float> logits = decoder.logits();
    const Decoder::Shown shown = decoder.shown(step);
    for (size_t sequence = 0; sequence < task.batch; ++sequence) {
      const unsigned token = shown.tokens[sequence];
      const auto& of = expected[sequence];
      for (size_t i = 0; i < of.size(); ++i) CHECK_NEAR(logits[sequence * of.size() + i], of[i], 0.03);
      CHECK_NEAR(of[token], *std::max_element(of.begin(), of.end()), 0.05);
      expected[sequence] = references[sequence].next(token);
    }
  }
  CHECK_EQUAL(decoder.blocks_counted(), decoder.blocks_submitted());
}

DecoderRequest small_request() {
  DecoderRequest request;
  request.layers = 2;
  request.hidden = 128;
  request.heads = 2;
  request.kv_heads = 1;
  request.mlp = 192;
  request.vocabulary = 130;
  request.batch = 2;
  request.prompt = 20;
  request.output = 6;
  request.seed = 3;
  return request;
}

// Launches and a graph give the same tokens and bits; other prompts and other seeds give different ones.
void test_modes(DeviceSession& session) {
  const PreparedDecoder prepared = prepare_decoder(session, small_request());
  CHECK_EQUAL(prepared.launches, 14u);
  CHECK(prepared.reference_error > 0 && prepared.reference_error < 0.05);
  DecodeRequest request;
  request.start_at_ns = now_ns();
  request.window_ns = 600'000'000'000;
  request.requests = 3;
  const Decoding launches = decode_tokens(session, request);
  request.graph = true;
  const Decoding graph = decode_tokens(session, request);
  CHECK_EQUAL(launches.digests.size(), 3u);
  CHECK(launches.digests == graph.digests);
  CHECK(launches.digests[0] != launches.digests[1] && launches.digests[0] != 0);
  CHECK_EQUAL(launches.first_token_ns.size(), 3u);
  CHECK_EQUAL(launches.token_ns.size(), 15u);
  CHECK_EQUAL(launches.blocks, graph.blocks);
  DecoderRequest other = small_request();
  other.seed = 4;
  prepare_decoder(session, other);
  CHECK(decode_tokens(session, request).digests != graph.digests);
  drop_decoder(session);
}

void test_decode_attention(DeviceSession& session) {
  DecodeAttentionRequest request;
  request.batch = 3;
  request.context = 70;
  request.heads = 8;
  request.kv_heads = 2;
  request.dimension = 128;
  request.seed = 5;
  request.batches = 2;
  request.least_launches = 4;
  const DecodeAttentionRate rate = decode_attention_rate(session, request);
  CHECK_EQUAL(rate.bytes, uint64_t{3} * 70 * 2 * 128 * 2 * 2);
  CHECK_EQUAL(rate.launch_ns.size(), 2u);
  CHECK(rate.reference_error > 0 && rate.reference_error < 2e-3);
}

void test_default_shape(const DeviceSession& session) {
  const DecoderShape shape = default_decoder(session, 0);
  CHECK(unfit(shape).empty());
  CHECK(shape.streamed_bytes() <= uint64_t{2} << 30 && shape.streamed_bytes() > uint64_t{7} << 28);
  const DecoderShape limited = default_decoder(session, uint64_t{2} << 30);
  CHECK(limited.streamed_bytes() <= uint64_t{1} << 29 && limited.streamed_bytes() > uint64_t{3} << 27);
  CHECK_EQUAL(shape.hidden, 4096u);
  CHECK_EQUAL(shape.layers, 4u);
  CHECK_EQUAL(limited.hidden, 2048u);
  // Four L2 caches of 60 MiB are more than a quarter of this.
  CHECK(default_decoder(session, uint64_t{512} << 20).streamed_bytes() >= uint64_t{240} << 20);
}

}  // namespace

int main() {
  const Driver& driver = Driver::load(std::nullopt);
  CHECK(driver.simulated);
  const CancelToken token;
  DeviceSession session(driver, DeviceTarget(), token);
  test_default_shape(session);
  test_reference(session, {2, 256, 4, 2, 192, 130}, 3);
  test_reference(session, {1, 256, 2, 1, 64, 70}, 9);  // more than the fused products support
  test_modes(session);
  test_decode_attention(session);
  return test::report("llm_decoder_test");
}
