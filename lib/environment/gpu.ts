/** The GPU and driver of a result document, from a worker's addon. */
import type { DriverInfo, GpuInfo } from '../results/document.js';
import type { Inspection, NativeDevice } from '../native/addon-types.js';

export function gpuInfo(inspection: Inspection, device: NativeDevice): GpuInfo {
  const { visibleMemoryBytes: _ofThisProcess, ...facts } = device;
  return { ...facts, simulated: inspection.simulated };
}

export function driverInfo(inspection: Inspection): DriverInfo {
  return {
    version: inspection.driverVersion,
    cudaVersion: inspection.cudaVersion,
    libcuda: inspection.libcuda,
    libnvidiaMl: inspection.libnvidiaMl,
  };
}
