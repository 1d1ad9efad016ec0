// Device memory from ways other than an allocation by address: arrays, variables of modules, graphs, imported handles.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "sim_parts.h"

namespace test {
namespace {

CUresult copy_row(CUarray array, size_t y, size_t z, void* host, size_t bytes, bool to_array) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
  copy.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
  copy.srcHost = copy.dstHost = host;
  copy.srcArray = copy.dstArray = array;
  (to_array ? copy.dstY : copy.srcY) = y;
  (to_array ? copy.dstZ : copy.srcZ) = z;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = bytes;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
  return cuMemcpy3D_v2(&copy);
}

void check_row(CUarray array, size_t y, size_t z, char value) {
  std::vector<char> written(512, value), read(512);
  CHECK_EQUAL(copy_row(array, y, z, written.data(), written.size(), true), CUDA_SUCCESS);
  CHECK_EQUAL(copy_row(array, y, z, read.data(), read.size(), false), CUDA_SUCCESS);
  CHECK(written == read);
}

}  // namespace

void arrays() {
  enter_primary();
  const size_t before = free_bytes();
  CUarray flat = nullptr;
  const CUDA_ARRAY_DESCRIPTOR of_flat = {16384, 64, CU_AD_FORMAT_FLOAT, 4};
  CHECK_EQUAL(cuArrayCreate_v2(&flat, &of_flat), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 16 * kMiB);
  CUarray deep = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR of_deep = {256, 256, 8, CU_AD_FORMAT_UNSIGNED_INT32, 4, 0};
  CHECK_EQUAL(cuArray3DCreate_v2(&deep, &of_deep), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 24 * kMiB);
  check_row(flat, 63, 0, 5);
  check_row(deep, 255, 7, 6);
  char first = 0;
  CHECK_EQUAL(copy_row(flat, 63, 0, &first, 1, false), CUDA_SUCCESS);
  CHECK_EQUAL(first, 5);
  CHECK_EQUAL(copy_row(flat, 64, 0, &first, 1, false), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(copy_row(deep, 0, 8, &first, 1, true), CUDA_ERROR_INVALID_VALUE);

  CUmipmappedArray mipmapped = nullptr;
  CUarray level = nullptr;
  of_deep.Depth = 0;
  CHECK_EQUAL(cuMipmappedArrayCreate(&mipmapped, &of_deep, 2), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 25 * kMiB + kMiB / 4);
  CHECK_EQUAL(cuMipmappedArrayGetLevel(&level, mipmapped, 2), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMipmappedArrayGetLevel(&level, mipmapped, 1), CUDA_SUCCESS);
  check_row(level, 127, 0, 7);
  CHECK_EQUAL(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuMipmappedArrayDestroy(mipmapped), CUDA_SUCCESS);
  CHECK_EQUAL(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuArrayDestroy(deep), CUDA_SUCCESS);
  CHECK_EQUAL(cuArrayDestroy(deep), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuArrayDestroy(flat), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);

  of_deep.Depth = 65536;
  of_deep.Width = of_deep.Height = 4096;
  CHECK_EQUAL(cuArray3DCreate_v2(&deep, &of_deep), CUDA_ERROR_OUT_OF_MEMORY);
  of_deep.NumChannels = 3;
  CHECK_EQUAL(cuArray3DCreate_v2(&deep, &of_deep), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuArrayCreate_v2(&flat, &of_flat), CUDA_SUCCESS);
  CHECK_EQUAL(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  enter_primary();
  CHECK_EQUAL(free_bytes(), before);  // as before the context
}

void globals() {
  enter_primary();
  const size_t before = free_bytes();
  const std::string ptx =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 16 .b8 room[4194304];\n"
      ".global .align 4 .u32 word;\n.visible .entry gvb_empty() { ld.global.u32 %r1, [word]; ret; }\n";
  CUmodule module = nullptr;
  CHECK_EQUAL(cuModuleLoadData(&module, ptx.c_str()), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 4 * kMiB + 512);
  CUdeviceptr room = 0;
  size_t bytes = 0;
  CHECK_EQUAL(cuModuleGetGlobal_v2(&room, &bytes, module, "word"), CUDA_SUCCESS);
  CHECK_EQUAL(bytes, size_t{4});
  CHECK_EQUAL(cuModuleGetGlobal_v2(&room, &bytes, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  CHECK_EQUAL(cuModuleGetGlobal_v2(&room, &bytes, module, "room"), CUDA_SUCCESS);
  CHECK_EQUAL(bytes, 4 * kMiB);
  CHECK_EQUAL(cuMemFree_v2(room), CUDA_ERROR_INVALID_VALUE);
  unsigned word = 0;
  CHECK_EQUAL(cuMemsetD32_v2(room + 4 * kMiB - 4, 77, 1), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyDtoH_v2(&word, room + 4 * kMiB - 4, 4), CUDA_SUCCESS);
  CHECK_EQUAL(word, 77u);
  CHECK_EQUAL(cuModuleUnload(module), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);
  std::string large = ptx;
  large.replace(large.find("4194304"), 7, "900000000000");
  CHECK_EQUAL(cuModuleLoadData(&module, large.c_str()), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(free_bytes(), before);
}

void graph_memory() {
  enter_primary();
  const size_t before = free_bytes();
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS_v1 wanted = {};
  wanted.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  wanted.bytesize = 8 * kMiB;
  CHECK_EQUAL(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);
  CHECK_EQUAL(cuMemsetD8_v2(wanted.dptr, 1, 1), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuGraphLaunch(executable, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 8 * kMiB);
  CHECK_EQUAL(cuGraphLaunch(executable, nullptr), CUDA_ERROR_INVALID_VALUE);  // already allocated
  CHECK_EQUAL(cuMemsetD8_v2(wanted.dptr, 1, 8 * kMiB), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFreeAsync(wanted.dptr, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 8 * kMiB);  // kept for the next launch
  CHECK_EQUAL(cuGraphLaunch(executable, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 8 * kMiB);
  CHECK_EQUAL(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphDestroy(graph), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(wanted.dptr, 1, 8 * kMiB), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFree_v2(wanted.dptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);

  wanted.bytesize = before + 1;
  CHECK_EQUAL(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuGraphLaunch(executable, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(free_bytes(), before);
}

// The memory counts until the last of its handles and mappings is gone, even if the creating handle goes first.
void own_handle() {
  enter_primary();
  const size_t before = free_bytes();
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle made = 0, imported = 0;
  int file = -1;
  CHECK_EQUAL(cuMemCreate(&made, 2 * kMiB, &properties, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemExportToShareableHandle(&file, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_SUCCESS);
  void* descriptor = reinterpret_cast<void*>(static_cast<intptr_t>(file));
  CHECK_EQUAL(cuMemImportFromShareableHandle(&imported, descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_SUCCESS);
  close(file);
  CHECK_EQUAL(cuMemRelease(made), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 2 * kMiB);
  CHECK_EQUAL(cuMemRelease(imported), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);

  CUmemoryPool pool = nullptr;
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemAllocFromPoolAsync(&address, 40 * kMiB, pool, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(before - free_bytes(), 64 * kMiB);
  CHECK_EQUAL(cuMemAllocFromPoolAsync(&address, 40 * kMiB, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK_EQUAL(free_bytes(), before);
}

}  // namespace test
