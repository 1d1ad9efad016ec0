#include <cmath>
#include <cstring>

#include "sim_parts.h"

namespace test {

void refused_key() {
  CHECK(gvbSimError() == nullptr);
  CHECK_EQUAL(cuInit(0), CUDA_ERROR_INVALID_VALUE);
  CHECK(gvbSimError() != nullptr && std::strstr(gvbSimError(), "but received 'lunch_ns'.") != nullptr);
  CHECK_EQUAL(nvmlInit_v2(), NVML_ERROR_INVALID_ARGUMENT);
}

void refused_region() {
  enter_primary();
  CHECK_EQUAL(run_part("mismatched", GVB_FAST ",launch_ns=1", own_region()), 0);
}

void contexts() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CHECK_EQUAL(cuCtxGetDevice(&device), CUDA_ERROR_NOT_INITIALIZED);
  CHECK_EQUAL(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
  CHECK_EQUAL(cuCtxSetCurrent(reinterpret_cast<CUcontext>(&device)), CUDA_ERROR_INVALID_CONTEXT);
  unsigned flags = 9;
  int active = 9;
  CHECK_EQUAL(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  CHECK_EQUAL(active, 0);
  CHECK_EQUAL(cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  CHECK_EQUAL(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  CUcontext same = nullptr;
  CHECK_EQUAL(cuDevicePrimaryCtxRetain(&same, 0), CUDA_SUCCESS);
  CHECK(same == context);
  CHECK_EQUAL(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  CHECK(active == 1 && flags == CU_CTX_SCHED_SPIN);
  CHECK_EQUAL(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  CHECK_EQUAL(flags, CU_CTX_SCHED_SPIN);
  CUcontext second = nullptr;
  CHECK_EQUAL(cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
  CUstream stream = nullptr;
  CHECK_EQUAL(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamSynchronize(stream), CUDA_SUCCESS);
  CHECK_EQUAL(cuStreamSynchronize(reinterpret_cast<CUstream>(0x1234)), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuCtxDestroy_v2(second), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxDestroy_v2(second), CUDA_ERROR_INVALID_CONTEXT);
  CHECK_EQUAL(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  CHECK_EQUAL(cuCtxGetCurrent(&same), CUDA_SUCCESS);
  CHECK(same == context);
  CHECK_EQUAL(cuCtxGetDevice(&device), CUDA_SUCCESS);
  CHECK_EQUAL(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxGetDevice(&device), CUDA_SUCCESS);
  CHECK_EQUAL(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxGetDevice(&device), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK_EQUAL(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  CHECK_EQUAL(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxPopCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  CHECK_EQUAL(cuDevicePrimaryCtxRetain(&context, 7), CUDA_ERROR_INVALID_DEVICE);
  const char* name = nullptr;
  CHECK_EQUAL(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &name), CUDA_SUCCESS);
  CHECK(std::strcmp(name, "CUDA_ERROR_INVALID_PTX") == 0);
  CHECK_EQUAL(cuGetErrorString(12345, &name), CUDA_ERROR_INVALID_VALUE);
}

void proc_address() {
  void* address = nullptr;
  CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SUCCESS;
#define GVB_CUDA(name, base, version, params)                                          \
  CHECK_EQUAL(cuGetProcAddress_v2(base, &address, version, 0, &result), CUDA_SUCCESS); \
  CHECK(address == reinterpret_cast<void*>(test::name));
#include "driver/cuda_functions.inc"
#include "sim/extra_functions.inc"
#undef GVB_CUDA
  CHECK_EQUAL(cuGetProcAddress_v2("cuMemAllocAsync", &address, 11010, 0, &result), CUDA_ERROR_NOT_FOUND);
  CHECK_EQUAL(result, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CHECK(address == nullptr);
  CHECK_EQUAL(cuGetProcAddress_v2("cuMemAlloc_v2", &address, 12000, 0, &result), CUDA_ERROR_NOT_FOUND);
  CHECK_EQUAL(result, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK_EQUAL(cuGetProcAddress("cuInit", &address, 12000, 0), CUDA_SUCCESS);
}

void old_driver() {
  int version = 0;
  CHECK_EQUAL(cuDriverGetVersion(&version), CUDA_SUCCESS);
  CHECK_EQUAL(version, 11040);
  void* address = nullptr;
  CHECK(cuGetProcAddress_v2 == nullptr);
  CHECK_EQUAL(cuGetProcAddress("cuLaunchKernelEx", &address, 12000, 0), CUDA_ERROR_NOT_FOUND);
  CHECK_EQUAL(cuGetProcAddress("cuLaunchKernel", &address, 12000, 0), CUDA_SUCCESS);
}

void failures_() {
  enter_primary();
  CUdeviceptr address = 0;
  CUdevice device = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&address, 1), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemAlloc_v2(&address, 1), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(cuMemAlloc_v2(&address, 1), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(cuCtxGetDevice(&device), CUDA_ERROR_LAUNCH_FAILED);
}

void ptx() {
  enter_primary();
  const std::string good = kPtx;
  const auto load = [](const std::string& text) {
    CUmodule module = nullptr;
    const CUresult result = cuModuleLoadData(&module, text.c_str());
    if (result == CUDA_SUCCESS) CHECK_EQUAL(cuModuleUnload(module), CUDA_SUCCESS);
    return result;
  };
  const auto with = [&](const char* from, const char* to) {
    std::string text = good;
    return text.replace(text.find(from), std::strlen(from), to);
  };
  CHECK_EQUAL(load(good), CUDA_SUCCESS);
  CHECK_EQUAL(load(good.substr(0, good.size() - 3)), CUDA_ERROR_INVALID_PTX);
  CHECK_EQUAL(load(with(".version 7.0", "")), CUDA_ERROR_INVALID_PTX);
  CHECK_EQUAL(load(with(".version 7.0", ".version 9.1")), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CHECK_EQUAL(load(with(".version 7.0", ".version 9.0")), CUDA_SUCCESS);
  CHECK_EQUAL(load(with("sm_75", "sm_100")), CUDA_ERROR_INVALID_PTX);
  CHECK_EQUAL(load(with("sm_75", "sm_90a")), CUDA_SUCCESS);
  CHECK_EQUAL(load("\177ELF"), CUDA_ERROR_INVALID_IMAGE);
  CHECK_EQUAL(load("hello"), CUDA_ERROR_INVALID_IMAGE);

  char log[100] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  CHECK_EQUAL(cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_75\n", 2, options, values), CUDA_ERROR_INVALID_PTX);
  CHECK(std::strstr(log, "at least one .entry") != nullptr);
  CHECK_EQUAL(cuModuleLoadDataEx(&module, kPtx, 0, nullptr, nullptr), CUDA_SUCCESS);
  CUfunction function = nullptr;
  CHECK_EQUAL(cuModuleGetFunction(&function, module, "absent"), CUDA_ERROR_NOT_FOUND);
  CHECK_EQUAL(cuModuleGetFunction(&function, module, "gvb_mix"), CUDA_SUCCESS);
  int blocks = 0;
  CHECK_EQUAL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0), CUDA_SUCCESS);
  CHECK_EQUAL(blocks, 8);
  CHECK_EQUAL(cuFuncGetAttribute(&blocks, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function), CUDA_SUCCESS);
  CHECK_EQUAL(blocks, 1024);
  CHECK_EQUAL(cuModuleUnload(module), CUDA_SUCCESS);
  CHECK_EQUAL(launch(function, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

void device() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  int count = 0;
  CHECK_EQUAL(cuDeviceGetCount(&count), CUDA_SUCCESS);
  CHECK_EQUAL(count, 2);
  const auto attribute = [](CUdevice_attribute which) {
    int value = -99;
    CHECK_EQUAL(cuDeviceGetAttribute(&value, which, 1), CUDA_SUCCESS);
    return value;
  };
  const double clock = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const double width = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  CHECK_NEAR(2 * clock * 1e3 * width / 8 / 1e9, 3350, 0.01);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MPS_ENABLED), 1);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 8);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 6);
  int value = 0;
  CHECK_EQUAL(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 2), CUDA_ERROR_INVALID_DEVICE);
  char name[64] = {};
  CHECK_EQUAL(cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  CHECK(std::strcmp(name, "Simulated GPU (gpu-virt-bench)") == 0);
  CHECK_EQUAL(cuDeviceGetPCIBusId(name, sizeof name, 1), CUDA_SUCCESS);
  CUdevice found = -1;
  CHECK_EQUAL(cuDeviceGetByPCIBusId(&found, name), CUDA_SUCCESS);
  CHECK_EQUAL(found, 1);

  CUuuid uuid = {};
  CHECK_EQUAL(cuDeviceGetUuid_v2(&uuid, 1), CUDA_SUCCESS);
  CHECK_EQUAL(nvmlInit_v2(), NVML_SUCCESS);
  nvmlDevice_t handle = nullptr;
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(1, &handle), NVML_SUCCESS);
  char text[96] = {};
  CHECK_EQUAL(nvmlDeviceGetUUID(handle, text, sizeof text), NVML_SUCCESS);
  std::string expected = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", unsigned(static_cast<unsigned char>(uuid.bytes[i])));
    expected += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  CHECK(expected == text);
  nvmlDevice_t again = nullptr;
  CHECK_EQUAL(nvmlDeviceGetHandleByUUID(text, &again), NVML_SUCCESS);
  CHECK(again == handle);
}

void nvmlAlone() {
  unsigned value = 0;
  CHECK_EQUAL(nvmlDeviceGetCount_v2(&value), NVML_ERROR_UNINITIALIZED);
  CHECK_EQUAL(nvmlInit_v2(), NVML_SUCCESS);
  nvmlDevice_t device = nullptr;
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(1, &device), NVML_ERROR_INVALID_ARGUMENT);
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetMigMode(device, &value, &value), NVML_ERROR_NOT_SUPPORTED);
  unsigned long long reasons = 1;
  CHECK_EQUAL(nvmlDeviceGetCurrentClocksEventReasons(device, &reasons), NVML_SUCCESS);
  CHECK_EQUAL(reasons, 0ULL);
  value = 0;
  CHECK_EQUAL(nvmlDeviceGetComputeRunningProcesses_v3(device, &value, nullptr), NVML_SUCCESS);
  CHECK_EQUAL(value, 0u);
  CHECK_EQUAL(nvmlDeviceGetClockInfo(device, NVML_CLOCK_MEM, &value), NVML_SUCCESS);
  CHECK_EQUAL(value, 3125u);
  CHECK_EQUAL(nvmlDeviceGetPowerUsage(device, &value), NVML_SUCCESS);
  CHECK_EQUAL(value, 120000u);
  unsigned long long energy = 0, later = 0;
  CHECK_EQUAL(nvmlDeviceGetTotalEnergyConsumption(device, &energy), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetPcieThroughput(device, NVML_PCIE_UTIL_RX_BYTES, &value), NVML_SUCCESS);
  CHECK_EQUAL(value, 0u);
  CHECK_EQUAL(nvmlDeviceGetPcieThroughput(device, static_cast<nvmlPcieUtilCounter_t>(2), &value),
              NVML_ERROR_INVALID_ARGUMENT);
  // 20 ms have passed in between: 2.4 J, of which each reading leaves out what is less than a mJ.
  CHECK_EQUAL(nvmlDeviceGetTotalEnergyConsumption(device, &later), NVML_SUCCESS);
  CHECK(later + 1 >= energy + 2400);
  nvmlFieldValue_t fields[2] = {};
  fields[0].fieldId = NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX;
  fields[0].scopeId = kAllNvLinks;
  fields[1].fieldId = 1;
  CHECK_EQUAL(nvmlDeviceGetFieldValues(device, 2, fields), NVML_SUCCESS);
  CHECK_EQUAL(fields[0].nvmlReturn, NVML_SUCCESS);
  CHECK_EQUAL(fields[0].value.ullVal, 0ULL);
  CHECK_EQUAL(fields[1].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
  nvmlPciInfo_t pci = {};
  CHECK_EQUAL(nvmlDeviceGetPciInfo_v3(device, &pci), NVML_SUCCESS);
  CHECK(std::strcmp(pci.busId, "00000000:01:00.0") == 0);
  CHECK_EQUAL(nvmlShutdown(), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetIndex(device, &value), NVML_ERROR_UNINITIALIZED);
}

}  // namespace test
