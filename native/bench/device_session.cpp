#include "bench/device_session.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>

#include "base/text.h"
#include "bench/ptx_refusal.h"
#include "kernels/ptx.h"

namespace gvb {

using abi::CUDA_SUCCESS;
using abi::CUdevice;
using abi::NVML_SUCCESS;

std::string device_uuid(const Cuda& cuda, CUdevice device) {
  abi::CUuuid uuid;
  GVB_CALL(cuda, "reading the device UUID", cuDeviceGetUuid_v2, &uuid, device);
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

std::optional<int> device_attribute(const Cuda& cuda, CUdevice device, abi::CUdevice_attribute which) {
  int value = 0;
  if (!cuda.api.cuDeviceGetAttribute || cuda.api.cuDeviceGetAttribute(&value, which, device) != CUDA_SUCCESS)
    return std::nullopt;
  return value;
}

ComputeCapability compute_capability(const Cuda& cuda, abi::CUdevice device) {
  ComputeCapability found{};
  constexpr const char* kWhat = "reading the compute capability";
  GVB_CALL(cuda, kWhat, cuDeviceGetAttribute, &found.major, abi::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  GVB_CALL(cuda, kWhat, cuDeviceGetAttribute, &found.minor, abi::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return found;
}

abi::nvmlDevice_t nvml_handle(const NvmlApi& nvml, const std::string& uuid) {
  abi::nvmlDevice_t handle = nullptr;
  if (!nvml.nvmlInit_v2 || !nvml.nvmlDeviceGetHandleByUUID || nvml.nvmlInit_v2() != NVML_SUCCESS) return nullptr;
  // A MIG device has one prefix in NVML and another in the driver.
  for (const std::string& name : {uuid, "MIG-" + uuid.substr(4)})
    if (nvml.nvmlDeviceGetHandleByUUID(name.c_str(), &handle) == NVML_SUCCESS) return handle;
  return nullptr;
}

std::optional<std::string> nvml_uuid(const NvmlApi& nvml, abi::nvmlDevice_t device) {
  std::array<char, 96> uuid{};
  if (!nvml.nvmlDeviceGetUUID || nvml.nvmlDeviceGetUUID(device, uuid.data(), uuid.size()) != NVML_SUCCESS)
    return std::nullopt;
  return uuid.data();
}

namespace {

// nullopt if there is no usable NVML; empty if NVML has no such device.
std::optional<std::string> nvml_uuid_of_index(const Driver& driver, int index) {
  const NvmlApi& nvml = driver.nvml.api;
  abi::nvmlDevice_t handle = nullptr;
  if (!nvml.nvmlInit_v2 || !nvml.nvmlDeviceGetHandleByIndex_v2 || !nvml.nvmlDeviceGetUUID) return std::nullopt;
  if (nvml.nvmlInit_v2() != NVML_SUCCESS) return std::nullopt;
  if (nvml.nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned>(index), &handle) != NVML_SUCCESS) return "";
  return nvml_uuid(nvml, handle).value_or("");
}

// The driver and NVML use different prefixes for the same MIG device.
std::string without_prefix(const std::string& uuid) {
  return begins_with(uuid, "GPU-") || begins_with(uuid, "MIG-") ? uuid.substr(4) : uuid;
}

[[noreturn]] void fail_no_such_device(const std::string& wanted, int count) {
  throw Failure(FailureKind::kNoSuchDevice, "Expected device to be the index or UUID of one of the " +
                                                std::to_string(count) +
                                                " visible GPUs (doctor lists them) but received " + wanted + ".");
}

CUdevice device_at(const Cuda& cuda, int ordinal) {
  CUdevice device = 0;
  GVB_CALL(cuda, "opening a device", cuDeviceGet, &device, ordinal);
  return device;
}

// The only visible device whose UUID has that beginning.
std::optional<CUdevice> device_by_uuid(const Cuda& cuda, const std::string& beginning, int count) {
  std::optional<CUdevice> found;
  const std::string digits = without_prefix(beginning);
  for (int ordinal = 0; !digits.empty() && ordinal < count; ++ordinal) {
    const CUdevice device = device_at(cuda, ordinal);
    if (!begins_with(without_prefix(device_uuid(cuda, device)), digits.c_str())) continue;
    if (found) return std::nullopt;
    found = device;
  }
  return found;
}

}  // namespace

CUdevice find_device(const Driver& driver, const Cuda& cuda, const DeviceSelector& selector) {
  int count = 0;
  GVB_CALL(cuda, "counting devices", cuDeviceGetCount, &count);
  std::string wanted = "the first";
  if (const auto* uuid = std::get_if<std::string>(&selector)) {
    if (const auto device = device_by_uuid(cuda, *uuid, count)) return *device;
    wanted = *uuid;
  } else if (const int* index = std::get_if<int>(&selector)) {
    const auto known = nvml_uuid_of_index(driver, *index);
    if (!known && *index < count) return device_at(cuda, *index);
    if (const auto device = known ? device_by_uuid(cuda, *known, count) : std::nullopt) return *device;
    wanted = std::to_string(*index);
  } else if (count > 0) {
    return device_at(cuda, 0);
  }
  fail_no_such_device(wanted, count);
}

Module::Module(const Cuda& cuda, const char* ptx) : cuda_(cuda) {
  std::array<char, 4096> log{};
  abi::CUjit_option options[] = {abi::CU_JIT_ERROR_LOG_BUFFER, abi::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const auto load = cuda.require(cuda.api.cuModuleLoadDataEx, "cuModuleLoadDataEx");
  check_compiler();
  const abi::CUresult code = load(&module_, ptx, 2, options, values);
  check_loaded(cuda, "cuModuleLoadDataEx", code, ptx, log.data());
}

abi::CUfunction Module::function(const char* name) const {
  abi::CUfunction function = nullptr;
  GVB_CALL(cuda_, "looking up a kernel", cuModuleGetFunction, &function, module_, name);
  return function;
}

BaseModule::BaseModule(const Cuda& cuda) {
  try {
    module_.emplace(cuda, gvb_ptx_base);
  } catch (const Failure& failure) {
    if (failure.kind() != FailureKind::kFunctionMissing) throw;
    refusal_ = failure.what();
  }
}

abi::CUfunction BaseModule::function(const char* name) const {
  if (!module_) throw Failure(FailureKind::kFunctionMissing, refusal_);
  return module_->function(name);
}

PrimaryContext::PrimaryContext(const Cuda& cuda, CUdevice device) : cuda_(cuda), device_(device) {
  unsigned flags = 0;
  int active = 0;
  GVB_CALL(cuda, "reading the primary context's state", cuDevicePrimaryCtxGetState, device, &flags, &active);
  if (!active && cuda.api.cuDevicePrimaryCtxSetFlags_v2 &&
      cuda.api.cuDevicePrimaryCtxSetFlags_v2(device, abi::CU_CTX_SCHED_SPIN) == CUDA_SUCCESS)
    flags_to_restore_ = flags;
  try {
    GVB_CALL(cuda, "creating the primary context", cuDevicePrimaryCtxRetain, &context_, device);
    GVB_CALL(cuda, "entering the primary context", cuCtxSetCurrent, context_);
  } catch (...) {
    leave();
    throw;
  }
}

std::optional<Scheduling> PrimaryContext::scheduling() const {
  unsigned flags = 0;
  if (!cuda_.api.cuCtxGetFlags || cuda_.api.cuCtxGetFlags(&flags) != CUDA_SUCCESS) return std::nullopt;
  switch (flags & abi::CU_CTX_SCHED_MASK) {
    case abi::CU_CTX_SCHED_SPIN:
      return Scheduling::kSpin;
    case abi::CU_CTX_SCHED_YIELD:
      return Scheduling::kYield;
    case abi::CU_CTX_SCHED_BLOCKING_SYNC:
      return Scheduling::kBlocking;
    case abi::CU_CTX_SCHED_AUTO:
      return Scheduling::kAuto;
    default:
      return std::nullopt;
  }
}

void PrimaryContext::leave() const {
  if (context_) {
    cuda_.try_call(cuda_.api.cuCtxSetCurrent, nullptr);
    cuda_.try_call(cuda_.api.cuDevicePrimaryCtxRelease_v2, device_);
  }
  if (flags_to_restore_) cuda_.try_call(cuda_.api.cuDevicePrimaryCtxSetFlags_v2, device_, *flags_to_restore_);
}

namespace {

const Driver& initialised(const Driver& driver, SymbolPath path) {
  driver.initialise(path);
  driver.find_true_driver();
  return driver;
}

}  // namespace

void keep_context(const Driver& loaded, const DeviceTarget& target) {
  struct Kept {
    Kept(const Driver& driver, const DeviceTarget& wanted)
        : cuda(driver.cuda(wanted.path)), context(cuda, find_device(driver, cuda, wanted.device)) {}
    const Cuda cuda;
    const PrimaryContext context;
  };
  // Never destroyed: when the process exits, the driver may already be gone.
  static auto& kept = *new std::deque<Kept>;
  kept.emplace_back(initialised(loaded, target.path), target);
}

DeviceSession::DeviceSession(const Driver& loaded, const DeviceTarget& target, const CancelToken& cancel)
    : driver(initialised(loaded, target.path)),
      cuda(driver.cuda(target.path)),
      device(find_device(driver, cuda, target.device)),
      uuid(device_uuid(cuda, device)),
      nvml_device(nvml_handle(driver.nvml.api, uuid)),
      context(cuda, device),
      module(cuda),
      token(cancel) {}

std::optional<int> card_attribute(const DeviceSession& session, abi::CUdevice_attribute which) {
  return device_attribute(session.driver.cuda(SymbolPath::kBare), session.device, which);
}

namespace {

unsigned at_least_one(std::optional<int> count) { return static_cast<unsigned>(std::max(1, count.value_or(1))); }

}  // namespace

unsigned multiprocessors_of(const DeviceSession& session) {
  if (session.context.multiprocessors()) return card_multiprocessors(session);
  return at_least_one(device_attribute(session.cuda, session.device, abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

unsigned card_multiprocessors(const DeviceSession& session) {
  if (const auto own = session.context.multiprocessors()) return at_least_one(static_cast<int>(*own));
  return at_least_one(card_attribute(session, abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

uint64_t card_l2_bytes(const DeviceSession& session) {
  return static_cast<uint64_t>(
      std::max(0, card_attribute(session, abi::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE).value_or(0)));
}

void require_attribute(const DeviceSession& session, abi::CUdevice_attribute which, const char* what) {
  if (device_attribute(session.cuda, session.device, which).value_or(1) != 0) return;
  throw Failure(FailureKind::kFunctionMissing, std::string("This device has no ") + what + ".");
}

}  // namespace gvb
