#include "bench/green_context.h"

#include <atomic>
#include <string>

namespace gvb {

namespace {

std::atomic<unsigned> confined_to{0};

SmResource all_multiprocessors(const Cuda& cuda, abi::CUdevice device) {
  SmResource all;
  GVB_CALL(cuda, "asking for the device's multiprocessors", cuDeviceGetDevResource, device, &all.value,
           abi::CU_DEV_RESOURCE_TYPE_SM);
  return all;
}

[[noreturn]] void fail_no_part(unsigned wanted, const SmResource& all) {
  throw Failure(FailureKind::kFunctionMissing, "A partition of " + std::to_string(wanted) + " of " +
                                                   std::to_string(all.value.sm.smCount) +
                                                   " multiprocessors cannot be made.");
}

abi::CUgreenCtx make_green_context(const Cuda& cuda, abi::CUdevice device, SmResource* part) {
  abi::CUdevResourceDesc description = nullptr;
  GVB_CALL(cuda, "describing a partition", cuDevResourceGenerateDesc, &description, &part->value, 1);
  abi::CUgreenCtx context = nullptr;
  GVB_CALL(cuda, "creating a green context", cuGreenCtxCreate, &context, description, device,
           abi::CU_GREEN_CTX_DEFAULT_STREAM);
  return context;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a device, and a number of multiprocessors.
SmResource part_from(const Cuda& cuda, abi::CUdevice device, unsigned wanted) {
  const SmResource all = all_multiprocessors(cuda, device);
  SmResource part, rest;
  unsigned groups = 1;
  GVB_CALL(cuda, "splitting the multiprocessors", cuDevSmResourceSplitByCount, &part.value, &groups, &all.value,
           &rest.value, 0, wanted);
  if (groups != 1) fail_no_part(wanted, all);
  return part;
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a device, and a number of multiprocessors.
SmResource part_within(const Cuda& cuda, abi::CUdevice device, unsigned most) {
  const SmResource all = all_multiprocessors(cuda, device);
  const auto split = cuda.require(cuda.api.cuDevSmResourceSplitByCount, "cuDevSmResourceSplitByCount");
  std::optional<SmResource> least;
  // What a count is rounded up to depends on the device, so smaller ones are tried.
  for (unsigned wanted = most; wanted > 0; --wanted) {
    SmResource part, rest;
    unsigned groups = 1;
    if (split(&part.value, &groups, &all.value, &rest.value, 0, wanted) != abi::CUDA_SUCCESS || groups != 1) continue;
    least = part;
    if (part.value.sm.smCount <= most) break;
  }
  if (!least) fail_no_part(most, all);
  return *least;
}

GreenContext::GreenContext(const Cuda& cuda, abi::CUdevice device, SmResource part)
    : cuda_(cuda), context_(cuda, make_green_context(cuda, device, &part)) {}

unsigned GreenContext::multiprocessors() const {
  SmResource own;
  GVB_CALL(cuda_, "asking for a partition's multiprocessors", cuGreenCtxGetDevResource, context_.get(), &own.value,
           abi::CU_DEV_RESOURCE_TYPE_SM);
  return own.value.sm.smCount;
}

abi::CUcontext GreenContext::as_context() const {
  abi::CUcontext context = nullptr;
  GVB_CALL(cuda_, "converting a green context", cuCtxFromGreenCtx, &context, context_.get());
  return context;
}

void confine_sessions(unsigned multiprocessors) { confined_to = multiprocessors; }

bool sessions_are_confined() { return confined_to > 0; }

void require_unconfined(const char* what) {
  if (sessions_are_confined())
    throw Failure(FailureKind::kFunctionMissing, std::string("In a green context this is not possible: ") + what + ".");
}

Confinement::Confinement(const Cuda& cuda, abi::CUdevice device, abi::CUcontext primary)
    : cuda_(cuda), primary_(primary), current_(primary) {
  if (!sessions_are_confined()) return;
  green_.emplace(cuda, device, part_within(cuda, device, confined_to));
  multiprocessors_ = green_->multiprocessors();
  current_ = green_->as_context();
  GVB_CALL(cuda, "entering a green context", cuCtxSetCurrent, current_);
}

Confinement::~Confinement() {
  if (green_) cuda_.try_call(cuda_.api.cuCtxSetCurrent, primary_);
}

}  // namespace gvb
