/**
 * The file that vgpu-manager's first process writes and every later one reads instead of its environment. Layout:
 * `resource_data_t` in library/include/hook.h of coldzerofear/vgpu-manager 3d7f66d (layout version 1).
 */
import { open, readdir, readFile } from 'node:fs/promises';
import type { Finding } from '../../proof/proof-finding.js';

const MAGIC = 0x56474346;
const LAYOUT_VERSION = 1;
const FILE_BYTES = 8192;
const offsets = { podUid: 128, containerName: 304, device: 512 } as const;
/** Offsets from the start of a device's entry. */
const fields = {
  version: 0,
  uuid: 8,
  memoryBytes: 56,
  cores: 72,
  softCores: 76,
  coreLimit: 80,
  memoryLimit: 88,
} as const;
const TEXT_BYTES = { podUid: 48, containerName: 64, uuid: 48 } as const;

/** The entry of the first device, the only one this project configures. */
export interface VgpuConfig {
  /** VGPU_CONTAINER_NAME and VGPU_POD_UID of the process that wrote it. */
  containerName: string;
  podUid: string;
  uuid: string;
  /** Null if the limit is off. */
  memoryBytes: number | null;
  cores: number | null;
  softCores: number | null;
}

/** Null if there is no file; `unknown` if it has another layout. */
export async function readVgpuConfig(path: string): Promise<VgpuConfig | 'unknown' | null> {
  try {
    return parseVgpuConfig(await readFile(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return 'unknown';
  }
}

export function parseVgpuConfig(bytes: Buffer): VgpuConfig | 'unknown' {
  if (bytes.length !== FILE_BYTES || bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== LAYOUT_VERSION)
    return 'unknown';
  const text = (offset: number, length: number) =>
    bytes.toString('utf8', offset, offset + length).replace(/\0.*$/s, '');
  const number = (offset: number) => bytes.readInt32LE(offsets.device + offset);
  const memoryBytes = Number(bytes.readBigUInt64LE(offsets.device + fields.memoryBytes));
  return {
    containerName: text(offsets.containerName, TEXT_BYTES.containerName),
    podUid: text(offsets.podUid, TEXT_BYTES.podUid),
    uuid: text(offsets.device + fields.uuid, TEXT_BYTES.uuid),
    memoryBytes: number(fields.memoryLimit) === 0 ? null : memoryBytes,
    cores: number(fields.coreLimit) === 0 ? null : number(fields.cores),
    softCores: number(fields.softCores) === 0 ? null : number(fields.softCores),
  };
}

/**
 * Sets the cores of its first device for processes that have it mapped. They copy it only between two even numbers of
 * its version (get_device_snapshot in library/src/loader.c), and see changes in place, but not a new file.
 */
export async function writeCores(path: string, cores: number): Promise<void> {
  const file = await open(path, 'r+');
  const put = async (value: number, offset: number) => {
    const word = Buffer.alloc(4);
    word.writeUInt32LE(value >>> 0);
    await file.write(word, 0, word.length, offsets.device + offset);
  };
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, offsets.device + fields.version);
    const version = buffer.readUInt32LE(0);
    await put(version + 1, fields.version);
    await put(cores, fields.cores);
    await put(version + 2, fields.version);
  } finally {
    await file.close();
  }
}

/**
 * Whether the file holds the limits that this run set. A layer that wrote none, or another layout, is not judged by it.
 */
export function configFinding(found: VgpuConfig | 'unknown' | null, wanted: VgpuConfig): Finding {
  const proof = 'limits in its configuration file';
  if (found === null) return { proof, passed: null, detail: 'it wrote none: each process uses its environment' };
  if (found === 'unknown') return { proof, passed: null, detail: 'it cannot be read, or its layout is unknown' };
  const keys = Object.keys(wanted) as (keyof VgpuConfig)[];
  const wrong = keys.filter((key) => found[key] !== wanted[key]);
  const values = (source: VgpuConfig, of: readonly (keyof VgpuConfig)[]) =>
    of.map((key) => `${key} ${source[key] ?? 'none'}`).join(', ');
  if (wrong.length === 0)
    return { proof, passed: true, detail: values(found, ['uuid', 'memoryBytes', 'cores', 'softCores']) };
  return {
    proof,
    passed: false,
    detail: `it says ${values(found, wrong)}; this run set ${values(wanted, wrong)}`,
    advice:
      'Stop other programs that use vgpu-manager on this machine: the first process to start sets the limits of all.',
  };
}

/** Processes with the file mapped, as far as this process can see. */
export async function processesUsing(path: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const maps = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '')));
  return pids.filter((_, index) => maps[index]?.split('\n').some((line) => line.endsWith(` ${path}`)));
}
