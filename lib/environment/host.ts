/** Properties of the host that help to explain numbers. */
import { existsSync, readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import type { HostInfo } from '../results/document.js';

export function hostInfo(): HostInfo {
  const processors = cpus();
  return {
    platform: platform(),
    arch: arch(),
    kernel: release(),
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    usableCores: availableParallelism(),
    memoryBytes: totalmem(),
    node: process.version,
    container: insideContainer(),
  };
}

/** Docker and Podman leave a file; containerd and Kubernetes are visible in the path of the control group. */
function insideContainer(): boolean {
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) return true;
  try {
    return /docker|kubepods|containerd|libpod|lxc/.test(readFileSync('/proc/1/cgroup', 'utf8'));
  } catch {
    return false;
  }
}
