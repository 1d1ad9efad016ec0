#include "bench/paired_function.h"

#include <dlfcn.h>

#include "driver/code_on_disk.h"
#include "driver/code_owner.h"
#include "driver/libcuda_images.h"

namespace gvb {

namespace {

// The driver's code, for comparison with its file. If it is not mapped, or its file cannot be read, no patch is found.
struct DriverCode {
  explicit DriverCode(const DeviceSession& session) {
    const std::vector<ElfImage> images = libcuda_images();
    if (const ElfImage* image = image_of(images, session.driver.driver_path)) disk.emplace(*image);
  }
  std::optional<CodeOnDisk> disk;
};

void refuse_patched(DeviceSession& session, const void* bare, const std::string& name) {
  const auto& disk = session.kept<DriverCode>().disk;
  const auto patch = disk ? disk->patch_of(bare) : std::nullopt;
  if (!patch) return;
  const std::string owner = patch->owner.empty() ? "" : " (it jumps to " + patch->owner + ")";
  throw Failure(FailureKind::kFunctionMissing, name + " was overwritten in the driver itself" + owner +
                                                   ": every call goes through the layer, so none can be compared.");
}

}  // namespace

PairedPointers paired_pointers(DeviceSession& session, const std::string& name) {
  const size_t index = cuda_function_index(name.c_str());
  const SymbolTables& tables = session.driver.tables;
  void* hooked = slot(session.cuda.api, index);
  const PairedPointers pointers{hooked, slot(tables.reference_of(session.cuda.path), index),
                                !tables.is_drivers(index, hooked)};
  session.cuda.require(pointers.hooked, name.c_str());
  session.cuda.require(pointers.bare, name.c_str());
  refuse_patched(session, pointers.bare, name);
  return pointers;
}

PairBlock::PairBlock(const PairedPointers& pointers)
    : owner(owner_of(pointers.hooked)), bare_owner(owner_of(pointers.bare)), intercepted(pointers.intercepted) {}

InterposerAccount::InterposerAccount() {
  const DlsymFunction look_up = libc_dlsym();
  if (!look_up) return;
  achieved_ = reinterpret_cast<Achieved>(look_up(RTLD_DEFAULT, "gvbInterposeAchievedNs"));
  const auto reset = reinterpret_cast<void (*)()>(look_up(RTLD_DEFAULT, "gvbInterposeReset"));
  if (reset) reset();
}

std::optional<double> InterposerAccount::of(const std::string& name) const {
  const double mean = achieved_ ? achieved_(name.c_str()) : -1;
  return mean < 0 ? std::nullopt : std::optional<double>(mean);
}

}  // namespace gvb
