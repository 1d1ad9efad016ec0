// The subset of NVML's ABI that this project uses. See cuda_abi.h.
#pragma once

#include <cstddef>

namespace gvb::abi {

using nvmlReturn_t = int;
using nvmlDevice_t = struct nvmlDevice_st*;
using nvmlEventSet_t = struct nvmlEventSet_st*;

constexpr nvmlReturn_t NVML_SUCCESS = 0;
constexpr nvmlReturn_t NVML_ERROR_UNINITIALIZED = 1;
constexpr nvmlReturn_t NVML_ERROR_INVALID_ARGUMENT = 2;
constexpr nvmlReturn_t NVML_ERROR_NOT_SUPPORTED = 3;
constexpr nvmlReturn_t NVML_ERROR_NOT_FOUND = 6;
constexpr nvmlReturn_t NVML_ERROR_INSUFFICIENT_SIZE = 7;
constexpr nvmlReturn_t NVML_ERROR_DRIVER_NOT_LOADED = 9;
constexpr nvmlReturn_t NVML_ERROR_TIMEOUT = 10;
constexpr nvmlReturn_t NVML_ERROR_FUNCTION_NOT_FOUND = 13;
constexpr nvmlReturn_t NVML_ERROR_UNKNOWN = 999;

constexpr unsigned long long NVML_VALUE_NOT_AVAILABLE = ~0ULL;

enum nvmlClockType_t : int { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };
enum nvmlTemperatureSensors_t : int { NVML_TEMPERATURE_GPU = 0 };

struct nvmlMemory_t {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct nvmlMemory_v2_t {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
constexpr unsigned nvmlMemory_v2 = sizeof(nvmlMemory_v2_t) | (2u << 24);

struct nvmlDeviceAttributes_t {
  unsigned multiprocessorCount;
  unsigned sharedCopyEngineCount;
  unsigned sharedDecoderCount;
  unsigned sharedEncoderCount;
  unsigned sharedJpegCount;
  unsigned sharedOfaCount;
  unsigned gpuInstanceSliceCount;
  unsigned computeInstanceSliceCount;
  unsigned long long memorySizeMB;
};

struct nvmlPciInfo_t {
  char busIdLegacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;
  unsigned pciSubSystemId;
  char busId[32];
};

// The element of nvmlDeviceGetComputeRunningProcesses_v3 (nvmlProcessInfo_v2_t in nvml.h).
struct nvmlProcessInfo_t {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

struct nvmlUtilization_t {
  unsigned gpu;
  unsigned memory;
};

struct nvmlProcessUtilizationSample_t {
  unsigned pid;
  unsigned long long timeStamp;  // microseconds of CLOCK_REALTIME
  unsigned smUtil;
  unsigned memUtil;
  unsigned encUtil;
  unsigned decUtil;
};

enum nvmlPcieUtilCounter_t : int { NVML_PCIE_UTIL_TX_BYTES = 0, NVML_PCIE_UTIL_RX_BYTES = 1 };

enum nvmlValueType_t : int {
  NVML_VALUE_TYPE_UNSIGNED_INT = 1,
  NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
  NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3
};

union nvmlValue_t {
  double dVal;
  unsigned uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
};

struct nvmlFieldValue_t {
  unsigned fieldId;
  unsigned scopeId;
  long long timestamp;
  long long latencyUsec;
  nvmlValueType_t valueType;
  nvmlReturn_t nvmlReturn;
  nvmlValue_t value;
};

// KiB since the driver was loaded; the scope "all links" sums over the links.
constexpr unsigned NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX = 138;
constexpr unsigned NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 139;
constexpr unsigned kAllNvLinks = ~0U;
// In MB/s of a link in one direction; common to those that are active.
constexpr unsigned NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON = 90;
constexpr unsigned NVML_NVLINK_MAX_LINKS = 18;

enum nvmlEnableState_t : int { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 };
enum nvmlIntNvLinkDeviceType_t : int { NVML_NVLINK_DEVICE_TYPE_GPU = 0, NVML_NVLINK_DEVICE_TYPE_SWITCH = 2 };
enum nvmlGpuP2PCapsIndex_t : int { NVML_P2P_CAPS_INDEX_NVLINK = 2 };
enum nvmlGpuP2PStatus_t : int { NVML_P2P_STATUS_OK = 0, NVML_P2P_STATUS_NOT_SUPPORTED = 5 };
// What is between two GPUs, from one board to several processors.
enum nvmlGpuTopologyLevel_t : int {
  NVML_TOPOLOGY_INTERNAL = 0,
  NVML_TOPOLOGY_SINGLE = 10,
  NVML_TOPOLOGY_MULTIPLE = 20,
  NVML_TOPOLOGY_HOSTBRIDGE = 30,
  NVML_TOPOLOGY_NODE = 40,
  NVML_TOPOLOGY_SYSTEM = 50
};

constexpr unsigned long long nvmlEventTypeXidCriticalError = 0x8;

struct nvmlEventData_t {
  nvmlDevice_t device;
  unsigned long long eventType;
  unsigned long long eventData;  // for an Xid event: its number
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

// Bits of nvmlDeviceGetCurrentClocksEventReasons.
constexpr unsigned long long nvmlClocksEventReasonGpuIdle = 0x1;
constexpr unsigned long long nvmlClocksEventReasonApplicationsClocksSetting = 0x2;
constexpr unsigned long long nvmlClocksEventReasonSwPowerCap = 0x4;
constexpr unsigned long long nvmlClocksThrottleReasonHwSlowdown = 0x8;
constexpr unsigned long long nvmlClocksEventReasonSyncBoost = 0x10;
constexpr unsigned long long nvmlClocksEventReasonSwThermalSlowdown = 0x20;
constexpr unsigned long long nvmlClocksThrottleReasonHwThermalSlowdown = 0x40;
constexpr unsigned long long nvmlClocksThrottleReasonHwPowerBrakeSlowdown = 0x80;
constexpr unsigned long long nvmlClocksEventReasonDisplayClockSetting = 0x100;

}  // namespace gvb::abi
