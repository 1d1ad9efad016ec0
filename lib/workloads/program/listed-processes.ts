/** Which processes NVML listed on the GPU during a run, as clients of MPS or not. */
import type { GpuProcessSample } from '../../monitor/sample.js';

export interface ListedByNvml {
  /** PIDs that NVML listed as clients of MPS at least once. */
  clients: ReadonlySet<number>;
  /** PIDs that NVML never listed as clients, with the number of samples that have them. */
  others: ReadonlyMap<number, number>;
}

export class ListedProcesses implements ListedByNvml {
  readonly clients = new Set<number>();
  readonly others = new Map<number, number>();

  add(processes: readonly GpuProcessSample[]): void {
    for (const { pid, mpsClient } of processes) {
      if (mpsClient === null) continue;
      if (mpsClient) {
        this.clients.add(pid);
        this.others.delete(pid);
      } else if (!this.clients.has(pid)) this.others.set(pid, (this.others.get(pid) ?? 0) + 1);
    }
  }
}
