// Memory pools that a program creates, as RAPIDS and PyTorch's asynchronous allocator do.
#include <unistd.h>

#include "probe/probe.h"
#include "probe/process.h"
#include "probe/token.h"

namespace gvb::probe {
namespace {

using abi::CUmemoryPool;
using abi::CUresult;

constexpr Function<CUresult(CUmemoryPool*, const abi::CUmemPoolProps*)> cuMemPoolCreate{
    {"cuMemPoolCreate", "cuMemPoolCreate", 11020}};
constexpr Function<CUresult(CUmemoryPool)> cuMemPoolDestroy{{"cuMemPoolDestroy", "cuMemPoolDestroy", 11020}};
constexpr Function<CUresult(void*, CUmemoryPool, int, unsigned long long)> cuMemPoolExportToShareableHandle{
    {"cuMemPoolExportToShareableHandle", "cuMemPoolExportToShareableHandle", 11020}};
constexpr Function<CUresult(CUmemoryPool*, void*, int, unsigned long long)> cuMemPoolImportFromShareableHandle{
    {"cuMemPoolImportFromShareableHandle", "cuMemPoolImportFromShareableHandle", 11020}};
constexpr Function<CUresult(abi::CUmemPoolPtrExportData*, CUdeviceptr)> cuMemPoolExportPointer{
    {"cuMemPoolExportPointer", "cuMemPoolExportPointer", 11020}};
constexpr Function<CUresult(CUdeviceptr*, CUmemoryPool, abi::CUmemPoolPtrExportData*)> cuMemPoolImportPointer{
    {"cuMemPoolImportPointer", "cuMemPoolImportPointer", 11020}};
constexpr Function<CUresult(CUmemoryPool, const CUmemAccessDesc*, size_t)> cuMemPoolSetAccess{
    {"cuMemPoolSetAccess", "cuMemPoolSetAccess", 11020}};

constexpr size_t kPoolBytes = 4 << 20;

CUmemoryPool make_pool(Run& run, int handle_types) {
  abi::CUmemPoolProps properties{};
  properties.allocType = abi::CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = handle_types;
  properties.location = {abi::CU_MEM_LOCATION_TYPE_DEVICE, run.device};
  CUmemoryPool pool = nullptr;
  run.need(cuMemPoolCreate, &pool, &properties);
  return pool;
}

CUdeviceptr allocate(Run& run, CUmemoryPool pool) {
  CUdeviceptr at = 0;
  run.need(cuda::cuMemAllocFromPoolAsync, &at, kPoolBytes, pool, nullptr);
  run.need(cuda::cuStreamSynchronize, nullptr);
  return at;
}

void default_pool(Run& run) {
  run.enter();
  CUmemoryPool pool = nullptr;
  run.need(cuda::cuDeviceGetDefaultMemPool, &pool, run.device);
  for (int i = 0; i < 3; ++i) {
    CUdeviceptr at = 0;
    run.need(cuda::cuMemAllocAsync, &at, kPoolBytes, nullptr);
    run.fill(at, kPoolBytes, 0x3c);
    run.check("allocated without a stream's wait", at, kPoolBytes, 0x3c);
    run.need(cuda::cuMemFreeAsync, at, nullptr);
  }
  run.need(cuda::cuStreamSynchronize, nullptr);
  run.need(cuda::cuMemPoolTrimTo, pool, 0);
  unsigned long long used = 1;
  run.need(cuda::cuMemPoolGetAttribute, pool, abi::CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
  run.expect("nothing is in use any more", used == 0);
}

void own_pool(Run& run) {
  run.enter();
  CUmemoryPool pool = make_pool(run, 0);
  const CUdeviceptr at = allocate(run, pool);
  run.fill(at, kPoolBytes, 0x6b);
  run.check("memory of the pool", at, kPoolBytes, 0x6b);
  run.need(cuda::cuMemFreeAsync, at, nullptr);
  run.need(cuda::cuStreamSynchronize, nullptr);
  run.need(cuda::cuMemPoolTrimTo, pool, 0);
  run.need(cuMemPoolDestroy, pool);
}

void export_pool(Run& run) {
  run.enter();
  CUmemoryPool pool = make_pool(run, abi::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  const CUdeviceptr at = allocate(run, pool);
  run.fill(at, kPoolBytes, 0x42);
  run.need(cuda::cuCtxSynchronize);
  int descriptor = -1;
  abi::CUmemPoolPtrExportData data{};
  run.need(cuMemPoolExportToShareableHandle, &descriptor, pool, abi::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  run.need(cuMemPoolExportPointer, &data, at);
  const SecondProcess second{"", token_of(&data, sizeof data), environment_with({}), descriptor};
  await_end("the importing process", start(run, second));
  close(descriptor);
  run.check("what the other process wrote", at, kPoolBytes, 0x24);
  run.need(cuda::cuMemFreeAsync, at, nullptr);
  run.need(cuda::cuStreamSynchronize, nullptr);
  run.need(cuMemPoolDestroy, pool);
}

void import_pool(Run& run) {
  abi::CUmemPoolPtrExportData data{};
  read_token(*run.options.token, &data, sizeof data);
  run.enter();
  CUmemoryPool pool = nullptr;
  CUdeviceptr at = 0;
  const CUmemAccessDesc access = {{abi::CU_MEM_LOCATION_TYPE_DEVICE, run.device},
                                  abi::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  run.need(cuMemPoolImportFromShareableHandle, &pool, reinterpret_cast<void*>(static_cast<intptr_t>(kShared)),
           abi::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  run.need(cuMemPoolSetAccess, pool, &access, 1);
  run.need(cuMemPoolImportPointer, &at, pool, &data);
  run.check("memory of the other process", at, kPoolBytes, 0x42);
  run.fill(at, kPoolBytes, 0x24);
  run.need(cuda::cuCtxSynchronize);
  run.need(cuda::cuMemFree_v2, at);
  run.need(cuMemPoolDestroy, pool);
}

}  // namespace

Probes pool_probes() {
  return {
      {"asynchronous allocation, free and trim", "HAMi-core#96", default_pool},
      {"memory pool, allocation, free and trim", "HAMi-core#93", own_pool},
      {"memory pool, export and import", "HAMi-core#217", export_pool, import_pool},
  };
}

}  // namespace gvb::probe
