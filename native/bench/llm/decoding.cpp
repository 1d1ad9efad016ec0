#include "bench/llm/decoding.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/wait.h"
#include "bench/llm/decoder.h"
#include "bench/llm/decoder_reference.h"
#include "bench/llm/normal_value.h"
#include "bench/llm/stream.h"

namespace gvb {

namespace {

struct KeptDecoder {
  explicit KeptDecoder(const DeviceSession&) {}
  std::unique_ptr<Decoder> decoder;
  DecoderTask task;
};

// fp16 activations of two layers differ from double precision by some thousandths, for logits with a standard deviation
// of 1.
constexpr double kLogitTolerance = 0.05;

// Uses the same kernels as the large one: its head dimension, rows that no tile divides, several pages.
DecoderShape small_decoder(const DecoderShape& large) {
  return {2, 256, 256 / large.dimension(), 128 / large.dimension(), 256, 256};
}
constexpr DecoderTask kSmallTask{1, 66, 6, 1};

// The error of a step's logits. Also checks that its token has the largest logit; among those closer than the tolerance
// any will do.
double error_of(const std::vector<float>& logits, const std::vector<double>& expected, unsigned token) {
  double error = 0;
  for (size_t i = 0; i < expected.size(); ++i) error = std::max(error, std::abs(logits[i] - expected[i]));
  const double short_of = *std::max_element(expected.begin(), expected.end()) - expected.at(token);
  return std::max(error, short_of / 2);
}

// Feeds the device's own tokens, so that each step is judged separately from earlier choices.
double compare_with_reference(DeviceSession& session, const DecoderShape& shape, const DecoderTask& task) {
  Decoder decoder(session, shape, task);
  DecoderReference reference(shape, task.seed);
  decoder.begin(0);
  std::vector<double> expected;
  for (const unsigned token : decoder.prompts()) expected = reference.next(token);
  double worst = 0;
  for (unsigned step = 0; step < task.output; ++step) {
    if (step == 0)
      decoder.prefill();
    else
      decoder.step();
    decoder.await(step);
    const unsigned token = decoder.shown(step).tokens.front();
    worst = std::max(worst, error_of(decoder.logits(), expected, token));
    expected = reference.next(token);
  }
  if (!(worst <= kLogitTolerance))
    throw Failure(FailureKind::kInvalidResult,
                  "a decoder's logits differ from double precision by " + std::to_string(worst) +
                      "; a call reported success without doing its work, or kernels are wrong.");
  return worst;
}

DecoderShape shape_of(const DeviceSession& session, const DecoderRequest& request) {
  const DecoderShape& wanted = request;
  const unsigned sizes[] = {wanted.layers, wanted.hidden, wanted.heads, wanted.kv_heads, wanted.mlp, wanted.vocabulary};
  if (std::all_of(std::begin(sizes), std::end(sizes), [](unsigned size) { return size == 0; }))
    return default_decoder(session, request.limit_bytes);
  const std::string reason = unfit(wanted);
  if (!reason.empty()) throw Failure(FailureKind::kInvalidResult, "this decoder cannot be measured: " + reason + ".");
  return wanted;
}

KeptDecoder& kept_decoder(DeviceSession& session) {
  auto& kept = session.kept<KeptDecoder>();
  if (!kept.decoder) throw Failure(FailureKind::kInvalidResult, "tokens were asked for before a decoder was prepared.");
  return kept;
}

// Untimed: the first launches of a context are slow, and so is capturing the graph.
void warm_up(Decoder& decoder, const DecoderTask& task) {
  decoder.begin(0);
  decoder.prefill();
  decoder.await(0);
  for (unsigned step = 1; step <= 2 && step < task.output; ++step) {
    if (step == 1)
      decoder.step_by_graph();
    else
      decoder.step();
    decoder.await(step);
  }
}

class Generation {
 public:
  Generation(DeviceSession& session, const DecodeRequest& request)
      : session_(session),
        request_(request),
        kept_(kept_decoder(session)),
        decoder_(*kept_.decoder),
        until_(request.start_at_ns + static_cast<int64_t>(request.window_ns)) {}

