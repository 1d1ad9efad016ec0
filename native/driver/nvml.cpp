#include "driver/nvml.h"

#include <dlfcn.h>

#include <mutex>

#include "driver/error.h"
#include "driver/symbol_paths.h"

namespace gvb {

namespace {

struct Loaded {
  Nvml nvml;
  bool from_folder;
};

// Returns nullptr if there is none.
Loaded* load_library(const std::optional<std::string>& folder) {
  const std::string file = folder ? *folder + "/libnvidia-ml.so.1" : "libnvidia-ml.so.1";
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return nullptr;
  const ElfImage image = ElfImage::of_handle(handle);
  const bool simulated = image.find("gvbSimulatedDriver") != nullptr;
  return new Loaded{{image.path(), resolve_nvml_bare(image), resolve_nvml_dlsym(handle), simulated},
                    folder.has_value()};
}

}  // namespace

const Nvml& Nvml::load(const std::optional<std::string>& simulated_folder) {
  static std::mutex mutex;
  // Never destroyed: the executor's thread may still use it while the process exits.
  static Loaded* loaded = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  static const Nvml none{};
  if (!loaded) loaded = load_library(simulated_folder);
  // A machine without NVML keeps the choice open: the simulation may still be asked for.
  if (!loaded) return none;
  const bool simulated = loaded->nvml.simulated;
  if (simulated_folder ? !simulated : loaded->from_folder) fail_driver_conflict(simulated);
  return loaded->nvml;
}

}  // namespace gvb
