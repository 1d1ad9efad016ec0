#include "sim/work/module.h"

#include <algorithm>
#include <map>

#include "sim/clock.h"
#include "sim/exports.h"
#include "sim/memory/allocation.h"
#include "sim/settings.h"
#include "sim/work/compilation_cache.h"
#include "sim/work/context.h"
#include "sim/work/ptx.h"

namespace gvb::sim {
namespace {

struct Global {
  abi::CUdeviceptr address;
  size_t bytes;
};

struct Module {
  std::map<std::string, abi::CUfunction> functions;
  std::map<std::string, Global> globals;
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

void write_log(const std::string& text, unsigned count, const abi::CUjit_option* options, void** values) {
  char* buffer = nullptr;
  size_t size = 0;
  void** size_value = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == abi::CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[i]);
    if (options[i] != abi::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) continue;
    size = static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[i]));
    size_value = &values[i];
  }
  if (buffer == nullptr || size == 0) return;
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
  *size_value = reinterpret_cast<void*>(length);  // as the driver does: the length written
}

void free_globals(Module* module) {
  for (const auto& [name, global] : module->globals)
    if (const auto block = remove_block(global.address)) free_block(*block);
  module->globals.clear();
}

abi::CUresult make_globals(Context* context, const Ptx& ptx, Module* module) {
  for (const PtxGlobal& wanted : ptx.globals) {
    abi::CUdeviceptr address = 0;
    const abi::CUresult code = allocate_device(context, wanted.bytes, BlockKind::kGlobal, &address);
    if (code != abi::CUDA_SUCCESS) {
      free_globals(module);
      return code;
    }
    module->globals[wanted.name] = {address, wanted.bytes};
  }
  return abi::CUDA_SUCCESS;
}

abi::CUresult load(Context* context, abi::CUmodule* handle, const void* image, std::string* log) {
  if (handle == nullptr || image == nullptr) return abi::CUDA_ERROR_INVALID_VALUE;
  if (is_compilation_disabled()) return abi::CUDA_ERROR_JIT_COMPILATION_DISABLED;
  if (settings().jit == 0) {
    *log = "error   : Unable to load library 'libnvidia-ptxjitcompiler.so.1'";
    return abi::CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
  }
  const int64_t cc = card_settings(context->device).cc;
  const Ptx ptx =
      parse_ptx(static_cast<const char*>(image), static_cast<int>(settings().driver_version), static_cast<int>(cc));
  *log = ptx.error;
  if (ptx.code != abi::CUDA_SUCCESS) return ptx.code;
  const bool cached = compiled_before(static_cast<const char*>(image), cc);
  const HostCost cost((cached ? settings().module_cached_ms : settings().module_ms) * 1e6);
  auto module = std::make_unique<Module>();
  if (const abi::CUresult code = make_globals(context, ptx, module.get())) return code;
  for (const PtxEntry& entry : ptx.entries) {
    auto function = std::make_unique<FunctionInfo>();
    function->name = entry.name;
    function->kernel = find_kernel(entry.name);
    function->context = context->handle;
    if (entry.most_threads > 0) function->most_threads = std::min(entry.most_threads, kMaxThreadsPerBlock);
    module->functions[entry.name] = reinterpret_cast<abi::CUfunction>(functions().insert(std::move(function)));
  }
  *handle = reinterpret_cast<abi::CUmodule>(modules().insert(std::move(module)));
  return abi::CUDA_SUCCESS;
}

abi::CUresult unload(uint64_t handle) {
  const auto module = modules().remove(handle);
  if (module == nullptr) return abi::CUDA_ERROR_INVALID_HANDLE;
  for (const auto& entry : module->functions) functions().remove(reinterpret_cast<uint64_t>(entry.second));
  if (!module->globals.empty())
    if (const auto [context, code] = current_context(); code == abi::CUDA_SUCCESS) synchronise(context, nullptr);
  free_globals(module.get());
  return abi::CUDA_SUCCESS;
}

abi::CUresult find_in(uint64_t handle, const char* name, abi::CUfunction* function) {
  const Module* module = modules().find(handle);
  if (module == nullptr) return abi::CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr || name == nullptr) return abi::CUDA_ERROR_INVALID_VALUE;
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return abi::CUDA_ERROR_NOT_FOUND;
  *function = found->second;
  return abi::CUDA_SUCCESS;
}

abi::CUresult function_attribute(int* value, abi::CUfunction_attribute attribute, abi::CUfunction handle) {
  if (value == nullptr) return abi::CUDA_ERROR_INVALID_VALUE;
  const FunctionInfo* function = find_function(handle);
  if (function == nullptr) return abi::CUDA_ERROR_INVALID_HANDLE;
  switch (attribute) {
    case abi::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = function->most_threads;
      return abi::CUDA_SUCCESS;
    case abi::CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = kRegisters;
      return abi::CUDA_SUCCESS;
    case abi::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(function->most_dynamic_shared);
      return abi::CUDA_SUCCESS;
  }
  return abi::CUDA_ERROR_INVALID_VALUE;
}

abi::CUresult set_function_attribute(abi::CUfunction handle, abi::CUfunction_attribute attribute, int value) {
  FunctionInfo* function = find_function(handle);
  if (function == nullptr) return abi::CUDA_ERROR_INVALID_HANDLE;
  if (attribute != abi::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      static_cast<size_t>(value) > most_shared_bytes(card_of(*function)))
    return abi::CUDA_ERROR_INVALID_VALUE;
  function->most_dynamic_shared = static_cast<unsigned>(value);
  return abi::CUDA_SUCCESS;
}

// A library is loaded for one context, so its kernel is that context's function.
abi::CUfunction function_of(abi::CUkernel kernel) { return reinterpret_cast<abi::CUfunction>(kernel); }

}  // namespace

