#include "bench/partition.h"

namespace gvb {

namespace {

SmResource part_with_streams(const DeviceSession& session, unsigned wanted) {
  const Cuda& cuda = session.cuda;
  cuda.require(cuda.api.cuGreenCtxStreamCreate, "cuGreenCtxStreamCreate");
  return part_from(cuda, session.device, wanted);
}

}  // namespace

Partition::Partition(const DeviceSession& session, unsigned wanted)
    : cuda_(session.cuda),
      green_(session.cuda, session.device, part_with_streams(session, wanted)),
      multiprocessors_(green_.multiprocessors()) {}

Stream Partition::make_stream() const {
  abi::CUstream stream = nullptr;
  GVB_CALL(cuda_, "creating a stream of a green context", cuGreenCtxStreamCreate, &stream, green_.get(),
           abi::CU_STREAM_NON_BLOCKING, 0);
  return Stream(cuda_, stream);
}

}  // namespace gvb
