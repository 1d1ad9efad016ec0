// Modules loaded when one of their kernels is first used, once per session: the driver takes up to half a second to
// assemble one. Used through kept_module.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

class KeptModules {
 public:
  explicit KeptModules(const DeviceSession& session) : cuda_(session.cuda) {}

  // `ptx` is one of those in kernels/ptx.h.
  const Module& of(const char* ptx) {
    for (const auto& [known, module] : modules_)
      if (known == ptx) return *module;
    modules_.emplace_back(ptx, std::make_unique<Module>(cuda_, ptx));
    return *modules_.back().second;
  }

 private:
  const Cuda& cuda_;
  std::vector<std::pair<const char*, std::unique_ptr<Module>>> modules_;
};

inline const Module& kept_module(DeviceSession& session, const char* ptx) {
  return session.kept<KeptModules>().of(ptx);
}

}  // namespace gvb
