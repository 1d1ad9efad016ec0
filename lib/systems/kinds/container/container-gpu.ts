/** How a container gets the measured GPU. */
import { existsSync } from 'node:fs';
import type { GpuAccess } from '../../../workers/container/container-type.js';
import { inPath } from '../../input/in-path.js';
import type { RunState } from '../../system.js';
import type { ContainerOptions } from './container-options.js';

/** The hook of the NVIDIA container toolkit, for runtimes that are told what to run. */
const HOOK = 'nvidia-container-runtime-hook';

interface GpuFound {
  access: GpuAccess;
  /** Why the container cannot get it; null where it can. */
  refused: string | null;
}

const without = (refused: string | null): GpuFound => ({ access: { by: 'none' }, refused });

export async function gpuAccess(
  { gpu: { by, device, nodes }, runtime, caller }: Pick<ContainerOptions, 'gpu' | 'runtime' | 'caller'>,
  { gpu, target }: Pick<RunState, 'gpu' | 'target'>,
): Promise<GpuFound> {
  const way = by ?? (target.simulatedDriver === null || device !== null ? 'cdi' : 'none');
  if (way === 'none') return without(null);
  if (way === 'devices') return { access: { by: 'devices', nodes }, refused: missingNode(nodes) };
  if (way === 'cdi') return byCdi(device, gpu, runtime.kind === 'oci');
  const program = inPath(HOOK, caller.PATH ?? '');
  if (runtime.kind === 'oci' && program === null)
    return without(`${HOOK} is not in PATH. Install the NVIDIA container toolkit, or use gpu: cdi.`);
  return { access: { by: 'hook', gpu: gpu.uuid, program }, refused: null };
}

async function byCdi(device: string | null, gpu: RunState['gpu'], needsEdits: boolean): Promise<GpuFound> {
  const { CDI_FOLDERS, deviceOfGpu, readCdi } = await import('./cdi.js');
  const cdi = readCdi();
  const name = device ?? deviceOfGpu(cdi, gpu);
  const edits = name === null ? undefined : cdi.devices.get(name);
  if (name !== null && (edits !== undefined || !needsEdits))
    return { access: { by: 'cdi', device: name, edits: edits ?? [] }, refused: null };
  const unread = cdi.unread.length > 0 ? ` Not readable: ${cdi.unread.join('; ')}.` : '';
  return without(
    `no CDI specification in ${CDI_FOLDERS.join(' or ')} has ${name ?? gpu.uuid}. Make it with nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml.${unread}`,
  );
}

function missingNode(nodes: readonly string[]): string | null {
  const missing = nodes.find((node) => !existsSync(node));
  return missing === undefined
    ? null
    : `${missing} is not there. nvidia-modprobe -u -c=0 makes the nodes of the driver.`;
}
