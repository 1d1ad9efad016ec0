#pragma once

#include "sim/recorded_call.h"
#include "sim/work/context.h"
#include "sim/work/kernels.h"
#include "sim/work/module.h"

namespace gvb::sim {

// One kernel of a launch, checked and with its arguments read.
struct Prepared {
  abi::CUresult code = abi::CUDA_SUCCESS;
  Plan plan;
};

// Whether the card can have such blocks: not more threads, shared memory or registers than a multiprocessor has.
abi::CUresult check_geometry(const Geometry& geometry, const CardSettings& card);
Prepared prepare(Context* context, const FunctionInfo& function, const Geometry& geometry, void* const* arguments);

// Puts a kernel on the stream's lane, not before `earliest`. `times` (may be null) learns the kernel's start and end
// once they are known. The caller holds the context's mutex.
void submit(Stream* stream, Plan plan, int64_t earliest, std::shared_ptr<LateTimes> times);

// The same as a Submission, to submit several at one moment; not for kernels that answer the host.
Submission submission_of(const Context& context, Plan* plan, int64_t earliest, std::shared_ptr<LateTimes> times);

abi::CUgraph make_graph();
// Adds a kernel to the graph that the stream captures.
abi::CUresult capture_kernel(const Stream& stream, abi::CUfunction function, const Geometry& geometry,
                             void** arguments);

}  // namespace gvb::sim
