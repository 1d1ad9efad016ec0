#include "sim/hidden.h"
#include "sim/nvml/nvml_library.h"

namespace gvb::sim {
namespace {

__attribute__((constructor)) void hide_what_nvml_lacks() {
  hide_exports({
#define GVB_NVML(name, version, params) {#name, version, reinterpret_cast<void*>(&abi::name)},
#include "driver/nvml_functions.inc"
#include "sim/nvml/extra_functions.inc"
#undef GVB_NVML
      {"nvmlErrorString", 0, reinterpret_cast<void*>(&abi::nvmlErrorString)},
  });
}

}  // namespace
}  // namespace gvb::sim
