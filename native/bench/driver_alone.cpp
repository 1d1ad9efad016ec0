#include "bench/driver_alone.h"

#include "bench/green_context.h"
#include "bench/paired_function.h"

namespace gvb {

namespace {

class DriverAlone {
 public:
  explicit DriverAlone(DeviceSession& session)
      : cuda_(session.cuda), context_(session.context.get()), target_{{}, session.uuid, SymbolPath::kBare} {
    session_.emplace(session.driver, target_, session.token);
  }
  // A session that ends leaves no context current, and whatever else `session` keeps is freed after this.
  ~DriverAlone() {
    session_.reset();
    cuda_.try_call(cuda_.api.cuCtxSetCurrent, context_);
  }
  DriverAlone(const DriverAlone&) = delete;
  DriverAlone& operator=(const DriverAlone&) = delete;

  DeviceSession& session() { return *session_; }

 private:
  const Cuda& cuda_;
  const abi::CUcontext context_;
  const DeviceTarget target_;
  std::optional<DeviceSession> session_;
};

std::vector<const char*> functions_of(AllocationApi api) {
  switch (api) {
    case AllocationApi::kMemAlloc:
      return {"cuMemAlloc_v2", "cuMemFree_v2"};
    case AllocationApi::kMemCreate:
      return {"cuMemCreate", "cuMemMap", "cuMemSetAccess", "cuMemUnmap", "cuMemRelease"};
    case AllocationApi::kAllocAsync:
      return {"cuMemAllocAsync", "cuMemFreeAsync"};
    case AllocationApi::kAllocFromPool:
      return {"cuMemAllocFromPoolAsync", "cuMemFreeAsync"};
  }
  return {};
}

}  // namespace

DeviceSession& driver_alone(DeviceSession& session, AllocationApi api) {
  require_unconfined("a second session would be in another one");
  for (const char* function : functions_of(api)) static_cast<void>(paired_pointers(session, function));
  return session.kept<DriverAlone>().session();
}

}  // namespace gvb
