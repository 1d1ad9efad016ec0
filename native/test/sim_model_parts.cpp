// Cards of real models: what they say of themselves, and the limits that the driver enforces on them.
#include <cstring>

#include "sim_parts.h"

namespace test {

namespace {

int attribute(CUdevice_attribute which, CUdevice device = 0) {
  int value = -99;
  CHECK_EQUAL(cuDeviceGetAttribute(&value, which, device), CUDA_SUCCESS);
  return value;
}

std::string name_of(CUdevice device) {
  char name[96] = {};
  CHECK_EQUAL(cuDeviceGetName(name, sizeof name, device), CUDA_SUCCESS);
  return name;
}

std::string nvml_name_of(unsigned index) {
  char name[96] = {};
  nvmlDevice_t handle = nullptr;
  CHECK_EQUAL(nvmlInit_v2(), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(index, &handle), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetName(handle, name, sizeof name), NVML_SUCCESS);
  return name;
}

long long mebibytes(CUdevice device) {
  size_t bytes = 0;
  CHECK_EQUAL(cuDeviceTotalMem_v2(&bytes, device), CUDA_SUCCESS);
  return static_cast<long long>(bytes >> 20);
}

CUresult load(const char* version, const char* target, char (&log)[200]) {
  const std::string text = std::string(".version ") + version + "\n.target " + target +
                           "\n.address_size 64\n.visible .entry gvb_empty() { ret; }\n";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  std::memset(log, 0, sizeof log);
  return cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
}

CUresult launch_empty(unsigned threads, unsigned shared_bytes) {
  return cuLaunchKernel(kernel("gvb_empty"), 1, 1, 1, threads, 1, 1, shared_bytes, nullptr, nullptr, nullptr);
}

int resident(int threads, size_t shared_bytes) {
  int blocks = -1;
  CHECK_EQUAL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("gvb_empty"), threads, shared_bytes),
              CUDA_SUCCESS);
  return blocks;
}

bool refused_with(const char* text) {
  CHECK_EQUAL(cuInit(0), CUDA_ERROR_INVALID_VALUE);
  return gvbSimError() != nullptr && std::strstr(gvbSimError(), text) != nullptr;
}

}  // namespace

void model() {
  enter_primary();
  CHECK(name_of(0) == "NVIDIA GeForce RTX 5090" && nvml_name_of(0) == "NVIDIA GeForce RTX 5090");
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 12);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 170);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), 1536);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 99 * 1024);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), 100 * 1024);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK), 1024);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED), 0);
  CHECK_EQUAL(mebibytes(0), 32607);
  // One block of 1024 threads, or three of 512, are resident.
  CHECK_EQUAL(resident(1024, 0), 1);
  CHECK_EQUAL(resident(512, 0), 3);
  CHECK_EQUAL(resident(32, 0), 24);
}

