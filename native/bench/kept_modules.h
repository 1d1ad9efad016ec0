// Modules loaded when one of their kernels is first used, once per session: the driver takes up to half a second to
// assemble one. Used through kept_module.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "bench/device_session.h"
#include "kernels/ptx_file.h"

namespace gvb {

class KeptModules {
 public:
  explicit KeptModules(const DeviceSession& session) : cuda_(session.cuda) {}

  // `name` is that of a file in kernels/ptx.
  const Module& of(std::string_view name) {
    const auto known = modules_.find(name);
    if (known != modules_.end()) return *known->second;
    const std::string file(name);
    return *modules_.emplace(file, std::make_unique<Module>(cuda_, ptx_file(file).c_str())).first->second;
  }

 private:
  const Cuda& cuda_;
  std::map<std::string, std::unique_ptr<Module>, std::less<>> modules_;
};

inline const Module& kept_module(DeviceSession& session, std::string_view name) {
  return session.kept<KeptModules>().of(name);
}

}  // namespace gvb
