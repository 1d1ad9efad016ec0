#include "bench/llm/checksum.h"

#include <algorithm>

#include "bench/kept_modules.h"

namespace gvb {

namespace {

constexpr unsigned kChecksumThreads = 256;
constexpr uint64_t kMostChecksumBlocks = 4096;

}  // namespace

uint64_t checksum_of(DeviceSession& session, const DeviceRange& range) {
  const Cuda& cuda = session.cuda;
  const abi::CUfunction kernel = kept_module(session, "checksum").function("gvb_checksum");
  const DeviceMemory result = make_memory(cuda, sizeof(uint64_t));
  uint64_t sum = 0, count = range.bytes / sizeof(uint32_t);
  GVB_CALL(cuda, "clearing a checksum", cuMemcpyHtoD_v2, result.get(), &sum, sizeof sum);
  GVB_CALL(cuda, "waiting before a checksum", cuCtxSynchronize);
  abi::CUdeviceptr words = range.begin, target = result.get();
  void* parameters[] = {&words, &count, &target};
  const auto blocks = static_cast<unsigned>(
      std::clamp((count + kChecksumThreads - 1) / kChecksumThreads, uint64_t{1}, kMostChecksumBlocks));
  GVB_CALL(cuda, "computing a checksum", cuLaunchKernel, kernel, blocks, 1, 1, kChecksumThreads, 1, 1, 0, nullptr,
           parameters, nullptr);
  GVB_CALL(cuda, "reading a checksum", cuMemcpyDtoH_v2, &sum, result.get(), sizeof sum);
  return sum;
}

}  // namespace gvb
