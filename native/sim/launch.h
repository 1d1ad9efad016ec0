#pragma once

#include "sim/context.h"
#include "sim/kernels.h"
#include "sim/module.h"

namespace gvb::sim {

// One kernel of a launch: checked, its arguments read.
struct Prepared {
  abi::CUresult code = abi::CUDA_SUCCESS;
  Plan plan;
};

abi::CUresult checkGeometry(const Geometry& geometry);
Prepared prepare(Context* context, const FunctionInfo& function, const Geometry& geometry, void* const* arguments);

// With the context's mutex held: puts a kernel on the device timeline, not before `earliest`, behind the stream's tail
// or, in a graph, where its dependencies end. The caller moves the tail.
Placement submit(Stream* stream, Plan plan, int64_t earliest);

// When a kernel whose launch returns at `until`, or later when that has passed, can have its first instruction.
int64_t firstInstruction(int64_t until);

// A real GPU's queue is finite as well; beyond this many the submitting thread does some of the work.
void boundQueue(Context* context);

}  // namespace gvb::sim
