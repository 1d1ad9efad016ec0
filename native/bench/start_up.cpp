#include "bench/start_up.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bench/gpu_state.h"
#include "driver/clock.h"
#include "kernels/ptx.h"

namespace gvb {

using abi::CUdevice;
using abi::CUdeviceptr;

namespace {

constexpr unsigned kWords = 1024;
constexpr unsigned kSeed = 12345;

class Lap {
 public:
  double next() {
    const int64_t now = now_ns();
    const double elapsed = static_cast<double>(now - last_);
    last_ = now;
    return elapsed;
  }
  int64_t at() const { return last_; }

 private:
  int64_t last_ = now_ns();
};

// The primary context, or one of cuCtxCreate; both current on return and gone on destruction.
class StartedContext {
 public:
  StartedContext(const Cuda& cuda, CUdevice device, ContextApi api) : cuda_(cuda), device_(device), api_(api) {
    if (api == ContextApi::kCreate) {
      GVB_CALL(cuda, "creating a context", cuCtxCreate_v2, &context_, 0, device);
    } else {
      GVB_CALL(cuda, "creating the primary context", cuDevicePrimaryCtxRetain, &context_, device);
      const abi::CUresult entered = cuda.require(cuda.api.cuCtxSetCurrent, "cuCtxSetCurrent")(context_);
      if (entered != abi::CUDA_SUCCESS) cuda.api.cuDevicePrimaryCtxRelease_v2(device);
      cuda.check(entered, "cuCtxSetCurrent", "entering the primary context");
    }
  }
  ~StartedContext() {
    if (api_ == ContextApi::kCreate) {
      cuda_.api.cuCtxDestroy_v2(context_);
    } else {
      cuda_.api.cuCtxSetCurrent(nullptr);
      cuda_.api.cuDevicePrimaryCtxRelease_v2(device_);
    }
  }
  StartedContext(const StartedContext&) = delete;
  StartedContext& operator=(const StartedContext&) = delete;

