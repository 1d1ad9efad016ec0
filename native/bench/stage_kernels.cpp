#include "bench/stage_kernels.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/kept_modules.h"
#include "bench/load_work.h"

namespace gvb {

namespace {

constexpr unsigned kStageThreads = 128;
constexpr unsigned kTokenMultiplier = 1664525;  // odd: no token is lost
constexpr size_t kScratchBytes = 3 * sizeof(uint64_t);

}  // namespace

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

StageKernels::StageKernels(DeviceSession& session, const Room& room, const StageShape& shape)
    : session_(session),
      cuda_(session.cuda),
      shape_(shape),
      kernel_(kept_module(session, "pipeline").function("gvb_stage")),
      stamps_(cuda_, room.places * sizeof(StageStamps)),
      places_(room.places),
      tokens_(room.tokens),
      device_tokens_(make_memory(cuda_, room.tokens * sizeof(unsigned))),
      scratch_(make_memory(cuda_, room.places * kScratchBytes)),
      seed_(static_cast<unsigned>(now_ns())) {
  if (shape.shared_bytes > 0)
    GVB_CALL(cuda_, "allowing a kernel its shared memory", cuFuncSetAttribute, kernel_,
             abi::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shape.shared_bytes));
  GVB_CALL(cuda_, "clearing the kernel counters", cuMemsetD8_v2, scratch_.get(), 0, room.places * kScratchBytes);
  GVB_CALL(cuda_, "clearing the kernel counters", cuCtxSynchronize);
}

void StageKernels::begin(size_t given) {
  session_.token.check();
  seed_ += 0x9e3779b1u;
  for (size_t i = 0; i < places_; ++i) {
    stamps_.store<uint64_t>(0, i * sizeof(StageStamps));
    stamps_.store<uint64_t>(0, i * sizeof(StageStamps) + sizeof(uint64_t));
  }
  for (size_t i = 0; i < tokens_.size(); ++i) tokens_[i] = i < given ? seed_ + static_cast<unsigned>(i) : 0;
  GVB_CALL(cuda_, "handing out tokens", cuMemcpyHtoD_v2, device_tokens_.get(), tokens_.data(), token_bytes());
  // Streams that do not wait for the default stream would start without the tokens.
  GVB_CALL(cuda_, "handing out tokens", cuCtxSynchronize);
}

void StageKernels::launch(const Stage& stage, unsigned rounds, abi::CUstream stream) const {
  abi::CUdeviceptr stamps = stamps_.device(stage.place * sizeof(StageStamps)),
                   scratch = scratch_.get() + stage.place * kScratchBytes,
                   in = device_tokens_.get() + stage.in * sizeof(unsigned),
                   out = device_tokens_.get() + stage.out * sizeof(unsigned);
  unsigned multiplier = kTokenMultiplier;
  void* parameters[] = {&stamps, &scratch, &in, &out, &rounds, &multiplier};
  GVB_CALL(cuda_, "launching a stage", cuLaunchKernel, kernel_, shape_.blocks, 1, 1, kStageThreads, 1, 1,
           shape_.shared_bytes, stream, parameters, nullptr);
}

void StageKernels::read_tokens() {
  GVB_CALL(cuda_, "reading tokens", cuMemcpyDtoH_v2, tokens_.data(), device_tokens_.get(), token_bytes());
}

StageStamps StageKernels::stamps(size_t place) const {
  const size_t offset = place * sizeof(StageStamps);
  return {stamps_.load<uint64_t>(offset), stamps_.load<uint64_t>(offset + sizeof(uint64_t))};
}

StageStamps StageKernels::checked(const Stage& stage, unsigned rounds, const std::string& name) const {
  const StageStamps found = stamps(stage.place);
  if (found.began == 0 || found.ended < found.began)
    throw Failure(FailureKind::kInvalidResult, name + " was launched successfully but did not run: it wrote no times.");
  const unsigned expected = shape_.blocks * load_map({rounds, kTokenMultiplier}).of(tokens_[stage.in]);
  if (tokens_[stage.out] != expected)
    throw Failure(FailureKind::kInvalidResult,
                  name + " did not pass on what it should make of its input: it did other work, or began too early.");
  return found;
}

}  // namespace gvb
