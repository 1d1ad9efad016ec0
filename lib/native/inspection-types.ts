/** Driver, devices, clocks and owners of functions, as a process sees them. */
import type { SymbolPath } from '../document.js';

export interface Inspection {
  simulated: boolean;
  libcuda: string;
  libnvidiaMl: string | null;
  driverVersion: string | null;
  cudaVersion: number | null;
  cuda: { code: number; name: string; call: string } | null;
  nvml: { code: number; name: string; call: string } | null;
  devices: NativeDevice[];
  /** `judgeClock` (clock.ts) says whether times taken in that process may be published. */
  clock: ClockReading;
}

export interface NativeDevice {
  index: number;
  uuid: string;
  name: string;
  memoryBytes: number;
  /** As cuDeviceTotalMem tells this process; a layer may bend it. */
  visibleMemoryBytes: number;
  computeCapability: string;
  multiprocessors: number;
  maxSmClockMhz: number | null;
  pciBusId: string | null;
  migMode: 'enabled' | 'disabled' | 'not supported';
  persistenceMode: boolean | null;
  computeMode: 'default' | 'exclusive-thread' | 'prohibited' | 'exclusive-process' | null;
  mpsClient: boolean | null;
}

export type Scheduling = 'auto' | 'spin' | 'yield' | 'blocking';

export interface ClockReading {
  /** Whom the functions belong to that the process reads time with; `own`: libc, with the code of its file. */
  functions: { name: string; owner: string | null; own: boolean }[];
  /** What passed since the addon was loaded: by libc's function, the raw system call and the processor's counter. */
  rates: {
    clock: string;
    libraryNs: number;
    systemNs: number;
    /** Null where the counter cannot be used, for the reason in `counterUnused`. */
    counterNs: number | null;
    /** What lies between two readings of one moment. */
    bracketNs: number;
  }[];
  counterUnused: string | null;
}

/** The beginning of a driver function differs from the file it was mapped from. */
export interface PatchedCode {
  /** As it is in memory, hexadecimal. */
  bytes: string;
  /** The object that the jump at its beginning leads to; null where there is no jump, or its target belongs to no object. */
  owner: string | null;
}

export interface Provenance {
  functions: { name: string; owners: Record<SymbolPath, string | null>; patched?: PatchedCode }[];
  nvml: { name: string; owners: { dlsym: string | null; bare: string | null }; patched?: PatchedCode }[];
  /** Why the driver's code was not compared with its file; null where it was. */
  codeUnreadable: string | null;
  libcuda: LibcudaInfo;
  /** Objects mapped into the process that export `dlsym` or names beginning with `cu`, drivers and libc aside. */
  objects: { path: string; cudaExports: number; exportsDlsym: boolean; exportsInit: boolean }[];
}

export interface LibcudaInfo {
  /** What the process gets as libcuda.so.1. */
  loaded: string;
  /** The driver itself: another file where libcuda.so.1 was replaced by one that forwards to it. */
  driver: string;
  simulated: boolean;
  /** Version of the NVIDIA kernel module; null where the system does not tell. */
  kernelModule: string | null;
  /** Whether `driver` is of that version; null where it is unknown. */
  carriesKernelVersion: boolean | null;
}

export interface LayerProbe {
  visibleTotalBytes: number | null;
  /** HAMi-core's own `pidfound`, and its limits as its functions say them; null under anything else. */
  pidFound: boolean | null;
  memoryLimitBytes: number | null;
  smPercent: number | null;
  allocations: { bytes: number; code: number }[];
}
