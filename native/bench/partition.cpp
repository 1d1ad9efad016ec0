#include "bench/partition.h"

#include <string>

namespace gvb {

namespace {

// Drivers of a later ABI may write more than the version that was asked for has.
struct Resource {
  abi::CUdevResource value{};
  unsigned char spare[112]{};
};

abi::CUgreenCtx make_green_context(const DeviceSession& session, unsigned wanted) {
  const Cuda& cuda = session.cuda;
  cuda.require(cuda.api.cuGreenCtxStreamCreate, "cuGreenCtxStreamCreate");
  Resource all, part, rest;
  GVB_CALL(cuda, "asking for the device's multiprocessors", cuDeviceGetDevResource, session.device, &all.value,
           abi::CU_DEV_RESOURCE_TYPE_SM);
  unsigned groups = 1;
  GVB_CALL(cuda, "splitting the multiprocessors", cuDevSmResourceSplitByCount, &part.value, &groups, &all.value,
           &rest.value, 0, wanted);
  if (groups != 1)
    throw Failure(FailureKind::kFunctionMissing, "A partition of " + std::to_string(wanted) + " of " +
                                                     std::to_string(all.value.sm.smCount) +
                                                     " multiprocessors cannot be made.");
  abi::CUdevResourceDesc description = nullptr;
  GVB_CALL(cuda, "describing a partition", cuDevResourceGenerateDesc, &description, &part.value, 1);
  abi::CUgreenCtx context = nullptr;
  GVB_CALL(cuda, "creating a green context", cuGreenCtxCreate, &context, description, session.device,
           abi::CU_GREEN_CTX_DEFAULT_STREAM);
  return context;
}

unsigned multiprocessors_in(const Cuda& cuda, abi::CUgreenCtx context) {
  Resource own;
  GVB_CALL(cuda, "asking for a partition's multiprocessors", cuGreenCtxGetDevResource, context, &own.value,
           abi::CU_DEV_RESOURCE_TYPE_SM);
  return own.value.sm.smCount;
}

}  // namespace

Partition::Partition(const DeviceSession& session, unsigned wanted)
    : cuda_(session.cuda),
      context_(session.cuda, make_green_context(session, wanted)),
      multiprocessors_(multiprocessors_in(session.cuda, context_.get())) {}

Stream Partition::make_stream() const {
  abi::CUstream stream = nullptr;
  GVB_CALL(cuda_, "creating a stream of a green context", cuGreenCtxStreamCreate, &stream, context_.get(),
           abi::CU_STREAM_NON_BLOCKING, 0);
  return Stream(cuda_, stream);
}

}  // namespace gvb
