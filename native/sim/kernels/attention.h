// The kernels of attention forward and of the checksum.
#pragma once

#include "bench/llm/number.h"
#include "sim/work/kernels.h"

namespace gvb::sim {

enum class AttentionVariant { kSm80, kSm90 };

Plan plan_attention_forward(Number number, unsigned width, AttentionVariant variant, const Arguments& arguments,
                            const Geometry& geometry, const CardSettings& card);

template <AttentionVariant Variant, Number Format, unsigned Width>
Plan plan_attention_forward(const Arguments& arguments, const Geometry& geometry, const CardSettings& card) {
  return plan_attention_forward(Format, Width, Variant, arguments, geometry, card);
}

Plan plan_checksum(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
