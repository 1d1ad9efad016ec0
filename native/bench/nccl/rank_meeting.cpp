#include "bench/nccl/rank_meeting.h"

namespace gvb {

namespace {

constexpr uint64_t kMeetingNumbers = 8;
constexpr uint64_t kMeetingBytes = kMeetingNumbers * sizeof(float);

}  // namespace

RankMeeting::RankMeeting(DeviceSession& session)
    : cuda_(session.cuda), ranks_(session.kept<Ranks>()), memory_(make_memory(session.cuda, 2 * kMeetingBytes)) {}

std::string RankMeeting::meet(abi::CUstream stream) const {
  const abi::CUdeviceptr to = memory_.get() + kMeetingBytes;
  std::string failure = ranks_.all_reduce({memory_.get(), to, kMeetingNumbers, abi::ncclFloat32}, stream);
  if (failure.empty()) GVB_CALL(cuda_, "waiting for the other ranks", cuStreamSynchronize, stream);
  return failure;
}

}  // namespace gvb
