#include "bench/start_up.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/wait.h"
#include "bench/first_kernel.h"
#include "bench/gpu_state.h"
#include "driver/code_owner.h"
#include "kernels/ptx.h"

namespace gvb {

using abi::CUdevice;
using abi::CUdeviceptr;

namespace {

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

// The primary context, or one of cuCtxCreate; current after construction, destroyed with the object.
class StartedContext {
 public:
  StartedContext(const Cuda& cuda, CUdevice device, ContextApi api) : cuda_(cuda), device_(device), api_(api) {
    if (api == ContextApi::kCreate) {
      require_unconfined("cuCtxCreate makes a context on the whole device");
      GVB_CALL(cuda, "creating a context", cuCtxCreate_v2, &context_, 0, device);
    } else {
      const auto enter = cuda.require(cuda.api.cuCtxSetCurrent, "cuCtxSetCurrent");
      GVB_CALL(cuda, "creating the primary context", cuDevicePrimaryCtxRetain, &context_, device);
      const abi::CUresult entered = enter(context_);
      if (entered != abi::CUDA_SUCCESS) cuda.try_call(cuda.api.cuDevicePrimaryCtxRelease_v2, device);
      cuda.check(entered, "cuCtxSetCurrent", "entering the primary context");
      confinement_.emplace(cuda, device, context_);
    }
  }
  ~StartedContext() {
    confinement_.reset();
    if (api_ == ContextApi::kCreate) {
      cuda_.try_call(cuda_.api.cuCtxDestroy_v2, context_);
    } else {
      cuda_.try_call(cuda_.api.cuCtxSetCurrent, nullptr);
      cuda_.try_call(cuda_.api.cuDevicePrimaryCtxRelease_v2, device_);
    }
  }
  StartedContext(const StartedContext&) = delete;
  StartedContext& operator=(const StartedContext&) = delete;

 private:
  const Cuda& cuda_;
  const CUdevice device_;
  const ContextApi api_;
  abi::CUcontext context_ = nullptr;
  std::optional<Confinement> confinement_;
};

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

// Asks the driver without any layer.
std::optional<bool> primary_is_active(const Cuda& bare, CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  const auto state = bare.api.cuDevicePrimaryCtxGetState;
  if (!state || state(device, &flags, &active) != abi::CUDA_SUCCESS) return std::nullopt;
  return active != 0;
}

// The owner of the functions that a program gets instead of the driver's. A layer may return the driver's own function
// although it was asked for it.
std::string interposer_of(const Driver& driver, const Cuda& cuda, const std::string& context_owner) {
  const CudaApi& by_dlsym = driver.cuda(SymbolPath::kDlsym).api;
  const std::string dlsym_owner = owner_of(reinterpret_cast<void*>(static_cast<DlsymFunction>(dlsym)));
  const std::string libc = owner_of(reinterpret_cast<void*>(libc_dlsym()));
  for (const std::string& owner : {owner_of(slot(cuda.api, cuda_function_index("cuInit"))), context_owner,
                                   owner_of(slot(by_dlsym, cuda_function_index("cuGetProcAddress_v2"))), dlsym_owner})
    if (!owner.empty() && owner != driver.libcuda_path && owner != libc) return owner;
  return "";
}

// The start, step by step; each step fills in its part of the result.
class Start {
 public:
  explicit Start(const StartUpRequest& request) : request_(request) {
    out_.pid = static_cast<unsigned>(getpid());
    looks_.first = open_device_files();
  }

