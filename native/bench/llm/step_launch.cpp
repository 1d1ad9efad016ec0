#include "bench/llm/step_launch.h"

namespace gvb {

namespace {

// Since CUDA 12.3 such a launch can be captured as the first of a graph (release notes).
constexpr int kLeastDriver = 12030;

}  // namespace

StepLaunch::StepLaunch(const DeviceSession& session)
    : cuda_(session.cuda),
      hopper_(compute_capability(cuda_, session.device).major >= 9),
      overlaps_(hopper_ && cuda_.api.cuLaunchKernelEx != nullptr && driver_version(cuda_.api) >= kLeastDriver) {}

void StepLaunch::operator()(abi::CUstream stream, abi::CUfunction kernel, const Grid& grid, void** parameters) const {
  if (overlaps_) {
    abi::CUlaunchAttribute attribute{};
    attribute.id = abi::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    const abi::CUlaunchConfig config = {grid.x, grid.y,     grid.z, grid.threads, 1, 1, grid.shared_bytes,
                                        stream, &attribute, 1};
    const abi::CUresult code = cuda_.api.cuLaunchKernelEx(&config, kernel, parameters, nullptr);
    if (code != abi::CUDA_ERROR_NOT_SUPPORTED)
      return cuda_.check(code, "cuLaunchKernelEx", "launching a decoder's kernel");
    overlaps_ = false;
  }
  GVB_CALL(cuda_, "launching a decoder's kernel", cuLaunchKernel, kernel, grid.x, grid.y, grid.z, grid.threads, 1, 1,
           grid.shared_bytes, stream, parameters, nullptr);
}

}  // namespace gvb
