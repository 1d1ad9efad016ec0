// The driver's device files that this process holds open: they show when the driver was initialised, by the program or
// by a layer. Their names do not show it, because NVML opens the same ones (on an H200, driver 580: nvidiactl, nvidia0,
// nvidia-uvm); their number does, read before and after each step.
#pragma once

namespace gvb {

struct DeviceFiles {
  unsigned all = 0;
  unsigned control = 0;  // /dev/nvidiactl, of which NVML and the driver open one each
};

// Of the simulated driver: the shared memory of its card.
DeviceFiles open_device_files();

struct DeviceFileLooks {
  DeviceFiles first;             // before NVML and the driver were loaded by us
  DeviceFiles before_load;       // NVML is initialised, libcuda not looked for
  DeviceFiles loaded, resolved;  // libcuda; its functions
  DeviceFiles initialised;       // cuInit has returned
  DeviceFiles in_context;
};

enum class InitialisedAt { kUnknown, kProcessStart, kLoad, kLookUp, kInit };

InitialisedAt initialised_at(const DeviceFileLooks& looks);

}  // namespace gvb
