// What the kernels of native/kernels/decoder.cu do and how long they take.
#pragma once

#include "sim/work/kernels.h"

namespace gvb::sim {

Plan plan_decoder_embed(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_decoder_norm(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_decoder_rope(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_decoder_attention_64(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_decoder_attention_128(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_decoder_swiglu(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_decoder_pick(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);
Plan plan_decoder_publish(const Arguments& arguments, const Geometry& geometry, const CardSettings& card);

}  // namespace gvb::sim
