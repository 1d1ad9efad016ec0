#include "bench/full_check.h"

#include <algorithm>
#include <array>

#include "base/wait.h"

namespace gvb {

namespace {

constexpr uint64_t kTolerance = 10, kRunsOn = 20;  // parts of a block's time

}  // namespace

Fullness fullness_of(const Occupied& filling, uint64_t hold_ns, uint64_t small, bool in_time) {
  if (filling.start == 0 || filling.end < filling.start + hold_ns || small == 0) return Fullness::kUnknown;
  // Every block spins for so long, so none began later, and block 0 did not end before.
  const uint64_t all_run = filling.end - hold_ns, first_ends = filling.start + hold_ns - hold_ns / kTolerance;
  if (small >= first_ends) return in_time ? Fullness::kFull : Fullness::kUnknown;
  return small >= all_run ? Fullness::kRoom : Fullness::kUnknown;
}

Stream make_stream_of_priority(const Cuda& cuda, int priority) {
  abi::CUstream stream = nullptr;
  GVB_CALL(cuda, "creating a stream with a priority", cuStreamCreateWithPriority, &stream, abi::CU_STREAM_NON_BLOCKING,
           priority);
  return Stream(cuda, stream);
}

FullCheck::FullCheck(DeviceSession& session, const Filling& filling)
    : cuda_(session.cuda),
      hold_ns_(filling.hold_ns),
      stream_(make_stream_of_priority(cuda_, filling.priority)),
      small_(session.module.function("gvb_stamp")),
      stamps_(make_memory(cuda_, (kKernels + 1) * sizeof(Occupied))),
      begun_(cuda_, kTries * sizeof(uint64_t)) {
  GVB_CALL(cuda_, "clearing the stamps", cuMemsetD8_v2, stamps_.get(), 0, (kKernels + 1) * sizeof(Occupied));
  // The memset runs on the default stream, for which other streams do not wait.
  GVB_CALL(cuda_, "clearing the stamps", cuCtxSynchronize);
  // A driver loads a kernel at its first launch, and may wait for all others to end before it does.
  launch_small(0);
  GVB_CALL(cuda_, "waiting for a small kernel", cuStreamSynchronize, stream_.get());
  for (size_t i = 0; i < kTries; ++i) begun_.store<uint64_t>(0, i * sizeof(uint64_t));
}

void FullCheck::launch_small(size_t place) {
  abi::CUdeviceptr slot = begun_.device(place * sizeof(uint64_t));
  void* parameters[] = {&slot};
  GVB_CALL(cuda_, "launching a small kernel beside one that fills the device", cuLaunchKernel, small_, 1, 1, 1, 32, 1,
           1, 0, stream_.get(), parameters, nullptr);
}

abi::CUdeviceptr FullCheck::stamps_of_next() {
  return stamps_.get() + std::min(stamped_++, kKernels) * sizeof(Occupied);
}

void FullCheck::look(size_t number, const Event& finished) {
  if (!wants() || number >= kKernels) return;
  launch_small(tries_.size());
  nap_ns(static_cast<int64_t>(hold_ns_ / kRunsOn));
  const abi::CUresult code = cuda_.require(cuda_.api.cuEventQuery, "cuEventQuery")(finished.get());
  if (code != abi::CUDA_ERROR_NOT_READY) cuda_.check(code, "cuEventQuery", "checking whether a kernel has ended");
  tries_.push_back({number, code == abi::CUDA_ERROR_NOT_READY});
}

Fullness FullCheck::result() {
  GVB_CALL(cuda_, "waiting for small kernels", cuStreamSynchronize, stream_.get());
  std::array<Occupied, kKernels> filling{};
  GVB_CALL(cuda_, "reading the stamps", cuMemcpyDtoH_v2, filling.data(), stamps_.get(), sizeof filling);
  Fullness found = Fullness::kUnknown;
  for (size_t i = 0; i < tries_.size(); ++i) {
    const auto [number, in_time] = tries_[i];
    const Fullness one = fullness_of(filling[number], hold_ns_, begun_.load<uint64_t>(i * sizeof(uint64_t)), in_time);
    if (one == Fullness::kRoom) return one;
    if (one == Fullness::kFull) found = one;
  }
  return found;
}

std::optional<bool> card_full(Fullness fullness) {
  if (fullness == Fullness::kUnknown) return std::nullopt;
  return fullness == Fullness::kFull;
}

}  // namespace gvb
