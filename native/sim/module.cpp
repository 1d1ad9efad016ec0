#include "sim/module.h"

#include <algorithm>
#include <map>

#include "sim/clock.h"
#include "sim/compilation_cache.h"
#include "sim/context.h"
#include "sim/exports.h"
#include "sim/ptx.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

constexpr int kMaxThreadsPerMultiprocessor = 2048;
constexpr int kMaxBlocksPerMultiprocessor = 32;
constexpr size_t kSharedPerMultiprocessor = 228 * 1024;
constexpr size_t kSharedReservedPerBlock = 1024;
constexpr int kRegisters = 16;

struct Module {
  std::map<std::string, abi::CUfunction> functions;
};

using ModuleTable = HandleTable<Module, 0x15>;
using FunctionTable = HandleTable<FunctionInfo, 0x16>;

ModuleTable& modules() {
  static ModuleTable& table = *new ModuleTable;
  return table;
}

FunctionTable& functions() {
  static FunctionTable& table = *new FunctionTable;
  return table;
}

void writeLog(const std::string& text, unsigned count, const abi::CUjit_option* options, void** values) {
  char* buffer = nullptr;
  size_t size = 0;
  void** sizeValue = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == abi::CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[i]);
    if (options[i] != abi::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) continue;
    size = static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[i]));
    sizeValue = &values[i];
  }
  if (buffer == nullptr || size == 0) return;
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
  *sizeValue = reinterpret_cast<void*>(length);  // as the driver does: what it has written
}

abi::CUresult load(Context* context, abi::CUmodule* handle, const void* image, std::string* log) {
  if (handle == nullptr || image == nullptr) return abi::CUDA_ERROR_INVALID_VALUE;
  const Ptx ptx = parsePtx(static_cast<const char*>(image), static_cast<int>(settings().driver_version),
                           static_cast<int>(settings().cc));
  *log = ptx.error;
  if (ptx.code != abi::CUDA_SUCCESS) return ptx.code;
  const bool cached = compiledBefore(static_cast<const char*>(image));
  const HostCost cost((cached ? settings().module_cached_ms : settings().module_ms) * 1e6);
  auto module = std::make_unique<Module>();
  for (const std::string& name : ptx.entries) {
    auto function = std::make_unique<FunctionInfo>(FunctionInfo{name, findKernel(name), context->handle});
    module->functions[name] = reinterpret_cast<abi::CUfunction>(functions().insert(std::move(function)));
  }
  *handle = reinterpret_cast<abi::CUmodule>(modules().insert(std::move(module)));
  return abi::CUDA_SUCCESS;
}

}  // namespace

FunctionInfo* findFunction(abi::CUfunction handle) { return functions().find(reinterpret_cast<uint64_t>(handle)); }

int maxActiveBlocks(int threads, size_t sharedBytes) {
  if (threads > kMaxThreadsPerBlock || sharedBytes > kMaxSharedBytes) return 0;
  const int warpThreads = (threads + 31) / 32 * 32;
  const int byThreads = std::min(kMaxBlocksPerMultiprocessor, kMaxThreadsPerMultiprocessor / warpThreads);
  return std::min(byThreads, static_cast<int>(kSharedPerMultiprocessor / (sharedBytes + kSharedReservedPerBlock)));
}

}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuModuleLoadDataEx(CUmodule* handle, const void* image, unsigned count, CUjit_option* options, void** values) {
  GVB_SIM_ENTER_CONTEXT(cuModuleLoadDataEx);
  if (count > 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  std::string log;
  const CUresult result = sim::load(context, handle, image, &log);
  sim::writeLog(log, count, options, values);
  return result;
}

CUresult cuModuleLoadData(CUmodule* handle, const void* image) {
  GVB_SIM_ENTER_CONTEXT(cuModuleLoadData);
  std::string log;
  return sim::load(context, handle, image, &log);
}

CUresult cuModuleUnload(CUmodule handle) {
  GVB_SIM_ENTER(cuModuleUnload);
  const auto module = sim::modules().remove(reinterpret_cast<uint64_t>(handle));
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& entry : module->functions) sim::functions().remove(reinterpret_cast<uint64_t>(entry.second));
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  GVB_SIM_ENTER_CONTEXT(cuModuleGetFunction);
  const sim::Module* module = sim::modules().find(reinterpret_cast<uint64_t>(handle));
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return CUDA_ERROR_NOT_FOUND;
  *function = found->second;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  GVB_SIM_ENTER(cuModuleGetLoadingMode);
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  GVB_SIM_ENTER(cuFuncGetAttribute);
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::findFunction(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = sim::kMaxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = sim::kRegisters;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t sharedBytes) {
  GVB_SIM_ENTER_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  if (blocks == nullptr || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (sim::findFunction(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *blocks = sim::maxActiveBlocks(threads, sharedBytes);
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
