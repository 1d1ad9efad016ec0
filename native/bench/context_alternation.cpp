#include "bench/context_alternation.h"

#include "base/clock.h"
#include "bench/block_counter.h"
#include "bench/green_context.h"
#include "kernels/ptx.h"

namespace gvb {

namespace {

constexpr unsigned kSyncEvery = 64;  // launches between two waits; with a full queue a launch call would wait

class SecondContext {
 public:
  explicit SecondContext(const DeviceSession& session) : cuda_(session.cuda), first_(session.context.get()) {
    require_unconfined("cuCtxCreate makes a context on the whole device");
    GVB_CALL(cuda_, "creating a second context", cuCtxCreate_v2, &context_, abi::CU_CTX_SCHED_SPIN, session.device);
  }
  ~SecondContext() {
    cuda_.try_call(cuda_.api.cuCtxDestroy_v2, context_);
    cuda_.try_call(cuda_.api.cuCtxSetCurrent, first_);
  }
  SecondContext(const SecondContext&) = delete;
  SecondContext& operator=(const SecondContext&) = delete;
  abi::CUcontext get() const { return context_; }

 private:
  const Cuda& cuda_;
  const abi::CUcontext first_;
  abi::CUcontext context_ = nullptr;
};

// A counting kernel in one context, which must be current at construction.
struct Counting {
  Counting(const Cuda& cuda, abi::CUcontext of)
      : context(of), module(cuda, gvb_ptx_base), kernel(module.function("gvb_count")), counter(cuda) {}

  const abi::CUcontext context;
  const Module module;
  const abi::CUfunction kernel;
  const BlockCounter counter;
  abi::CUdeviceptr count = counter.device();
  void* parameters[1] = {&count};
  uint64_t launched = 0;
};

class Alternation {
 public:
  explicit Alternation(const Cuda& cuda)
      : cuda_(cuda),
        set_current_(cuda.require(cuda.api.cuCtxSetCurrent, "cuCtxSetCurrent")),
        launch_(cuda.require(cuda.api.cuLaunchKernel, "cuLaunchKernel")) {}

  double timed(Counting* in) const {
    const int64_t before = now_ns();
    const abi::CUresult set = set_current_(in->context);
    const abi::CUresult launched = launch_(in->kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, in->parameters, nullptr);
    const int64_t after = now_ns();
    cuda_.check(set, "cuCtxSetCurrent", "changing the context");
    cuda_.check(launched, "cuLaunchKernel", "launching in another context");
    if (++in->launched % kSyncEvery == 0) GVB_CALL(cuda_, "waiting for launches in two contexts", cuCtxSynchronize);
    return static_cast<double>(after - before);
  }

 private:
  const Cuda& cuda_;
  const decltype(CudaApi::cuCtxSetCurrent) set_current_;
  const decltype(CudaApi::cuLaunchKernel) launch_;
};

void count(const Cuda& cuda, const Counting& in) {
  GVB_CALL(cuda, "changing the context", cuCtxSetCurrent, in.context);
  in.counter.check(in.launched, "cuLaunchKernel");
}

}  // namespace

ContextAlternation measure_alternation(DeviceSession& session, const AlternationRequest& request) {
  const Cuda& cuda = session.cuda;
  Counting first(cuda, session.context.get());
  const SecondContext context(session);
  // Destroyed before its context, which stays current until then.
  Counting second(cuda, context.get());
  const Alternation alternation(cuda);
  ContextAlternation times;
  for (unsigned i = 0; i < request.count; ++i) {
    session.token.check();
    // The two kinds alternate, so that a disturbance of the host affects both.
    Counting& in = i % 2 == 0 ? first : second;
    times.alternating_ns.push_back(alternation.timed(&in));
    times.staying_ns.push_back(alternation.timed(&in));
  }
  count(cuda, first);
  count(cuda, second);
  return times;
}

}  // namespace gvb