FunctionInfo* find_function(abi::CUfunction handle) { return functions().find(reinterpret_cast<uint64_t>(handle)); }

const CardSettings& card_of(const FunctionInfo& function) {
  const Context* context = contexts().find(reinterpret_cast<uint64_t>(function.context));
  return card_settings(context == nullptr ? 0 : context->device);
}

size_t reserved_shared_bytes(const CardSettings& card) { return card.cc >= 80 ? 1024 : 0; }

int max_active_blocks(const CardSettings& card, int threads, size_t shared_bytes) {
  if (threads > kMaxThreadsPerBlock || shared_bytes > most_shared_bytes(card)) return 0;
  const int warp_threads = (threads + 31) / 32 * 32;
  const int64_t by_threads =
      std::min({card.blocks, card.threads / warp_threads, card.registers / (int64_t{kRegisters} * warp_threads)});
  const size_t of_block = shared_bytes + reserved_shared_bytes(card);
  const auto all = static_cast<size_t>(card.shared_kib) * 1024;
  return static_cast<int>(of_block == 0 ? by_threads : std::min(by_threads, static_cast<int64_t>(all / of_block)));
}

Slots taken_by_block(const CardSettings& card, int threads, size_t shared_bytes) {
  const int64_t warp_threads = (threads + 31) / 32 * 32;
  const auto part = [](auto taken, auto all) { return static_cast<double>(taken) / static_cast<double>(all); };
  return {part(warp_threads, card.threads), part(kRegisters * warp_threads, card.registers),
          part(shared_bytes + reserved_shared_bytes(card), card.shared_kib * 1024), part(1, card.blocks)};
}

}  // namespace gvb::sim

namespace gvb::abi {

CUresult cuModuleLoadDataEx(CUmodule* handle, const void* image, unsigned count, CUjit_option* options, void** values) {
  GVB_SIM_ENTER_CONTEXT(cuModuleLoadDataEx);
  if (count > 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  std::string log;
  const CUresult result = sim::load(context, handle, image, &log);
  sim::write_log(log, count, options, values);
  return result;
}

CUresult cuModuleLoadData(CUmodule* handle, const void* image) {
  GVB_SIM_ENTER_CONTEXT(cuModuleLoadData);
  std::string log;
  return sim::load(context, handle, image, &log);
}

CUresult cuModuleUnload(CUmodule handle) {
  GVB_SIM_ENTER(cuModuleUnload);
  return sim::unload(reinterpret_cast<uint64_t>(handle));
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule handle, const char* name) {
  GVB_SIM_ENTER_CONTEXT(cuModuleGetGlobal_v2);
  const sim::Module* module = sim::modules().find(reinterpret_cast<uint64_t>(handle));
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto found = module->globals.find(name);
  if (found == module->globals.end()) return CUDA_ERROR_NOT_FOUND;
  if (address != nullptr) *address = found->second.address;
  if (bytes != nullptr) *bytes = found->second.bytes;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  GVB_SIM_ENTER_CONTEXT(cuModuleGetFunction);
  return sim::find_in(reinterpret_cast<uint64_t>(handle), name, function);
}

// Loads a module into the current context; options are not supported.
CUresult cuLibraryLoadData(CUlibrary* handle, const void* image, CUjit_option*, void**, unsigned jit_options,
                           CUlibraryOption*, void**, unsigned options) {
  GVB_SIM_ENTER_CONTEXT(cuLibraryLoadData);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (jit_options != 0 || options != 0) return CUDA_ERROR_NOT_SUPPORTED;
  std::string log;
  CUmodule module = nullptr;
  const CUresult result = sim::load(context, &module, image, &log);
  if (result == CUDA_SUCCESS) *handle = reinterpret_cast<CUlibrary>(module);
  return result;
}

CUresult cuLibraryUnload(CUlibrary handle) {
  GVB_SIM_ENTER(cuLibraryUnload);
  return sim::unload(reinterpret_cast<uint64_t>(handle));
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  GVB_SIM_ENTER_CONTEXT(cuLibraryGetKernel);
  CUfunction function = nullptr;
  const CUresult code = sim::find_in(reinterpret_cast<uint64_t>(handle), name, &function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *kernel = reinterpret_cast<CUkernel>(function);
  return code;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  GVB_SIM_ENTER_CONTEXT(cuKernelGetFunction);
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (sim::find_function(sim::function_of(kernel)) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *function = sim::function_of(kernel);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  GVB_SIM_ENTER(cuKernelGetAttribute);
  return sim::function_attribute(value, attribute, sim::function_of(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
  GVB_SIM_ENTER(cuKernelSetAttribute);
  return sim::set_function_attribute(sim::function_of(kernel), attribute, value);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  GVB_SIM_ENTER(cuModuleGetLoadingMode);
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  GVB_SIM_ENTER(cuFuncGetAttribute);
  return sim::function_attribute(value, attribute, function);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  GVB_SIM_ENTER(cuFuncSetAttribute);
  return sim::set_function_attribute(function, attribute, value);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t shared_bytes) {
  GVB_SIM_ENTER_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  if (blocks == nullptr || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  const sim::FunctionInfo* known = sim::find_function(function);
  if (known == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const bool may_have = shared_bytes <= known->most_dynamic_shared;
  const sim::CardSettings& card = sim::card_settings(context->device);
  const int64_t most = may_have ? sim::max_active_blocks(card, threads, shared_bytes) : 0;
  *blocks = static_cast<int>(most > 0 ? std::max<int64_t>(1, most * card.occupancy_percent / 100) : 0);
  return CUDA_SUCCESS;
}

}  // namespace gvb::abi