  Decoding run() {
    counted_before_ = decoder_.blocks_counted();
    const uint64_t submitted_before = decoder_.blocks_submitted();
    wait_for_release(request_.start_at_ns, [&] { session_.token.check(); });
    out_.started_ns = since_start(now_ns());
    let_others_begin();
    for (uint64_t number = 0; wants_more(number); ++number) serve(number);
    out_.ended_ns = since_start(now_ns());
    out_.blocks = decoder_.blocks_counted() - counted_before_;
    const uint64_t submitted = decoder_.blocks_submitted() - submitted_before;
    if (out_.blocks != submitted)
      throw Failure(FailureKind::kInvalidResult,
                    "a call reported success without doing its work: of " + std::to_string(submitted) +
                        " blocks of matrix products and attention the device ran " + std::to_string(out_.blocks) + ".");
    if (kept_.task.output > 1) decoder_.check_products();
    return std::move(out_);
  }

 private:
  double since_start(int64_t at) const { return static_cast<double>(at - request_.start_at_ns); }
  bool wants_more(uint64_t number) const {
    return number == 0 || (now_ns() < until_ && (request_.requests == 0 || number < request_.requests));
  }

  void submit() {
    if (request_.graph)
      decoder_.step_by_graph();
    else
      decoder_.step();
  }

  // Finishes the first request even after the window's end, so that there is a digest to compare.
  void serve(uint64_t number) {
    decoder_.begin(number);
    digest_ = mixed(number);
    int64_t submitted = now_ns();
    out_.first_at_ns.push_back(since_start(submitted));
    decoder_.prefill();
    out_.first_token_ns.push_back(static_cast<double>(decoder_.await(0) - submitted));
    add_digest(0);
    bool whole = true;
    for (unsigned step = 1; step < kept_.task.output; ++step) {
      session_.token.check();
      submitted = now_ns();
      whole = number == 0 || submitted < until_;
      if (!whole) break;
      submit();
      const int64_t visible = decoder_.await(step);
      out_.at_ns.push_back(since_start(submitted));
      out_.token_ns.push_back(static_cast<double>(visible - submitted));
      add_digest(step);
    }
    constexpr unsigned kExactBits = 53;  // mantissa of a double
    out_.digests.push_back(whole ? static_cast<double>(digest_ >> (64 - kExactBits)) : 0);
  }

  void add_digest(unsigned step) {
    const Decoder::Shown shown = decoder_.shown(step);
    digest_ = mixed(digest_ ^ shown.checksum);
    for (const unsigned token : shown.tokens) digest_ = mixed(digest_ ^ token);
  }

  DeviceSession& session_;
  const DecodeRequest& request_;
  KeptDecoder& kept_;
  Decoder& decoder_;
  const int64_t until_;
  uint64_t counted_before_ = 0;
  uint64_t digest_ = 0;
  Decoding out_;
};

}  // namespace

PreparedDecoder prepare_decoder(DeviceSession& session, const DecoderRequest& request) {
  auto& kept = session.kept<KeptDecoder>();
  kept.decoder.reset();
  const DecoderShape shape = shape_of(session, request);
  PreparedDecoder out;
  static_cast<DecoderShape&>(out) = shape;
  out.reference_error = compare_with_reference(session, small_decoder(shape), kSmallTask);
  kept.task = {request.batch, request.prompt, request.output, request.seed};
  kept.decoder = std::make_unique<Decoder>(session, shape, kept.task);
  warm_up(*kept.decoder, kept.task);
  out.weight_bytes = shape.streamed_bytes();
  out.cache_bytes = kept.decoder->cache_bytes();
  out.l2_bytes = card_l2_bytes(session);
  out.dram_ceiling_gbs = dram_ceiling_gbs(session);
  out.launches = kept.decoder->launches_of_step();
  out.variant = kept.decoder->variant();
  out.prompt_variant = kept.decoder->prompt_variant();
  out.overlaps = kept.decoder->overlaps();
  return out;
}

Decoding decode_tokens(DeviceSession& session, const DecodeRequest& request) {
  return Generation(session, request).run();
}

void drop_decoder(DeviceSession& session) { session.kept<KeptDecoder>().decoder.reset(); }

}  // namespace gvb
