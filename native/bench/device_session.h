// One measurement's hold on a device: the primary context, a stream, our kernels. Created and used on a single thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "bench/cancel.h"
#include "bench/green_context.h"
#include "bench/guards.h"
#include "bench/target.h"
#include "driver/driver.h"

namespace gvb {

// The CUDA ordinal of a device. CUDA_VISIBLE_DEVICES renumbers ordinals, so an index is looked up by the UUID that NVML
// reports for it; without NVML it is used as the ordinal.
abi::CUdevice find_device(const Driver& driver, const Cuda& cuda, const DeviceSelector& selector);
std::string device_uuid(const Cuda& cuda, abi::CUdevice device);
// nullopt if the driver does not report it.
std::optional<int> device_attribute(const Cuda& cuda, abi::CUdevice device, abi::CUdevice_attribute which);
struct ComputeCapability {
  int major, minor;
  std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
};
// Throws kFunctionMissing without cuDeviceGetAttribute.
ComputeCapability compute_capability(const Cuda& cuda, abi::CUdevice device);
// NVML's handle of a CUDA device, or nullptr if NVML does not know it.
abi::nvmlDevice_t nvml_handle(const NvmlApi& nvml, const std::string& uuid);
// A device's UUID as NVML reports it; nullopt if it does not.
std::optional<std::string> nvml_uuid(const NvmlApi& nvml, abi::nvmlDevice_t device);

// A module of the project's own PTX.
class Module {
 public:
  Module(const Cuda& cuda, const char* ptx);
  ~Module() { cuda_.try_call(cuda_.api.cuModuleUnload, module_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  abi::CUfunction function(const char* name) const;

 private:
  const Cuda& cuda_;
  abi::CUmodule module_ = nullptr;
};

// The kernels that most measurements use, loaded with the session so that no measurement does. If the driver cannot
// take them, those that use one throw kFunctionMissing, and others work.
class BaseModule {
 public:
  explicit BaseModule(const Cuda& cuda);
  abi::CUfunction function(const char* name) const;

 private:
  std::optional<Module> module_;
  std::string refusal_;
};

// How the host waits for the device.
enum class Scheduling { kAuto, kSpin, kYield, kBlocking };

// Retains the primary context with a spinning synchronisation (a blocking one would measure the scheduler), makes it
// current, and restores the flags it found.
class PrimaryContext {
 public:
  PrimaryContext(const Cuda& cuda, abi::CUdevice device);
  ~PrimaryContext() { leave(); }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  abi::CUcontext get() const { return context_; }
  // From cuCtxGetFlags: the flags that the context was created with. nullopt if the driver does not report them.
  std::optional<Scheduling> scheduling() const;

 private:
  void leave() const;

  const Cuda& cuda_;
  const abi::CUdevice device_;
  std::optional<unsigned> flags_to_restore_;
  abi::CUcontext context_ = nullptr;
};

// Retains the primary context until the process ends, so that every later session on it opens at once. For workers,
// which run several measurements.
void keep_context(const Driver& driver, const DeviceTarget& target);

// The context of a session's calls: the primary one or, in a confined process, a green context on it.
class SessionContext {
 public:
  SessionContext(const Cuda& cuda, abi::CUdevice device)
      : primary_(cuda, device), confinement_(cuda, device, primary_.get()) {}
  abi::CUcontext get() const { return confinement_.current(); }
  std::optional<Scheduling> scheduling() const { return primary_.scheduling(); }
  // The size of the green context; nullopt: there is none.
  std::optional<unsigned> multiprocessors() const { return confinement_.multiprocessors(); }

 private:
  const PrimaryContext primary_;
  const Confinement confinement_;
};

class DeviceSession {
 public:
  DeviceSession(const Driver& driver, const DeviceTarget& target, const CancelToken& token);

  const Driver& driver;
  const Cuda cuda;
  const abi::CUdevice device;
  const std::string uuid;
  const abi::nvmlDevice_t nvml_device;
  const SessionContext context;
  const BaseModule module;
  const CancelToken& token;

  // The state that a measurement sets up once for all its blocks: created at first use, destroyed before the context.
  // Must not hold device memory, which would be a live block in other measurements.
  template <class T>
  T& kept() {
    for (const auto& [type, object] : kept_)
      if (type == typeid(T)) return *static_cast<T*>(object.get());
    const auto made = std::make_shared<T>(*this);
    kept_.emplace_back(typeid(T), made);
    return *made;
  }

 private:
  std::vector<std::pair<std::type_index, std::shared_ptr<void>>> kept_;
};

// Attribute of the card itself, by the driver's own function, whatever a layer tells the process: loads are sized by
// it, so that no layer makes them smaller. nullopt if the driver does not report it.
std::optional<int> card_attribute(const DeviceSession& session, abi::CUdevice_attribute which);
// The number that the process is told, or has set apart for itself; at least 1.
unsigned multiprocessors_of(const DeviceSession& session);
// The card's own number, or that of the process's green context; at least 1.
unsigned card_multiprocessors(const DeviceSession& session);
// The size of the card's own L2 cache; 0 if the driver does not report it.
uint64_t card_l2_bytes(const DeviceSession& session);

// Throws kFunctionMissing if the device reports that it does not support `what`.
void require_attribute(const DeviceSession& session, abi::CUdevice_attribute which, const char* what);

}  // namespace gvb
