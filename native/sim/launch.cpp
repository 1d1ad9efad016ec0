#include "sim/launch.h"

#include <sched.h>

#include <algorithm>
#include <climits>

#include "sim/address_space.h"
#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/thread.h"

namespace gvb::sim {
namespace {

constexpr abi::CUresult kCooperativeLaunchTooLarge = 720;
constexpr size_t kMaxPending = 1024;

struct AnsweringRun {
  std::function<void(const Placement&)> run;
  std::shared_ptr<Answer> answer;
  Marker after;
  Placement placement;
  int submitter;  // the processor it was launched from, or -1
};

void* answerOnThread(void* argument) {
  const std::unique_ptr<AnsweringRun> work(static_cast<AnsweringRun*>(argument));
  leaveProcessor(work->submitter);
  work->after.waitForAnswers();
  waitUntil(work->placement.start);
  work->run(work->placement);
  work->answer->end.store(rawNow(), std::memory_order_release);
  return nullptr;
}

void startAnswering(Stream* stream, Plan* plan, const Placement& placement) {
  auto answer = std::make_shared<Answer>();
  auto work = std::make_unique<AnsweringRun>();
  *work = {std::move(plan->run), answer, stream->marker, placement, sched_getcpu()};
  stream->marker.answers.push_back(answer);
  if (startThread(answerOnThread, work.get()))
    work.release();
  else
    answer->end.store(placement.end);
}

abi::CUresult launch(abi::CUfunction handle, const Geometry& geometry, abi::CUstream streamHandle, void** arguments,
                     int64_t until) {
  Context* context = nullptr;
  if (const abi::CUresult bad = currentContext(&context)) return bad;
  Stream* stream = nullptr;
  if (const abi::CUresult wrong = streamOf(context, streamHandle, &stream)) return wrong;
  const FunctionInfo* function = findFunction(handle);
  if (function == nullptr || function->context != context->handle) return abi::CUDA_ERROR_INVALID_HANDLE;
  Prepared prepared = prepare(context, *function, geometry, arguments);
  if (prepared.code != abi::CUDA_SUCCESS) return prepared.code;
  {
    std::lock_guard<std::mutex> lock(context->mutex);
    joinDefaultStream(stream);
    const int64_t earliest = std::max(firstInstruction(until), stream->tail);
    const Placement placement = submit(stream, std::move(prepared.plan), earliest);
    RecordedCall::ofKernel(function->name.c_str(), placement.start, placement.end);
    stream->tail = placement.end;
  }
  boundQueue(context);
  return abi::CUDA_SUCCESS;
}

}  // namespace

abi::CUresult checkGeometry(const Geometry& geometry) {
  const unsigned* grid = geometry.grid;
  const unsigned* block = geometry.block;
  const bool gridFits =
      grid[0] > 0 && grid[0] <= INT_MAX && grid[1] > 0 && grid[1] <= 65535 && grid[2] > 0 && grid[2] <= 65535;
  const bool blockFits = block[0] > 0 && block[0] <= 1024 && block[1] > 0 && block[1] <= 1024 && block[2] > 0 &&
                         block[2] <= 64 && block[0] * block[1] * block[2] <= kMaxThreadsPerBlock;
  return gridFits && blockFits && geometry.sharedBytes <= kMaxSharedBytes ? abi::CUDA_SUCCESS
                                                                          : abi::CUDA_ERROR_INVALID_VALUE;
}

Prepared prepare(Context* context, const FunctionInfo& function, const Geometry& geometry, void* const* arguments) {
  Prepared prepared;
  prepared.code = checkGeometry(geometry);
  if (prepared.code != abi::CUDA_SUCCESS) return prepared;
  const Kernel* kernel = function.kernel;
  if (kernel == nullptr) {
    prepared.code = abi::CUDA_ERROR_NOT_SUPPORTED;
    return prepared;
  }
  for (size_t i = 0; i < kernel->parameterBytes.size(); ++i)
    if (arguments == nullptr || arguments[i] == nullptr) prepared.code = abi::CUDA_ERROR_INVALID_VALUE;
  if (prepared.code != abi::CUDA_SUCCESS) return prepared;
  prepared.plan = kernel->plan(Arguments(arguments), geometry);
  for (const Span& span : prepared.plan.touches) {
    if (span.address % span.alignment == 0 && isAccessible(span.address, span.bytes)) continue;
    // As on a GPU, the launch itself succeeds and what follows in the context fails.
    context->fault.store(abi::CUDA_ERROR_ILLEGAL_ADDRESS);
    prepared.plan = {};
    break;
  }
  return prepared;
}

int64_t firstInstruction(int64_t until) {
  return std::max(until, rawNow()) + static_cast<int64_t>(settings().start_ns);
}

Placement submit(Stream* stream, Plan plan, int64_t earliest) {
  Context* context = stream->context;
  const auto duration = static_cast<int64_t>(settings().kernel_ns + plan.nanoseconds);
  const Placement placement = region().place(context->device, context->lane, earliest, duration);
  if (plan.talk == Talk::kAnswering) {
    startAnswering(stream, &plan, placement);
  } else if (plan.run) {
    const bool timed = plan.talk == Talk::kTimed;
    context->queue->push(stream->marker, timed ? placement.start : 0,
                         [run = std::move(plan.run), placement] { run(placement); });
    if (timed) {
      stream->marker.until = std::max(stream->marker.until, placement.end);
      publish(context->queue);
    }
  }
  if (!stream->marker.empty()) stream->talking.store(true, std::memory_order_release);
  return placement;
}

void boundQueue(Context* context) {
  if (context->queue->pending() > kMaxPending) context->queue->drain(rawNow());
}

}  // namespace gvb::sim

namespace gvb::abi {

using sim::Geometry;
using sim::HostCost;

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void** arguments,
                        void** extra) {
  GVB_SIM_ENTER(cuLaunchKernel);
  const HostCost cost(sim::settings().launch_ns);
  if (extra != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const Geometry geometry = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
  return sim::launch(function, geometry, stream, arguments, cost.until());
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  GVB_SIM_ENTER(cuLaunchKernelEx);
  const HostCost cost(sim::settings().launch_ns);
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (extra != nullptr || config->numAttrs != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const Geometry geometry = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                             {config->blockDimX, config->blockDimY, config->blockDimZ},
                             config->sharedMemBytes};
  return sim::launch(function, geometry, config->hStream, arguments, cost.until());
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                                   void** arguments) {
  GVB_SIM_ENTER(cuLaunchCooperativeKernel);
  const HostCost cost(sim::settings().launch_ns);
  const Geometry geometry = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
  if (const CUresult bad = sim::checkGeometry(geometry)) return bad;
  const double blocks = static_cast<double>(gridX) * gridY * gridZ;
  const int perMultiprocessor = sim::maxActiveBlocks(static_cast<int>(blockX * blockY * blockZ), sharedBytes);
  if (blocks > static_cast<double>(perMultiprocessor) * static_cast<double>(sim::settings().sms))
    return sim::kCooperativeLaunchTooLarge;
  return sim::launch(function, geometry, stream, arguments, cost.until());
}

}  // namespace gvb::abi