 private:
  const Cuda& cuda_;
  const CUdevice device_;
  const ContextApi api_;
  abi::CUcontext context_ = nullptr;
};

void launch_mix(const Cuda& cuda, abi::CUfunction kernel, CUdeviceptr words) {
  unsigned count = kWords, seed = kSeed;
  void* parameters[] = {&words, &count, &seed};
  GVB_CALL(cuda, "launching the first kernel", cuLaunchKernel, kernel, 4, 1, 1, 256, 1, 1, 0, nullptr, parameters,
           nullptr);
}

bool mixed_correctly(const std::array<uint32_t, kWords>& words) {
  for (uint32_t i = 0; i < kWords; ++i)
    if (words[i] != (i + kSeed) * 2654435761u) return false;
  return true;
}

std::optional<std::vector<unsigned>> process_ids(const Driver& driver, abi::nvmlDevice_t device) {
  const auto processes = gpu_processes(driver.nvml.api, device);
  if (!processes) return std::nullopt;
  std::vector<unsigned> ids;
  for (const GpuProcess& process : *processes) ids.push_back(process.pid);
  return ids;
}

bool contains(const std::optional<std::vector<unsigned>>& ids, unsigned pid) {
  return ids && std::find(ids->begin(), ids->end(), pid) != ids->end();
}

void time_first_work(const Cuda& cuda, Lap& lap, StartUp& out) {
  const Module module(cuda, gvb_ptx_base);
  const abi::CUfunction kernel = module.function("gvb_mix");
  out.module_ns = lap.next();
  const DeviceMemory words = make_memory(cuda, kWords * sizeof(uint32_t));
  out.first_alloc_ns = lap.next();
  launch_mix(cuda, kernel, words.get());
  std::array<uint32_t, kWords> result{};
  GVB_CALL(cuda, "reading the first result", cuMemcpyDtoH_v2, result.data(), words.get(), sizeof result);
  out.first_launch_ns = lap.next();
  out.first_result_at_ns = lap.at();
  launch_mix(cuda, kernel, words.get());
  GVB_CALL(cuda, "waiting for the second kernel", cuCtxSynchronize);
  out.second_launch_ns = lap.next();
  out.result_correct = mixed_correctly(result);
}

void recreate_primary(const Cuda& cuda, CUdevice device, const Driver& driver, abi::nvmlDevice_t nvml, unsigned count,
                      const CancelToken& token, StartUp& out) {
  for (unsigned i = 0; i < count; ++i) {
    token.check();
    Lap lap;
    {
      const StartedContext context(cuda, device, ContextApi::kPrimary);
      out.retain_ns.push_back(lap.next());
      lap.next();
    }
    out.release_ns.push_back(lap.next());
    unsigned flags = 0;
    int active = 0;
    GVB_CALL(cuda, "reading the primary context's state", cuDevicePrimaryCtxGetState, device, &flags, &active);
    out.inactive_between = out.inactive_between && !active;
    if (!out.mps_client && contains(out.processes_during, out.pid))
      out.left_list_between = out.left_list_between.value_or(true) && !contains(process_ids(driver, nvml), out.pid);
  }
}

// Asked past any layer.
std::optional<bool> primary_is_active(const Cuda& bare, CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  const auto state = bare.api.cuDevicePrimaryCtxGetState;
  if (!state || state(device, &flags, &active) != abi::CUDA_SUCCESS) return std::nullopt;
  return active != 0;
}

// Whose functions a program meets in place of the driver's; a layer may hand out the driver's own and yet have been
// asked for them.
std::string interposer_of(const Driver& driver, const Cuda& cuda, const std::string& context_owner) {
  const CudaApi& by_dlsym = driver.cuda(SymbolPath::kDlsym).api;
  const std::string dlsym_owner = owner_of(reinterpret_cast<void*>(static_cast<DlsymFunction>(dlsym)));
  const std::string libc = owner_of(reinterpret_cast<void*>(libc_dlsym()));
  for (const std::string& owner : {owner_of(slot(cuda.api, cuda_function_index("cuInit"))), context_owner,
                                   owner_of(slot(by_dlsym, cuda_function_index("cuGetProcAddress_v2"))), dlsym_owner})
    if (!owner.empty() && owner != driver.libcuda_path && owner != libc) return owner;
  return "";
}

// The context, made and first used: what a program pays before its first result.
std::unique_ptr<StartedContext> time_start(const Driver& driver, const Cuda& cuda, const StartUpRequest& request,
                                           CUdevice& device, DeviceFileLooks& looks, StartUp& out) {
  Lap lap;
  driver.initialise(request.path);
  out.init_ns = lap.next();
  looks.initialised = open_device_files();
  // Choosing by index or UUID asks NVML and every device: not part of a plain program's start.
  device = find_device(driver, cuda, request.device);
  lap.next();
  CUdevice same = 0;
  GVB_CALL(cuda, "opening the device", cuDeviceGet, &same, device);
  out.device_ns = lap.next();
  out.context_was_active = primary_is_active(driver.cuda(SymbolPath::kBare), device);
  lap.next();
  auto context = std::make_unique<StartedContext>(cuda, device, request.context_api);
  out.context_ns = lap.next();
  looks.in_context = open_device_files();
  lap.next();
  time_first_work(cuda, lap, out);
  out.total_ns =
      out.init_ns + out.device_ns + out.context_ns + out.module_ns + out.first_alloc_ns + out.first_launch_ns;
  return context;
}

void describe_context(const Cuda& cuda, ContextApi api, StartUp& out) {
  out.context_function = api == ContextApi::kPrimary ? "cuDevicePrimaryCtxRetain" : "cuCtxCreate_v2";
  out.context_owner = owner_of(slot(cuda.api, cuda_function_index(out.context_function.c_str())));
  abi::CUmoduleLoadingMode mode;
  if (cuda.api.cuModuleGetLoadingMode && cuda.api.cuModuleGetLoadingMode(&mode) == abi::CUDA_SUCCESS)
    out.loading_mode = mode;
}

// NVML is asked before and after, so that the context is seen to come and go.
abi::nvmlDevice_t time_release(const Driver& driver, const Cuda& cuda, CUdevice device,
                               std::unique_ptr<StartedContext> context, StartUp& out) {
  const NvmlApi& api = driver.nvml.api;
  const abi::nvmlDevice_t nvml = nvml_handle(api, device_uuid(cuda, device));
  out.processes_during = process_ids(driver, nvml);
  out.gpu_free_during = read_gpu_state(api, nvml, GpuDetail::kReadings).free_bytes;
  Lap lap;
  context.reset();
  out.first_release_ns = lap.next();
  out.processes_after = process_ids(driver, nvml);
  out.gpu_free_after = read_gpu_state(api, nvml, GpuDetail::kReadings).free_bytes;
  return nvml;
}

}  // namespace

StartUp measure_start_up(const StartUpRequest& request, const CancelToken& token) {
  StartUp out{};
  out.pid = static_cast<unsigned>(getpid());
  // The tool's own need, not a program's: kept out of what is timed.
  DeviceFileLooks looks;
  looks.first = open_device_files();
  Nvml::load(request.simulated_folder);
  out.ready_at_ns = now_ns();
  if (request.start_at_ns) wait_until(*request.start_at_ns, [&] { token.check(); });
  out.began_at_ns = now_ns();
  const Driver& driver = Driver::load(request.simulated_folder);
  out.load_ns = static_cast<double>(driver.load_ns);
  out.resolve_ns = static_cast<double>(driver.resolve_ns);
  looks.before_load = driver.files_before_load;
  looks.loaded = driver.files_loaded;
  looks.resolved = driver.files_resolved;
  const Cuda cuda = driver.cuda(request.path);

  CUdevice device = 0;
  auto context = time_start(driver, cuda, request, device, looks, out);
  describe_context(cuda, request.context_api, out);
  out.initialised_at = initialised_at(looks);
  out.interposer = interposer_of(driver, cuda, out.context_owner);
  out.mps_client = device_attribute(cuda, device, abi::CU_DEVICE_ATTRIBUTE_MPS_ENABLED) == 1;
  if (request.keep) {
    // Left to the process's end: at the exit the driver may be gone before.
    static_cast<void>(context.release());
    return out;
  }
  const abi::nvmlDevice_t nvml = time_release(driver, cuda, device, std::move(context), out);
  recreate_primary(cuda, device, driver, nvml, request.recreations, token, out);
  return out;
}

}  // namespace gvb
