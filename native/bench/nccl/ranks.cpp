#include "bench/nccl/ranks.h"

#include <cstring>

#include "base/hexadecimal.h"

namespace gvb {

namespace {

abi::ncclUniqueId unique_id(const std::string& text) {
  abi::ncclUniqueId id;
  if (!read_hexadecimal(text, id.internal, sizeof id.internal))
    throw Failure(FailureKind::kInvalidResult, "Expected id to be 256 hexadecimal digits but received '" + text + "'.");
  return id;
}

const Nccl& required(const DeviceSession& session) {
  const FoundNccl found = find_nccl(session.driver.simulated);
  if (!found.nccl) throw Failure(FailureKind::kFunctionMissing, found.why);
  return *found.nccl;
}

}  // namespace

CommunicatorId make_communicator_id(DeviceSession& session) {
  CommunicatorId out;
  const FoundNccl found = find_nccl(session.driver.simulated);
  out.unsupported = found.why;
  if (!found.nccl) return out;
  out.library = found.nccl->path;
  out.version = found.nccl->version;
  abi::ncclUniqueId id{};
  out.failure = found.nccl->failure(found.nccl->api.ncclGetUniqueId(&id), "ncclGetUniqueId");
  out.id = hexadecimal(id.internal, sizeof id.internal);
  return out;
}

Joined join_ranks(DeviceSession& session, const JoinRequest& request) {
  return {session.kept<Ranks>().join(required(session), request)};
}

Joined leave_ranks(DeviceSession& session) { return {session.kept<Ranks>().leave()}; }

std::string Ranks::join(const Nccl& nccl, const JoinRequest& request) {
  std::string left = leave();
  if (!left.empty()) return left;
  nccl_ = &nccl;
  return nccl.failure(nccl.api.ncclCommInitRank(&communicator_, static_cast<int>(request.ranks), unique_id(request.id),
                                                static_cast<int>(request.rank)),
                      "ncclCommInitRank");
}

std::string Ranks::leave() {
  if (!communicator_) return "";
  return nccl_->failure(nccl_->api.ncclCommDestroy(std::exchange(communicator_, nullptr)), "ncclCommDestroy");
}

std::string Ranks::all_reduce(const Numbers& what, abi::CUstream stream) const {
  return nccl_->failure(
      nccl_->api.ncclAllReduce(reinterpret_cast<const void*>(what.from), reinterpret_cast<void*>(what.to), what.count,
                               what.type, abi::ncclSum, communicator_, stream),
      "ncclAllReduce");
}

std::string Ranks::all_gather(const Numbers& what, abi::CUstream stream) const {
  return nccl_->failure(
      nccl_->api.ncclAllGather(reinterpret_cast<const void*>(what.from), reinterpret_cast<void*>(what.to), what.count,
                               what.type, communicator_, stream),
      "ncclAllGather");
}

std::string Ranks::broadcast(const Numbers& what, unsigned root, abi::CUstream stream) const {
  return nccl_->failure(
      nccl_->api.ncclBroadcast(reinterpret_cast<const void*>(what.from), reinterpret_cast<void*>(what.to), what.count,
                               what.type, static_cast<int>(root), communicator_, stream),
      "ncclBroadcast");
}

std::string Ranks::asynchronous_failure() const {
  abi::ncclResult_t error = abi::ncclSuccess;
  const std::string asking =
      nccl_->failure(nccl_->api.ncclCommGetAsyncError(communicator_, &error), "ncclCommGetAsyncError");
  return asking.empty() ? nccl_->failure(error, "a collective") : asking;
}

}  // namespace gvb