  StartUp measure(const CancelToken& token) {
    // Needed by this tool and not by a program, so it is not timed.
    Nvml::load(request_.simulated_driver);
    out_.ready_at_ns = now_ns();
    if (request_.start_at_ns) wait_for_release(*request_.start_at_ns, [&] { token.check(); });
    out_.began_at_ns = now_ns();
    const Driver& driver = load();
    const Cuda cuda = driver.cuda(request_.path);
    if (!request_.keep && request_.context_api == ContextApi::kPrimary)
      cuda.require(cuda.api.cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease_v2");
    auto context = first_result(driver, cuda);
    describe(driver, cuda);
    if (request_.keep) {
      // Left to the end of the process: at exit the driver may already be gone.
      static_cast<void>(context.release());
      return std::move(out_);
    }
    const abi::nvmlDevice_t nvml = release(driver, cuda, std::move(context));
    for (unsigned i = 0; i < request_.recreations; ++i) {
      token.check();
      recreate(driver, cuda, nvml);
    }
    return std::move(out_);
  }

 private:
  const Driver& load() {
    const Driver& driver = Driver::load(request_.simulated_driver);
    out_.load_ns = static_cast<double>(driver.opened.took_ns);
    out_.resolve_ns = static_cast<double>(driver.resolve_ns);
    looks_.before_load = driver.files_before_load;
    looks_.loaded = driver.files_loaded;
    looks_.resolved = driver.files_resolved;
    return driver;
  }

  // Creates the context and uses it for the first time: the cost until a program's first result.
  std::unique_ptr<StartedContext> first_result(const Driver& driver, const Cuda& cuda) {
    Lap lap;
    driver.initialise(request_.path);
    out_.init_ns = lap.next();
    looks_.initialised = open_device_files();
    // Selection by index or UUID queries NVML and every device, which is not part of a plain program's start.
    device_ = find_device(driver, cuda, request_.device);
    lap.next();
    CUdevice same = 0;
    GVB_CALL(cuda, "opening the device", cuDeviceGet, &same, device_);
    out_.device_ns = lap.next();
    out_.context_was_active = primary_is_active(driver.cuda(SymbolPath::kBare), device_);
    lap.next();
    auto context = std::make_unique<StartedContext>(cuda, device_, request_.context_api);
    out_.context_ns = lap.next();
    looks_.in_context = open_device_files();
    lap.next();
    first_work(cuda, lap);
    out_.total_ns =
        out_.init_ns + out_.device_ns + out_.context_ns + out_.module_ns + out_.first_alloc_ns + out_.first_launch_ns;
    return context;
  }

  void first_work(const Cuda& cuda, Lap& lap) {
    const Module module(cuda, gvb_ptx_base);
    FirstKernel first(cuda, module);
    out_.module_ns = lap.next();
    first.allocate();
    out_.first_alloc_ns = lap.next();
    first.launch();
    first.read();
    out_.first_launch_ns = lap.next();
    out_.first_result_at_ns = lap.at();
    first.launch();
    GVB_CALL(cuda, "waiting for the second kernel", cuCtxSynchronize);
    out_.second_launch_ns = lap.next();
    out_.result_correct = first.correct();
  }

  void describe(const Driver& driver, const Cuda& cuda) {
    out_.context_function =
        request_.context_api == ContextApi::kPrimary ? "cuDevicePrimaryCtxRetain" : "cuCtxCreate_v2";
    out_.context_owner = owner_of(slot(cuda.api, cuda_function_index(out_.context_function.c_str())));
    abi::CUmoduleLoadingMode mode;
    if (cuda.api.cuModuleGetLoadingMode && cuda.api.cuModuleGetLoadingMode(&mode) == abi::CUDA_SUCCESS)
      out_.loading_mode = mode == abi::CU_MODULE_LAZY_LOADING ? LoadingMode::kLazy : LoadingMode::kEager;
    out_.initialised_at = initialised_at(looks_);
    out_.interposer = interposer_of(driver, cuda, out_.context_owner);
    out_.mps_client = device_attribute(cuda, device_, abi::CU_DEVICE_ATTRIBUTE_MPS_ENABLED) == 1;
  }

  // Asks NVML before and after, to see the context come and go.
  abi::nvmlDevice_t release(const Driver& driver, const Cuda& cuda, std::unique_ptr<StartedContext> context) {
    const NvmlApi& api = driver.nvml.api;
    const abi::nvmlDevice_t nvml = nvml_handle(api, device_uuid(cuda, device_));
    out_.processes_during = process_ids(driver, nvml);
    out_.gpu_free_during_bytes = read_gpu_state(api, nvml, GpuDetail::kReadings).free_bytes;
    Lap lap;
    context.reset();
    out_.first_release_ns = lap.next();
    out_.processes_after = process_ids(driver, nvml);
    out_.gpu_free_after_bytes = read_gpu_state(api, nvml, GpuDetail::kReadings).free_bytes;
    return nvml;
  }

  void recreate(const Driver& driver, const Cuda& cuda, abi::nvmlDevice_t nvml) {
    Lap lap;
    {
      const StartedContext context(cuda, device_, ContextApi::kPrimary);
      out_.retain_ns.push_back(lap.next());
      lap.next();
    }
    out_.release_ns.push_back(lap.next());
    unsigned flags = 0;
    int active = 0;
    GVB_CALL(cuda, "reading the primary context's state", cuDevicePrimaryCtxGetState, device_, &flags, &active);
    out_.inactive_between = out_.inactive_between && !active;
    if (!out_.mps_client && contains(out_.processes_during, out_.pid))
      out_.left_list_between = out_.left_list_between.value_or(true) && !contains(process_ids(driver, nvml), out_.pid);
  }

  const StartUpRequest& request_;
  StartUp out_;
  DeviceFileLooks looks_;
  CUdevice device_ = 0;
};

}  // namespace

StartUp measure_start_up(const StartUpRequest& request, const CancelToken& token) {
  return Start(request).measure(token);
}

}  // namespace gvb
