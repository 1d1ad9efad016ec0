// The driver's device files that this process holds open. They show whether the program or a layer initialised the
// driver. Their names do not tell, because NVML opens the same ones (on an H200, driver 580: nvidiactl, nvidia0,
// nvidia-uvm); their number, read before and after each step, does.
#pragma once

namespace gvb {

struct DeviceFiles {
  unsigned all = 0;
  unsigned control = 0;  // /dev/nvidiactl, which NVML and the driver open once each
};

// For the simulated driver it is the shared memory of its card.
DeviceFiles open_device_files();

struct DeviceFileLooks {
  DeviceFiles first;             // before this process loads NVML and the driver
  DeviceFiles before_load;       // NVML is initialised; libcuda is not loaded yet
  DeviceFiles loaded, resolved;  // libcuda is loaded; its functions are resolved
  DeviceFiles initialised;       // cuInit has returned
  DeviceFiles in_context;
};

enum class InitialisedAt { kUnknown, kProcessStart, kLoad, kLookUp, kInit };

InitialisedAt initialised_at(const DeviceFileLooks& looks);

}  // namespace gvb
