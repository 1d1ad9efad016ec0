/**
 * Specifications of the Container Device Interface: which devices there are, and what each adds to a container. Source: the CDI
 * specification, https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md
 */
import { isInstance } from '../../../results/cards.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { yamlValues } from '../../../config/yaml.js';
import { messageOf } from '../../../errors/message-of.js';
import { UsageError } from '../../../errors/usage-error.js';
import type { OciEdits } from '../../../workers/container/oci-edits.js';

/** What stands later goes before what stands earlier. */
export const CDI_FOLDERS = ['/etc/cdi', '/var/run/cdi'];
const MAX_BYTES = 4 * 2 ** 20;

const texts = v.optional(v.array(v.string()), []);
const editsSchema = v.object({
  env: texts,
  deviceNodes: v.optional(
    v.array(v.object({ path: v.string(), hostPath: v.optional(v.string()), permissions: v.optional(v.string()) })),
    [],
  ),
  mounts: v.optional(
    v.array(v.object({ hostPath: v.string(), containerPath: v.string(), options: v.optional(v.array(v.string())) })),
    [],
  ),
  hooks: v.optional(
    v.array(
      v.object({
        hookName: v.string(),
        path: v.string(),
        args: v.optional(v.array(v.string())),
        env: v.optional(v.array(v.string())),
      }),
    ),
    [],
  ),
});
const specSchema = v.object({
  kind: v.string(),
  containerEdits: v.optional(editsSchema, {}),
  devices: v.array(v.object({ name: v.union([v.string(), v.number()]), containerEdits: v.optional(editsSchema, {}) })),
});

/** Edits of a container that gets a device, by the device's full name, e.g. `nvidia.com/gpu=0`. */
type CdiDevices = ReadonlyMap<string, readonly OciEdits[]>;

interface Cdi {
  devices: CdiDevices;
  /** Files that could not be read, and why. */
  unread: string[];
}

export function readCdi(folders: readonly string[] = CDI_FOLDERS): Cdi {
  const devices = new Map<string, readonly OciEdits[]>();
  const unread: string[] = [];
  for (const file of folders.flatMap(filesIn))
    try {
      for (const [name, edits] of devicesIn(readFileSync(file), file)) devices.set(name, edits);
    } catch (error) {
      // Errors of its YAML have their place in the file.
      unread.push(error instanceof UsageError ? error.message : `${file}: ${messageOf(error)}`);
    }
  return { devices, unread };
}

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/.test(name));
    return names.sort().map((name) => join(folder, name));
  } catch {
    // Most machines have none.
    return [];
  }
}

function devicesIn(content: Buffer, file: string): [string, OciEdits[]][] {
  if (content.length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES / 2 ** 20} MiB`);
  const parsed = v.safeParse(specSchema, yamlValues(content.toString(), file, 'core').value);
  if (!parsed.success) throw new Error(`it is no CDI specification: ${parsed.issues[0].message}`);
  const { kind, containerEdits, devices } = parsed.output;
  return devices.map((device) => [
    `${kind}=${device.name}`,
    [containerEdits, device.containerEdits].map((edits) => edits as OciEdits),
  ]);
}

/** The device of a GPU as the NVIDIA container toolkit names it, or null where no specification has it. An instance has no index of its own. */
export const deviceOfGpu = ({ devices }: Cdi, { uuid, index }: { uuid: string; index: number }): string | null =>
  [uuid, ...(isInstance(uuid) ? [] : [String(index)])]
    .map((name) => `nvidia.com/gpu=${name}`)
    .find((name) => devices.has(name)) ?? null;
