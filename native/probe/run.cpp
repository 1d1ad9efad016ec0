#include "probe/run.h"

#include <link.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/text.h"
#include "driver/libcuda_images.h"
#include "kernels/ptx.h"

namespace gvb::probe {

void Run::fail(const std::string& step, int code) { throw Over(step + " answered " + std::to_string(code)); }

Library& Run::library_of(const Symbol& symbol) {
  if (begins_with(symbol.exported, "nvml")) return nvml;
  return begins_with(symbol.exported, "nccl") ? nccl : cuda;
}

void* Run::found(const Symbol& symbol) {
  Library& library = library_of(symbol);
  if (&library == &cuda && !cuda.opened()) load();
  if (void* address = library.find(symbol)) return address;
  report::code(symbol.exported, abi::CUDA_ERROR_NOT_FOUND);
  throw Over(std::string("the driver lacks ") + symbol.exported);
}

void Run::load() {
  report::calls("dlopen libcuda.so.1");
  const std::string reason = cuda.open(options.libcuda);
  if (!reason.empty()) throw Over("libcuda cannot be loaded: " + reason);
}

void Run::load_nvml() {
  report::calls("dlopen libnvidia-ml.so.1");
  const std::string reason = nvml.open(options.nvml);
  if (!reason.empty()) throw Over("NVML cannot be loaded: " + reason);
  need(cuda::nvmlInit_v2);
}

namespace {

std::string without_prefix(const std::string& uuid) { return uuid.size() > 4 ? uuid.substr(4) : uuid; }

}  // namespace

std::string uuid_text(const abi::CUuuid& uuid) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += hex;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

void Run::initialise() {
  need(cuda::cuInit, 0);
  int count = 0;
  need(cuda::cuDeviceGetCount, &count);
  if (options.device.empty()) return need(cuda::cuDeviceGet, &device, 0);
  const auto get = address(cuda::cuDeviceGet);
  const auto get_uuid = address(cuda::cuDeviceGetUuid_v2);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    abi::CUuuid uuid{};
    if (get(&device, ordinal) == abi::CUDA_SUCCESS && get_uuid(&uuid, device) == abi::CUDA_SUCCESS &&
        begins_with(uuid_text(uuid), without_prefix(options.device).c_str()))
      return report::data("device", options.device);
  }
  throw Over("no device has the UUID " + options.device);
}

void Run::enter() {
  initialise();
  need(cuda::cuDevicePrimaryCtxRetain, &context, device);
  need(cuda::cuCtxSetCurrent, context);
}

void Run::fill(CUdeviceptr at, size_t bytes, unsigned char value) { need(cuda::cuMemsetD8_v2, at, value, bytes); }

void Run::check(const std::string& what, CUdeviceptr at, size_t bytes, unsigned char value) {
  std::vector<unsigned char> host(bytes, static_cast<unsigned char>(~value));
  need(cuda::cuMemcpyDtoH_v2, host.data(), at, bytes);
  expect(what, std::all_of(host.begin(), host.end(), [value](unsigned char byte) { return byte == value; }));
}

void Run::use_memory(const std::string& what) {
  constexpr size_t kBytes = 1 << 20;
  CUdeviceptr at = 0;
  need(cuda::cuMemAlloc_v2, &at, kBytes);
  fill(at, kBytes, 0x5a);
  check(what, at, kBytes, 0x5a);
  need(cuda::cuMemFree_v2, at);
}

abi::CUfunction Run::kernel(const char* name) {
  abi::CUmodule module = nullptr;
  abi::CUfunction function = nullptr;
  need(cuda::cuModuleLoadDataEx, &module, gvb_ptx_base, 0, nullptr, nullptr);
  need(cuda::cuModuleGetFunction, &function, module, name);
  return function;
}

abi::CUfunction Run::empty_kernel() { return kernel("gvb_empty"); }

void Run::follow_up() {
  constexpr unsigned kSeed = 77;
  unsigned count = 4096;
  std::vector<uint32_t> words(count);
  const abi::CUfunction mix = kernel("gvb_mix");
  CUdeviceptr at = 0;
  need(cuda::cuMemAlloc_v2, &at, count * sizeof(uint32_t));
  unsigned seed = kSeed;
  void* parameters[] = {&at, &count, &seed};
  need(cuda::cuLaunchKernel, mix, 8, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr);
  need(cuda::cuCtxSynchronize);
  need(cuda::cuMemcpyDtoH_v2, words.data(), at, count * sizeof(uint32_t));
  bool right = true;
  for (unsigned i = 0; i < count; ++i) right = right && words[i] == (i + kSeed) * 2654435761u;
  expect("a kernel's result afterwards", right);
  need(cuda::cuMemFree_v2, at);
}

namespace {

// Returns a JSON array.
std::string loaded_objects() {
  std::string all;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        auto* list = static_cast<std::string*>(into);
        if (info->dlpi_name && *info->dlpi_name) *list += (list->empty() ? "" : ",") + report::quoted(info->dlpi_name);
        return 0;
      },
      &all);
  return "[" + all + "]";
}

}  // namespace

namespace {

// The driver itself, also behind a library in its place; nothing if none is loaded.
std::optional<ElfImage> driver_image() {
  const std::vector<ElfImage> images = libcuda_images();
  if (images.empty()) return std::nullopt;
  return true_driver(images.front(), images);
}

std::optional<ElfImage> nvml_image(const Library& nvml) {
  if (!nvml.opened() || nvml.handle() == RTLD_DEFAULT) return std::nullopt;
  return ElfImage::of_handle(nvml.handle());
}

}  // namespace

std::string Run::memory_seen() {
  const auto total = context ? address(cuda::cuDeviceTotalMem_v2) : nullptr;
  const auto get_uuid = context ? address(cuda::cuDeviceGetUuid_v2) : nullptr;
  size_t bytes = 0;
  abi::CUuuid uuid{};
  if (!total || !get_uuid || total(&bytes, device) != abi::CUDA_SUCCESS || get_uuid(&uuid, device) != abi::CUDA_SUCCESS)
    return "null";
  return "{\"uuid\":" + report::quoted("GPU-" + uuid_text(uuid)) + ",\"bytes\":" + std::to_string(bytes) + "}";
}

void Run::finish() {
  const std::string memory = memory_seen();
  std::string owners, own;
  for (const Library* library : {&cuda, &nvml}) {
    const std::optional<ElfImage> image = library == &cuda ? driver_image() : nvml_image(nvml);
    for (const auto& [name, found] : library->found()) {
      owners += (owners.empty() ? "" : ",") + report::quoted(name) + ":" + report::quoted(found.owner);
      if (image && image->contains(found.address)) own += (own.empty() ? "" : ",") + report::quoted(name);
    }
  }
  int mps = -1;
  const auto attribute = cuda.opened() && context ? address(cuda::cuDeviceGetAttribute) : nullptr;
  const bool known = attribute && attribute(&mps, abi::CU_DEVICE_ATTRIBUTE_MPS_ENABLED, device) == abi::CUDA_SUCCESS;
  report::line("under", {{"owners", "{" + owners + "}"},
                         {"own", "[" + own + "]"},
                         {"memory", memory},
                         {"objects", loaded_objects()},
                         {"mps", known ? std::to_string(mps) : "null"}});
  report::line("done", {});
}

}  // namespace gvb::probe
