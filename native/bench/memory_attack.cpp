#include "bench/memory_attack.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/ipc_handle.h"

namespace gvb {

namespace {

constexpr size_t kAttackBytes = size_t{2} << 20;

abi::CUmemAllocationProp shareable_on(abi::CUdevice device) {
  abi::CUmemAllocationProp properties{};
  properties.type = abi::CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {abi::CU_MEM_LOCATION_TYPE_DEVICE, device};
  properties.requestedHandleTypes = abi::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

// A handle's memory, mapped into this process.
class Mapped {
 public:
  Mapped(abi::CUmemGenericAllocationHandle handle, const DeviceSession& session, size_t bytes)
      : cuda_(session.cuda), handle_(handle), bytes_(bytes) {
    const auto map = cuda_.require(cuda_.api.cuMemMap, "cuMemMap");
    const auto set_access = cuda_.require(cuda_.api.cuMemSetAccess, "cuMemSetAccess");
    GVB_CALL(cuda_, "reserving addresses", cuMemAddressReserve, &address_, bytes_, 0, 0, 0);
    const abi::CUmemAccessDesc access{{abi::CU_MEM_LOCATION_TYPE_DEVICE, session.device},
                                      abi::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    code = map(address_, bytes_, 0, handle_, 0);
    mapped_ = code == abi::CUDA_SUCCESS;
    if (mapped_) code = set_access(address_, bytes_, &access, 1);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (mapped_) cuda_.try_call(cuda_.api.cuMemUnmap, address_, bytes_);
    cuda_.try_call(cuda_.api.cuMemAddressFree, address_, bytes_);
    cuda_.try_call(cuda_.api.cuMemRelease, handle_);
  }
  abi::CUdeviceptr address() const { return address_; }

  abi::CUresult code = abi::CUDA_SUCCESS;

 private:
  const Cuda& cuda_;
  const abi::CUmemGenericAllocationHandle handle_;
  const size_t bytes_;
  abi::CUdeviceptr address_ = 0;
  bool mapped_ = false;
};

struct Laid {
  explicit Laid(DeviceSession& session) : scanner(session) {}
  TagScanner scanner;
  std::vector<DeviceMemory> blocks;
  std::vector<std::unique_ptr<Mapped>> mapped;
};

// Writes the tag, waits until it is there, and counts what the victim's own scan finds.
void read_back(Laid& laid, abi::CUdeviceptr address, const Tag& tag, Bait& bait) {
  laid.scanner.fill({address, kAttackBytes}, tag);
  bait.tagged_bytes =
      std::min(bait.tagged_bytes, laid.scanner.scan({address, kAttackBytes}, mark_of(tag)).tagged_bytes);
}

abi::CUdeviceptr tagged_block(DeviceSession& session, Laid& laid, const Tag& tag, Bait& bait) {
  laid.blocks.push_back(make_memory(session.cuda, kAttackBytes));
  read_back(laid, laid.blocks.back().get(), tag, bait);
  return laid.blocks.back().get();
}

std::string shared_handle(const Cuda& cuda, abi::CUdeviceptr block) {
  abi::CUipcMemHandle handle{};
  GVB_CALL(cuda, "sharing a block", cuIpcGetMemHandle, &handle, block);
  return ipc_handle_text(handle);
}

void lay_handles(DeviceSession& session, Laid& laid, const Tag& tag, Bait& bait) {
  bait.ipc_handle = shared_handle(session.cuda, tagged_block(session, laid, tag, bait));
  bait.stale_handle = shared_handle(session.cuda, tagged_block(session, laid, tag, bait));
  laid.blocks.pop_back();
}

void lay_descriptor(DeviceSession& session, Laid& laid, const Tag& tag, Bait& bait) {
  const Cuda& cuda = session.cuda;
  const abi::CUmemAllocationProp properties = shareable_on(session.device);
  abi::CUmemGenericAllocationHandle handle = 0;
  GVB_CALL(cuda, "creating memory that can be shared", cuMemCreate, &handle, kAttackBytes, &properties, 0);
  laid.mapped.push_back(std::make_unique<Mapped>(handle, session, kAttackBytes));
  cuda.check(laid.mapped.back()->code, "cuMemMap", "mapping memory that can be shared");
  read_back(laid, laid.mapped.back()->address(), tag, bait);
  int descriptor = -1;
  GVB_CALL(cuda, "exporting memory", cuMemExportToShareableHandle, &descriptor, handle,
           abi::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  bait.descriptor = descriptor;
}

// Runs `lay` and returns the reason if the system does not support it, else an empty text.
template <class Lay>
std::string reason_against(const Lay& lay) {
  try {
    lay();
    return "";
  } catch (const Failure& failure) {
    if (failure.kind() != FailureKind::kFunctionMissing && failure.kind() != FailureKind::kCuda) throw;
    return failure.what();
  }
}

AttackAnswer refused(const Cuda& cuda, abi::CUresult code) { return {code, cuda.error_name(code), 0, 0}; }

AttackAnswer read_at(DeviceSession& session, abi::CUdeviceptr address, const AttackRequest& request) {
  TagScanner& scanner = session.kept<Laid>().scanner;
  try {
    const SurfaceFound found = scanner.scan({address, request.bytes}, parse_tag(request.mark));
    return {0, "", found.tagged_bytes, found.other_bytes};
  } catch (const CallFailure& failure) {
    return {failure.code, failure.name, 0, 0};
  }
}

AttackAnswer open_handle(DeviceSession& session, const AttackRequest& request) {
  const Cuda& cuda = session.cuda;
  abi::CUdeviceptr address = 0;
  const abi::CUresult code = cuda.require(cuda.api.cuIpcOpenMemHandle_v2, "cuIpcOpenMemHandle_v2")(
      &address, ipc_handle(request.target), abi::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (code != abi::CUDA_SUCCESS) return refused(cuda, code);
  AttackAnswer answer = read_at(session, address, request);
  cuda.try_call(cuda.api.cuIpcCloseMemHandle, address);
  return answer;
}

// Opens another process's file through /proc, without having received it.
AttackAnswer import_foreign(DeviceSession& session, const AttackRequest& request) {
  const Cuda& cuda = session.cuda;
  const size_t colon = request.target.find(':');
  const std::string path = "/proc/" + request.target.substr(0, colon) + "/fd/" + request.target.substr(colon + 1);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return {abi::CUDA_ERROR_NOT_PERMITTED, std::string("open: ") + std::strerror(errno), 0, 0};
  abi::CUmemGenericAllocationHandle handle = 0;
  const abi::CUresult code = cuda.require(cuda.api.cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle")(
      &handle, reinterpret_cast<void*>(static_cast<intptr_t>(file)), abi::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  close(file);
  if (code != abi::CUDA_SUCCESS) return refused(cuda, code);
  const Mapped mapped(handle, session, request.bytes);
  if (mapped.code != abi::CUDA_SUCCESS) return refused(cuda, mapped.code);
  return read_at(session, mapped.address(), request);
}

}  // namespace

Bait lay_bait(DeviceSession& session, const BaitRequest& request) {
  const Tag tag = parse_tag(request.tag);
  auto& laid = session.kept<Laid>();
  Bait bait;
  bait.bytes = bait.tagged_bytes = kAttackBytes;
  const abi::CUdeviceptr unshared = tagged_block(session, laid, tag, bait);
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(unshared));
  bait.address = text;
  bait.no_ipc = reason_against([&] { lay_handles(session, laid, tag, bait); });
  bait.no_descriptor = reason_against([&] { lay_descriptor(session, laid, tag, bait); });
  return bait;
}

AttackAnswer attack_memory(DeviceSession& session, const AttackRequest& request) {
  switch (request.attack) {
    case Attack::kIpcHandle:
      return open_handle(session, request);
    case Attack::kDescriptor:
      return import_foreign(session, request);
    case Attack::kAddress:
      return read_at(session, std::strtoull(request.target.c_str(), nullptr, 16), request);
  }
  return {};
}

}  // namespace gvb
