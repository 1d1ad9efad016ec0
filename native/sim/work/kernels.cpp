#include "sim/work/kernels.h"

#include <sched.h>

#include <algorithm>
#include <cmath>

#include "sim/clock.h"
#include "sim/kernels/attention.h"
#include "sim/kernels/bandwidth.h"
#include "sim/kernels/chase.h"
#include "sim/kernels/copy.h"
#include "sim/kernels/decode_product.h"
#include "sim/kernels/decoder.h"
#include "sim/kernels/gemm.h"
#include "sim/kernels/load.h"
#include "sim/kernels/neighbour.h"
#include "sim/kernels/normal.h"
#include "sim/kernels/page.h"
#include "sim/kernels/residue.h"
#include "sim/kernels/skinny.h"
#include "sim/kernels/stream.h"
#include "sim/kernels/sum.h"
#include "sim/kernels/work.h"
#include "sim/memory/address_space.h"
#include "sim/work/module.h"

namespace gvb::sim {
namespace {

Plan plan_empty(const Arguments&, const Geometry&, const CardSettings&) { return {}; }

Plan plan_stamp(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto slot = arguments.get<uint64_t>(0);
  Plan plan;
  plan.nanoseconds = card.stamp_ns;
  plan.seen = Seen::kFromStart;
  plan.touches = {{slot, 8, 8, Access::kWrite}};
  plan.run = [slot](const Placement& placement) { publish_stamp(slot, device_clock(placement.start)); };
  return plan;
}

// Serves the host in real time, so the stamps are clock readings at the moment each request was seen.
void echo(uint64_t request, uint64_t replies, unsigned exchanges, uint64_t patience) {
  constexpr int kSpinsBeforeYield = 2000;
  uint64_t last = device_clock(raw_now());
  for (unsigned i = 1; i <= exchanges; ++i) {
    for (int spins = 0; __atomic_load_n(reinterpret_cast<unsigned*>(request), __ATOMIC_ACQUIRE) < i; ++spins) {
      if (device_clock(raw_now()) - last > patience) return;
      if (spins > kSpinsBeforeYield) sched_yield();
    }
    last = device_clock(raw_now());
    publish_stamp(replies + (i - 1) * 8ULL, last);
  }
}

Plan plan_clock_echo(const Arguments& arguments, const Geometry&, const CardSettings&) {
  const auto request = arguments.get<uint64_t>(0);
  const auto replies = arguments.get<uint64_t>(1);
  const auto exchanges = arguments.get<unsigned>(2);
  const auto patience = arguments.get<uint64_t>(3);
  Plan plan;
  plan.ending = Ending::kAnswering;
  plan.touches = {{request, 4, 4, Access::kRead}, {replies, exchanges * size_t{8}, 8, Access::kWrite}};
  plan.run = [=](const Placement&) { echo(request, replies, exchanges, patience); };
  return plan;
}

Plan plan_timer_steps(const Arguments& arguments, const Geometry&, const CardSettings&) {
  const auto out = arguments.get<uint64_t>(0);
  const auto count = arguments.get<unsigned>(1);
  const auto step = static_cast<uint64_t>(settings().timer_step_ns);
  Plan plan;
  plan.nanoseconds = static_cast<double>(count) * static_cast<double>(step) / device_clock_rate();
  plan.seen = Seen::kFromStart;
  plan.touches = {{out, count * size_t{8}, 8, Access::kWrite}};
  plan.run = [=](const Placement& placement) {
    const uint64_t first = device_clock(placement.start);
    for (uint64_t i = 0; i < count; ++i) reinterpret_cast<uint64_t*>(out)[i] = first + (i + 1) * step;
  };
  return plan;
}

Plan plan_mix(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto words = arguments.get<uint64_t>(0);
  const auto count = arguments.get<unsigned>(1);
  const auto seed = arguments.get<unsigned>(2);
  const auto block = find_block(words);
  const bool to_host = block && is_of_host(block->kind);
  Plan plan;
  plan.nanoseconds = count * 4.0 / (to_host ? gbs_from_card(card) : card.dram_gbs);
  plan.demand = demand_of(to_host ? kCopyOut : kDram);
  plan.touches = {{words, count * size_t{4}, 4, Access::kWrite}};
  plan.run = [=](const Placement&) {
    for (unsigned i = 0; i < count; ++i) reinterpret_cast<uint32_t*>(words)[i] = (i + seed) * 2654435761u;
  };
  return plan;
}

Plan plan_count(const Arguments& arguments, const Geometry& geometry, const CardSettings&) {
  const auto blocks = arguments.get<uint64_t>(0);
  Plan plan;
  plan.touches = {{blocks, 8, 8, Access::kBoth}};
  plan.run = [blocks, count = static_cast<uint64_t>(blocks_of(geometry))](const Placement&) { add(blocks, count); };
  return plan;
}

Plan plan_occupy(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto stamps = arguments.get<uint64_t>(0);
  const auto spin = arguments.get<uint64_t>(1);
  const auto blocks = arguments.get<uint64_t>(2);
  Plan plan;
  plan.nanoseconds = waves(geometry, card) * static_cast<double>(spin) / device_clock_rate();
  plan.seen = Seen::kFromEnd;
  plan.touches = {{stamps, 16, 8, Access::kBoth}};
  if (blocks != 0) plan.touches.push_back({blocks, 8, 8, Access::kBoth});
  plan.run = [stamps, blocks, count = static_cast<uint64_t>(blocks_of(geometry))](const Placement& placement) {
    if (blocks != 0) add(blocks, count);
    publish_stamp(stamps, device_clock(placement.start));
    publish_stamp(stamps + 8, std::max(*reinterpret_cast<uint64_t*>(stamps + 8), device_clock(placement.end)));
  };
  return plan;
}

Plan plan_gemm(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto a = arguments.get<uint64_t>(0), b = arguments.get<uint64_t>(1), c = arguments.get<uint64_t>(2);
  const auto n = arguments.get<unsigned>(3);
  const size_t count = size_t{n} * n;
  Plan plan;
  plan.nanoseconds = 2.0 * n * n * n / (card.tensor_tflops * 1e3);
  plan.touches = {
      {a, count * 2, 2, Access::kRead}, {b, count * 2, 2, Access::kRead}, {c, count * 4, 4, Access::kWrite}};
  plan.run = [=](const Placement&) {
    multiply_half(reinterpret_cast<const uint16_t*>(a), reinterpret_cast<const uint16_t*>(b),
                  reinterpret_cast<float*>(c), n);
  };
  return plan;
}

Plan plan_attention(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  const auto q = arguments.get<uint64_t>(0), k = arguments.get<uint64_t>(1), v = arguments.get<uint64_t>(2),
             out = arguments.get<uint64_t>(3);
  const auto length = arguments.get<unsigned>(4);
  const unsigned heads = geometry.grid[0];
  const size_t bytes = size_t{heads} * length * 64 * sizeof(float);
  Plan plan;
  plan.nanoseconds = 4.0 * heads * length * length * 64 / (card.fp32_tflops * 1e3);
  for (const uint64_t input : {q, k, v}) plan.touches.push_back({input, bytes, 4, Access::kRead});
  plan.touches.push_back({out, bytes, 4, Access::kWrite});
  plan.run = [=](const Placement&) {
    attend(reinterpret_cast<const float*>(q), reinterpret_cast<const float*>(k), reinterpret_cast<const float*>(v),
           reinterpret_cast<float*>(out), heads, length);
  };
  return plan;
}

// It notes the time and fails at once.
template <const Fault& Kind>
Plan plan_fault(const Arguments& arguments, const Geometry&, const CardSettings&) {
  const auto stamp = arguments.get<uint64_t>(0);
  Plan plan;
  plan.fault = Kind;
  if (stamp == 0) return plan;
  plan.seen = Seen::kFromStart;
  plan.touches = {{stamp, 8, 8, Access::kWrite}};
  plan.run = [stamp](const Placement& placement) { publish_stamp(stamp, device_clock(placement.start)); };
  return plan;
}

Plan plan_endless(const Arguments&, const Geometry&, const CardSettings&) {
  Plan plan;
  plan.ending = Ending::kNever;
  return plan;
}

const Kernel kKernels[] = {
    {"gvb_empty", {}, plan_empty},
    {"gvb_stamp", {8}, plan_stamp},
    {"gvb_clock_echo", {8, 8, 4, 8}, plan_clock_echo},
    {"gvb_timer_steps", {8, 4}, plan_timer_steps},
    {"gvb_mix", {8, 4, 4}, plan_mix},
    {"gvb_count", {8}, plan_count},
    {"gvb_occupy", {8, 8, 8}, plan_occupy},
    {"gvb_load", {8, 8, 8, 8, 4, 4, 4, 4}, plan_load},
    {"gvb_pause", {8}, plan_pause},
    {"gvb_gemm", {8, 8, 8, 4}, plan_gemm},
    {"gvb_attention", {8, 8, 8, 8, 4}, plan_attention},
    {"gvb_out_of_bounds", {8}, plan_fault<kOutOfBounds>},
    {"gvb_misaligned", {8}, plan_fault<kMisaligned>},
    {"gvb_trap", {8}, plan_fault<kTrap>},
    {"gvb_assert", {8}, plan_fault<kAssert>},
    {"gvb_endless", {}, plan_endless},
    {"gvb_tag_fill", {8, 8, 8, 8}, plan_tag_fill},
    {"gvb_tag_scan", {8, 8, 8, 8, 8}, plan_tag_scan},
    {"gvb_shared_fill", {8, 8, 8, 8, 8}, plan_shared_fill},
    {"gvb_shared_scan", {8, 8, 8}, plan_shared_scan},
    {"gvb_local_fill", {8, 8, 8, 8, 8}, plan_local_fill},
    {"gvb_local_scan", {8, 8, 8}, plan_local_scan},
    {"gvb_registers", {8, 4, 8, 8, 8}, plan_registers},
    {"gvb_tiny_blocks", {8}, plan_tiny_blocks},
    {"gvb_sweep", {8, 8, 4, 8}, plan_sweep},
    {"gvb_touch_pages", {8, 8, 8, 4, 8}, plan_touch_pages},
    {"gvb_issue", {4, 4, 8}, plan_issue},
    {"gvb_arrived", {8, 8, 4, 8}, plan_arrived},
    {"gvb_mark_ends", {8, 8, 4, 8}, plan_mark_ends},
    {"gvb_request_step", {8, 8, 4, 8, 4, 4, 4, 8}, plan_request_step},
    {"gvb_trace_blocks", {8, 8, 8, 8, 8}, plan_trace_blocks},
    {"gvb_write_ends", {8, 8, 4, 4}, plan_write_ends},
    {"gvb_read_ends", {8, 8, 4, 8}, plan_read_ends},
    {"gvb_mix_check", {8, 8, 4, 8}, plan_mix_check},
    {"gvb_parts", {8, 8, 4, 4}, plan_parts},
    {"gvb_ordered_sum", {8, 4, 8, 4}, plan_ordered_sum},
    {"gvb_strong_loads", {8, 8}, plan_strong_loads},
    {"gvb_sums_check", {8, 8, 8, 8, 4, 4, 8}, plan_sums_check},
    {"gvb_stage", {8, 8, 8, 8, 4, 4}, plan_stage},
    {"gvb_normal", {8, 8, 8, 4}, plan_normal},
    {"gvb_normal_part", {8, 8, 8, 8, 8, 8, 4}, plan_normal_part},
    {"gvb_gemm_sm90_bf16", {128, 128, 128, 4, 4, 4, 8}, plan_gemm_maps<Number::kBf16>},
    {"gvb_gemm_sm90_f16", {128, 128, 128, 4, 4, 4, 8}, plan_gemm_maps<Number::kF16>},
    {"gvb_gemm_sm90_e4m3", {128, 128, 128, 4, 4, 4, 8}, plan_gemm_maps<Number::kE4m3>},
    {"gvb_gemm_sm80_bf16", {8, 8, 8, 4, 4, 4, 8}, plan_gemm_addresses<Number::kBf16>},
    {"gvb_gemm_sm80_f16", {8, 8, 8, 4, 4, 4, 8}, plan_gemm_addresses<Number::kF16>},
    {"gvb_gemm_sm89_e4m3", {8, 8, 8, 4, 4, 4, 8}, plan_gemm_addresses<Number::kE4m3>},
    {"gvb_gemm_f32", {8, 8, 8, 4, 4, 4, 8}, plan_gemm_addresses<Number::kF32>},
    {"gvb_stream_read", {8, 8}, plan_stream_read},
    {"gvb_stream_write", {8, 4, 8}, plan_stream_write},
    {"gvb_stream_copy", {8, 8, 8}, plan_stream_copy},
    {"gvb_bandwidth_read", {8, 8, 4, 8, 8}, plan_bandwidth_read},
    {"gvb_bandwidth_write", {8, 8, 4, 4, 8, 8}, plan_bandwidth_write},
    {"gvb_bandwidth_copy", {8, 8, 8, 4, 8, 8}, plan_bandwidth_copy},
    {"gvb_chase_link", {8, 8, 4, 8}, plan_chase_link},
    {"gvb_chase", {8, 4, 8, 4, 8, 8}, plan_chase},
    {"gvb_attention_sm80_f16_d64",
     {8, 8, 8, 8, 8, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm80, Number::kF16, 64>},
    {"gvb_attention_sm80_f16_d128",
     {8, 8, 8, 8, 8, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm80, Number::kF16, 128>},
    {"gvb_attention_sm80_f16_d128_48k",
     {8, 8, 8, 8, 8, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm80, Number::kF16, 128>},
    {"gvb_attention_sm80_bf16_d64",
     {8, 8, 8, 8, 8, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm80, Number::kBf16, 64>},
    {"gvb_attention_sm80_bf16_d128",
     {8, 8, 8, 8, 8, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm80, Number::kBf16, 128>},
    {"gvb_attention_sm80_bf16_d128_48k",
     {8, 8, 8, 8, 8, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm80, Number::kBf16, 128>},
    {"gvb_attention_sm90_f16_d64",
     {128, 128, 128, 128, 8, 8, 4, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm90, Number::kF16, 64>},
    {"gvb_attention_sm90_f16_d128",
     {128, 128, 128, 128, 8, 8, 4, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm90, Number::kF16, 128>},
    {"gvb_attention_sm90_bf16_d64",
     {128, 128, 128, 128, 8, 8, 4, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm90, Number::kBf16, 64>},
    {"gvb_attention_sm90_bf16_d128",
     {128, 128, 128, 128, 8, 8, 4, 4, 4, 4, 4, 4},
     plan_attention_forward<AttentionVariant::kSm90, Number::kBf16, 128>},
    {"gvb_checksum", {8, 8, 8}, plan_checksum},
    {"gvb_skinny_fma_f16", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kF16, Cores::kCuda>},
    {"gvb_skinny_fma_bf16", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kBf16, Cores::kCuda>},
    {"gvb_skinny_f16_8", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kF16, Cores::kTensor>},
    {"gvb_skinny_f16_16", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kF16, Cores::kTensor>},
    {"gvb_skinny_f16_32", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kF16, Cores::kTensor>},
    {"gvb_skinny_f16_64", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kF16, Cores::kTensor>},
    {"gvb_skinny_bf16_8", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kBf16, Cores::kTensor>},
    {"gvb_skinny_bf16_16", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kBf16, Cores::kTensor>},
    {"gvb_skinny_bf16_32", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kBf16, Cores::kTensor>},
    {"gvb_skinny_bf16_64", {8, 8, 8, 8, 8, 8, 4, 4, 4}, plan_skinny<Number::kBf16, Cores::kTensor>},
    {"gvb_decoder_embed", {8, 8, 8, 4, 4}, plan_decoder_embed},
    {"gvb_decoder_norm", {8, 8, 4, 8, 4, 8, 4}, plan_decoder_norm},
    {"gvb_decoder_rope", {8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4}, plan_decoder_rope},
    {"gvb_decoder_attention_64", {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4}, plan_decoder_attention_64},
    {"gvb_decoder_attention_128", {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4}, plan_decoder_attention_128},
    {"gvb_decode_product", {8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 4}, plan_decode_product},
    {"gvb_decoder_swiglu", {8, 8, 4}, plan_decoder_swiglu},
    {"gvb_decoder_pick", {8, 4, 8}, plan_decoder_pick},
    {"gvb_decoder_publish", {8, 4, 4, 4, 8, 8, 8, 4}, plan_decoder_publish},
};

}  // namespace

double blocks_of(const Geometry& geometry) {
  return double{1} * geometry.grid[0] * geometry.grid[1] * geometry.grid[2];
}

double resident_blocks(const Geometry& geometry, const CardSettings& card) {
  const unsigned* block = geometry.block;
  const int each = max_active_blocks(card, static_cast<int>(block[0] * block[1] * block[2]), geometry.shared_bytes);
  return static_cast<double>(each) * static_cast<double>(card.sms);
}

Blocks block_slots_of(const Geometry& geometry, const CardSettings& card) {
  const unsigned* block = geometry.block;
  const int threads = static_cast<int>(block[0] * block[1] * block[2]);
  const auto sms = static_cast<double>(card.sms);
  return {blocks_of(geometry), resident_blocks(geometry, card) / sms, sms,
          taken_by_block(card, threads, geometry.shared_bytes)};
}

double waves(const Geometry& geometry, const CardSettings& card) {
  return std::ceil(blocks_of(geometry) / resident_blocks(geometry, card));
}

void add(uint64_t counter, uint64_t count) { *reinterpret_cast<uint64_t*>(counter) += count; }

void count(Plan* plan, uint64_t counter, uint64_t by) {
  // Listed as read, not written: otherwise unread results could be dropped only if the counter were overwritten too.
  plan->touches.push_back({counter, 8, 8, Access::kRead});
  plan->counts.push_back({counter, by});
}

void count_blocks(Plan* plan, uint64_t counter, const Geometry& geometry) {
  count(plan, counter, static_cast<uint64_t>(blocks_of(geometry)));
}

void publish_stamp(uint64_t slot, uint64_t value) {
  __atomic_store_n(reinterpret_cast<uint64_t*>(slot), value, __ATOMIC_RELEASE);
}

const Kernel* find_kernel(const std::string& name) {
  for (const Kernel& kernel : kKernels)
    if (name == kernel.name) return &kernel;
  return nullptr;
}

}  // namespace gvb::sim