void model_limits() {
  enter_primary();
  const CUfunction empty = kernel("gvb_empty");
  const auto most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  CHECK_EQUAL(launch_empty(32, 60 * 1024), CUDA_ERROR_INVALID_VALUE);
  // More than the kernel may have: no block, without an error.
  CHECK_EQUAL(resident(32, 60 * 1024), 0);
  CHECK_EQUAL(cuFuncSetAttribute(empty, most, 99 * 1024 + 1), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuFuncSetAttribute(empty, most, 99 * 1024), CUDA_SUCCESS);
  CHECK_EQUAL(launch_empty(32, 99 * 1024), CUDA_SUCCESS);
  CHECK_EQUAL(launch_empty(32, 99 * 1024 + 4), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(resident(32, 49 * 1024), 2);
  CHECK_EQUAL(resident(32, 50 * 1024), 1);
  CHECK_EQUAL(launch_empty(1025, 0), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(launch_empty(1024, 0), CUDA_SUCCESS);
}

// Each thread has 16 registers here.
void few_registers() {
  enter_primary();
  CHECK_EQUAL(launch_empty(512, 0), CUDA_SUCCESS);
  CHECK_EQUAL(launch_empty(544, 0), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  CHECK_EQUAL(resident(256, 0), 2);
  CHECK_EQUAL(resident(544, 0), 0);
}

void bounded_kernel() {
  enter_primary();
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const char* text =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry gvb_empty()\n.maxntid 128, 1, 1\n{ ret; }\n";
  CHECK_EQUAL(cuModuleLoadData(&module, text), CUDA_SUCCESS);
  CHECK_EQUAL(cuModuleGetFunction(&function, module, "gvb_empty"), CUDA_SUCCESS);
  int threads = 0;
  CHECK_EQUAL(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function), CUDA_SUCCESS);
  CHECK_EQUAL(threads, 128);
  const auto by = [&](unsigned of_block) {
    return cuLaunchKernel(function, 1, 1, 1, of_block, 1, 1, 0, nullptr, nullptr, nullptr);
  };
  CHECK_EQUAL(by(128), CUDA_SUCCESS);
  CHECK_EQUAL(by(256), CUDA_ERROR_INVALID_VALUE);
}

// Settings before and after `card` change what the model says; card@1 is another model.
void overridden_model() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CHECK(nvml_name_of(0) == "NVIDIA L4" && nvml_name_of(1) == "NVIDIA A10");
  const int first = name_of(0) == "NVIDIA L4" ? 0 : 1;
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, first), 50);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1 - first), 50);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, first), 9);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1 - first), 6);
  CHECK_EQUAL(mebibytes(first), 23034);
  CHECK_EQUAL(mebibytes(1 - first), 1000);
}

void model_mig() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CHECK(name_of(0) == "NVIDIA A100-SXM4-40GB MIG 1g.10gb");
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 14);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT), 1);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE), 10 << 20);
  CHECK_EQUAL(mebibytes(0), 9984);
}

void integrated_model() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CHECK_EQUAL(attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED), 1);
  nvmlDevice_t handle = nullptr;
  nvmlMemory_t memory = {};
  CHECK_EQUAL(nvmlInit_v2(), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(0, &handle), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetMemoryInfo(handle, &memory), NVML_ERROR_NOT_SUPPORTED);
}

// Driver 525 is of CUDA 12.0, which brought PTX 8.0.
void refused_ptx() {
  enter_primary();
  char log[200];
  int version = 0;
  CHECK_EQUAL(cuDriverGetVersion(&version), CUDA_SUCCESS);
  CHECK_EQUAL(version, 12000);
  CHECK_EQUAL(load("8.0", "sm_89", log), CUDA_SUCCESS);
  CHECK_EQUAL(load("8.4", "sm_89", log), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CHECK(std::strstr(log, "Unsupported .version 8.4; current version is '8.0'") != nullptr);
  CHECK_EQUAL(load("8.0", "sm_90", log), CUDA_ERROR_INVALID_PTX);
  CHECK(std::strstr(log, "SM version specified by .target is higher") != nullptr);
  setenv("CUDA_DISABLE_PTX_JIT", "1", 1);
  CHECK_EQUAL(load("8.0", "sm_89", log), CUDA_ERROR_JIT_COMPILATION_DISABLED);
}

// Code of sm_90a runs on no later GPU.
void later_model() {
  enter_primary();
  char log[200];
  CHECK_EQUAL(load("8.0", "sm_90", log), CUDA_SUCCESS);
  CHECK_EQUAL(load("8.0", "sm_90a", log), CUDA_ERROR_INVALID_PTX);
}

void no_compiler() {
  enter_primary();
  char log[200];
  CHECK_EQUAL(load("7.0", "sm_75", log), CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
  CHECK(std::strstr(log, "libnvidia-ptxjitcompiler.so.1") != nullptr);
}

void refused_model() { CHECK(refused_with("card to be a model out of gtx-1650-4gb, rtx-3080-10gb, l4")); }
void refused_profile() { CHECK(refused_with("profiles of instances out of 1g.10gb, 1g.20gb")); }
void without_mig() { CHECK(refused_with("NVIDIA L4 has no MIG")); }
void refused_branch() { CHECK(refused_with("driver to be a branch of drivers out of 450")); }

}  // namespace test
