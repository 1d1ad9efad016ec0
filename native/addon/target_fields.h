// The driver and device of a request.
#pragma once

#include "addon/fields.h"
#include "bench/target.h"

namespace gvb {

template <>
struct Fields<Target> : FieldsOf<Target> {
  static constexpr const char* kName = "Target";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(simulated_driver).says("Folder of the simulated libraries, or null for the machine's own driver."));
  }
};

// The bare path is missing here: no application reads the driver's symbol table.
inline const Choices<SymbolPath> kApplicationPaths{
    "", {{SymbolPath::kRuntime, "runtime"}, {SymbolPath::kDlsym, "dlsym"}, {SymbolPath::kLinked, "linked"}}};

template <>
struct Fields<DeviceTarget> : FieldsOf<DeviceTarget, Target> {
  static constexpr const char* kName = "DeviceTarget";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(
        GVB_FIELD(device).says("NVML index, UUID or an unambiguous prefix of it, or null for the first visible GPU."));
    visit(GVB_FIELD(path).one_of(kApplicationPaths));
  }
};

}  // namespace gvb
