// The simulated libnccl.so.2: each rank is a process with a simulated card. Results are computed; their duration
// follows from the card's link_gbs and nccl_us. The host makes the same calls as with a real NCCL, but waits inside a
// collective until the other ranks call it, which a real NCCL leaves to the device.
#include <mutex>

#include "sim/clock.h"
#include "sim/nccl/communicator.h"
#include "sim/nccl/nccl_library.h"
#include "sim/settings.h"

extern "C" {
extern __attribute__((visibility("default"))) const char gvbSimulatedNccl[];
}

const char gvbSimulatedNccl[] = "gpu-virt-bench simulated NCCL";

namespace gvb::abi {

struct ncclComm : sim::Communicator {
  using Communicator::Communicator;
};

}  // namespace gvb::abi

namespace gvb::sim {
namespace {

constexpr int kVersion = 22707;

struct LastError {
  std::mutex mutex;
  std::string text;
};

LastError& last_error() {
  static LastError& error = *new LastError;
  return error;
}

}  // namespace

abi::ncclResult_t fail(abi::ncclResult_t code, const std::string& why) {
  const std::lock_guard<std::mutex> lock(last_error().mutex);
  last_error().text = why;
  return code;
}

}  // namespace gvb::sim

namespace gvb::abi {

using sim::fail;

const char* ncclGetErrorString(ncclResult_t code) {
  switch (code) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
  }
  return "unknown result code";
}

const char* ncclGetLastError(ncclComm_t) {
  const std::lock_guard<std::mutex> lock(sim::last_error().mutex);
  return sim::last_error().text.c_str();
}

ncclResult_t ncclGetVersion(int* version) {
  GVB_SIM_NCCL(ncclGetVersion);
  if (version == nullptr) return ncclInvalidArgument;
  *version = sim::kVersion;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  GVB_SIM_NCCL(ncclGetUniqueId);
  if (id == nullptr) return ncclInvalidArgument;
  return sim::Meeting::make(id) ? ncclSuccess : fail(ncclSystemError, "no memory to share");
}

ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
  GVB_SIM_NCCL(ncclCommInitRank);
  while (sim::settings().nccl_hang != 0) nap_ns(1'000'000'000);
  if (communicator == nullptr || ranks < 1 || ranks > sim::kMostRanks || rank < 0 || rank >= ranks)
    return ncclInvalidArgument;
  if (sim::simulated_driver() == nullptr) return fail(ncclUnhandledCudaError, "the driver is not the simulated one");
  std::unique_ptr<sim::Meeting> meeting(sim::Meeting::open(id));
  if (!meeting) return fail(ncclSystemError, "the process that made the unique id cannot be reached");
  auto made = std::make_unique<ncclComm>(std::move(meeting), ranks, rank);
  const ncclResult_t code = made->join();
  if (code == ncclSuccess) *communicator = made.release();
  return code;
}

// Does not wait for other ranks: results that were not read by then are never computed.
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  GVB_SIM_NCCL(ncclCommDestroy);
  return communicator == nullptr ? ncclInvalidArgument : ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  GVB_SIM_NCCL(ncclCommAbort);
  return communicator == nullptr ? ncclInvalidArgument : ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  GVB_SIM_NCCL(ncclCommGetAsyncError);
  if (communicator == nullptr || error == nullptr) return ncclInvalidArgument;
  *error = communicator->error();
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t communicator, CUstream stream) {
  GVB_SIM_NCCL(ncclAllReduce);
  if (from == nullptr || to == nullptr || communicator == nullptr) return ncclInvalidArgument;
  if (operation != ncclSum || sim::bytes_of(type) == 0 || type == ncclUint32 || from == to)
    return fail(ncclInvalidArgument, "not simulated: other operations and types, and results in place");
  return count == 0 ? ncclSuccess : communicator->collective({sim::Kind::kAllReduce, from, to, count, type}, stream);
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t communicator,
                           CUstream stream) {
  GVB_SIM_NCCL(ncclAllGather);
  if (from == nullptr || to == nullptr || communicator == nullptr) return ncclInvalidArgument;
  if (sim::bytes_of(type) == 0) return fail(ncclInvalidArgument, "not simulated: other types");
  return count == 0 ? ncclSuccess : communicator->collective({sim::Kind::kAllGather, from, to, count, type}, stream);
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, CUstream stream) {
  GVB_SIM_NCCL(ncclBroadcast);
  if (from == nullptr || to == nullptr || communicator == nullptr) return ncclInvalidArgument;
  if (root < 0 || root >= communicator->ranks()) return ncclInvalidArgument;
  if (sim::bytes_of(type) == 0) return fail(ncclInvalidArgument, "not simulated: other types");
  return count == 0 ? ncclSuccess
                    : communicator->collective({sim::Kind::kBroadcast, from, to, count, type, root}, stream);
}

}  // namespace gvb::abi
