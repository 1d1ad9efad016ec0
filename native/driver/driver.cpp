#include "driver/driver.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>

#include "base/clock.h"
#include "driver/code_owner.h"
#include "driver/driver_branches.h"
#include "driver/libcuda_images.h"

namespace gvb {

using abi::CUresult;

std::string Cuda::error_name(CUresult code) const {
  const char* name = nullptr;
  if (api.cuGetErrorName && api.cuGetErrorName(code, &name) == abi::CUDA_SUCCESS && name) return name;
  return "unknown code";
}

namespace {

// What the driver may take for an object of its own: a module, an event, the local memory of a kernel.
constexpr size_t kDriversOwn = size_t{64} << 20;

// The owner of the function that a program asks on that path.
std::string looked_up_by(const SymbolTables& tables, SymbolPath path) {
  const void* get = reinterpret_cast<const void*>(tables.of(SymbolPath::kDlsym).cuGetProcAddress_v2);
  const void* look_up = reinterpret_cast<const void*>(static_cast<DlsymFunction>(dlsym));
  const std::string driver = owner_of(reinterpret_cast<const void*>(tables.of(SymbolPath::kBare).cuInit));
  const std::string asked = owner_of(path == SymbolPath::kRuntime ? get : look_up);
  // A layer may intercept only cuGetProcAddress through dlsym and forward everything else.
  const std::string owner = path == SymbolPath::kRuntime && asked == driver ? owner_of(look_up) : asked;
  return owner.empty() ? "the look-up" : owner;
}

}  // namespace

void Cuda::fail(CUresult code, const char* call, const char* attempt, size_t wanted) const {
  size_t free = 0, total = 0;
  if (code != abi::CUDA_ERROR_OUT_OF_MEMORY || !api.cuMemGetInfo_v2 ||
      api.cuMemGetInfo_v2(&free, &total) != abi::CUDA_SUCCESS)
    throw CallFailure(FailureKind::kCuda, code, error_name(code), call, attempt);
  std::string of_it = ", with " + std::to_string(free) + " bytes of device memory free";
  if (!api.cuMemFree_v2) of_it += "; cuMemFree_v2 is not offered by this driver, so that nothing came back";
  CallFailure refused(FailureKind::kCuda, code, error_name(code), call, attempt + of_it);
  refused.memory_is_short = free < (wanted == 0 ? kDriversOwn : wanted);
  throw refused;
}

namespace {

std::string cuda_version_text(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string newer_driver(int version) {
  std::string branch;
  for (const DriverBranch& each : kDriverBranches)
    if (branch.empty() && each.cuda_version >= version) branch = std::string(" (branch ") + each.name + ")";
  return "it needs a newer driver: " + cuda_version_text(version) + branch + " or later.";
}

}  // namespace

void Cuda::fail_missing(const char* name) const {
  const std::string what = std::string(name) + " is not ";
  const std::string on_path = std::string(" on the ") + to_string(path) + " path";
  const size_t index = cuda_function_index(name);
  const int version = index < kCudaFunctionCount ? kCudaFunctions[index].version : 0;
  std::string why;
  // The driver exports it, so the driver is not too old: the library that answers the look-up hides it.
  if (version != 0 && slot(tables_.reference_of(path), index) != nullptr) {
    const std::string layer = looked_up_by(tables_, path);
    why = "given out by " + layer + on_path + ", though the driver has it: use a version of " + layer +
          " that passes it on, or measure without it.";
  } else {
    const int known = driver_version(tables_.of(SymbolPath::kBare));
    why =
        "offered by this driver" + on_path + "; " +
        (known == 0 || version > known ? newer_driver(version)
                                       : "drivers have it since " + cuda_version_text(version) +
                                             ": reinstall the driver, or remove the library that stands in its place.");
  }
  MissingFunction missing(what + why);
  missing.function = name;
  throw missing;
}

namespace {

std::string last_dl_error() {
  const char* text = dlerror();
  return text ? text : "unknown reason";
}

std::string no_driver(const std::string& reason, bool simulated) {
  return simulated ? "The simulated driver could not be loaded: " + reason + ". Run npm run build:native."
                   : "No NVIDIA driver: " + reason +
                         ". Install the driver, or pass { simulate: true } (--simulate) to measure the simulated GPU.";
}

OpenedLibrary open_libcuda(const std::optional<std::string>& simulated_folder) {
  const std::string file = simulated_folder ? *simulated_folder + "/libcuda.so.1" : "libcuda.so.1";
  const int64_t start = now_ns();
  void* libcuda = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  const int64_t took_ns = now_ns() - start;
  if (!libcuda) throw Failure(FailureKind::kNoDriver, no_driver(last_dl_error(), simulated_folder.has_value()));
  return {libcuda, took_ns};
}

}  // namespace

Driver::Driver(const std::optional<std::string>& simulated_folder)
    : from_folder(simulated_folder.has_value()),
      files_before_load(open_device_files()),
      opened(open_libcuda(simulated_folder)),
      nvml(Nvml::load(simulated_folder)) {
  const ElfImage image = ElfImage::of_handle(opened.handle);
  libcuda_path = image.path();
  const ElfImage driver = true_driver(image, libcuda_images());
  driver_path = driver.path();
  simulated = is_simulation(driver);
  files_loaded = open_device_files();
  const int64_t loaded = now_ns();
  tables = resolve_cuda(opened.handle, driver);
  resolve_ns = now_ns() - loaded;
  files_resolved = open_device_files();
}

void Driver::find_true_driver() const {
  const std::vector<ElfImage> images = libcuda_images();
  const ElfImage* loaded = image_of(images, libcuda_path);
  if (!loaded) return;
  const ElfImage driver = true_driver(*loaded, images);
  if (driver.path() == driver_path) return;
  driver_path = driver.path();
  simulated = is_simulation(driver);
  resolve_bare(tables, driver);
  leave_out_newer(tables);
}

const Driver& Driver::load(const std::optional<std::string>& simulated_folder) {
  static std::mutex mutex;
  // Never destroyed: the executor's thread may still use it while the process exits.
  static Driver* driver = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!driver) driver = new Driver(simulated_folder);
  if (simulated_folder ? !driver->simulated : driver->from_folder) fail_driver_conflict(driver->simulated);
  return *driver;
}

void Driver::initialise(SymbolPath path) const {
  static std::mutex mutex;
  static std::array<bool, 4> done{};
  const std::lock_guard<std::mutex> lock(mutex);
  bool& initialised = done[static_cast<size_t>(path)];
  if (initialised) return;
  const Cuda through = cuda(path);
  const CUresult code = through.require(through.api.cuInit, "cuInit")(0);
  if (code != abi::CUDA_SUCCESS && simulated) {
    // Only the simulation exports the reason for refusing its settings.
    const std::vector<ElfImage> images = libcuda_images();
    const ElfImage* simulation = image_of(images, driver_path);
    const auto reason = simulation ? reinterpret_cast<const char* (*)()>(simulation->find("gvbSimError")) : nullptr;
    if (reason && reason()) throw Failure(FailureKind::kSimSettings, reason());
  }
  through.check(code, "cuInit", "initialising the driver");
  leave_out_newer(tables);
  initialised = true;
}

}  // namespace gvb
