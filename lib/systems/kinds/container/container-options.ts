/** The settings of `kind: container`, checked before anything runs. */
import { existsSync, statSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';
import type * as v from 'valibot';
import type { Place } from '../../../config/setting-place.js';
import type { RawMap } from '../../../config/raw.js';
import { messageOf } from '../../../errors/message-of.js';
import { quoted } from '../../../errors/usage-error.js';
import type { ContainerSource, Mount, Runtime, RuntimeKind } from '../../../workers/container/container-type.js';
import { readBundle } from '../../../workers/container/container-launcher.js';
import { unmountable } from '../../../workers/container/engine-command.js';
import { inPath } from '../../input/in-path.js';
import type { System } from '../../system.js';
import type { Inner } from '../define.js';
import type { containerSettings, gpuWays } from './container-settings.js';

type GpuWay = (typeof gpuWays)[number];
type Given = v.InferOutput<typeof containerSettings>;

export interface ContainerOptions extends Omit<ContainerSource, 'runtime' | 'gpu'> {
  runtime: { name: string; kind: RuntimeKind; program: string | null; options: readonly string[] };
  gpu: {
    /** Null: CDI, and nothing for a simulated card. */
    by: GpuWay | null;
    device: string | null;
    nodes: readonly string[];
  };
  mounts: readonly Mount[];
  /** What the processes are under inside. */
  layer: System;
  caller: NodeJS.ProcessEnv;
}

export function containerOptions(
  given: Given,
  place: Place,
  { name, caller, inside }: { name: string; caller: NodeJS.ProcessEnv; inside: (layer: RawMap) => Inner },
): ContainerOptions {
  const { args = [], device = null, mounts = [], pid, ipc, network } = given;
  const runtime = runtimeOf(given, place, caller);
  const by = given.gpu ?? null;
  if (device !== null && (by ?? 'cdi') !== 'cdi') throw place.error('device', 'Expected device only with gpu: cdi.');
  const nodes = given.devices ?? [];
  if (nodes.length > 0 && by !== 'devices') throw place.error('devices', 'Expected devices only with gpu: devices.');
  if (nodes.length === 0 && by === 'devices')
    throw place.error('devices', 'Expected devices of container to be a list of device nodes, e.g. /dev/nvidia0.');
  for (const node of nodes)
    if (!/^\/dev\/[A-Za-z0-9._/-]+$/.test(node) || node.split('/').includes('..'))
      throw place.expected('devices', 'device nodes below /dev', `${quoted(node)} is none.`);
  checkOptions(place, 'args', args);
  const layer = inside(given.layer ?? {}).create(name);
  if (layer.usesMps === true && ipc === 'private')
    throw place.error('ipc', 'Expected ipc of container to be host with mps: clients share memory with the daemon.');
  return {
    runtime,
    from: sourceOf(given, place, runtime.kind),
    gpu: { by, device, nodes },
    mounts: mounts.map((text) => mountOf(place, text)),
    pid,
    ipc,
    network,
    args,
    layer,
    caller,
  };
}

/** What is no option would be taken for the image or the program. */
function checkOptions(place: Place, key: string, options: readonly string[]): void {
  const wrong = options.find((option) => !option.startsWith('-') || option === '--' || option === '-');
  if (wrong !== undefined)
    throw place.expected(key, 'a list of options, each in one piece (--option=value)', `${quoted(wrong)} is none.`);
}

const kindOf = (name: string): RuntimeKind =>
  /^podman/.test(name) ? 'podman' : /^nerdctl/.test(name) ? 'nerdctl' : /^docker/.test(name) ? 'docker' : 'oci';

const known = /^(docker|podman|nerdctl|runc|crun|youki)/;

function runtimeOf(
  { runtime: text, runtimeOptions: options = [] }: Given,
  place: Place,
  caller: NodeJS.ProcessEnv,
): ContainerOptions['runtime'] {
  const name = basename(text);
  if (!known.test(name) || (text.includes('/') && !isAbsolute(text)))
    throw place.expected('runtime', 'docker, podman, nerdctl, runc or crun, or the absolute path of one');
  checkOptions(place, 'runtimeOptions', options);
  const program = text.includes('/') ? (existsSync(text) ? text : null) : inPath(text, caller.PATH ?? '');
  return { name, kind: kindOf(name), program, options };
}

function sourceOf(given: Given, place: Place, kind: RuntimeKind): ContainerSource['from'] {
  const [wanted, other] = kind === 'oci' ? (['bundle', 'image'] as const) : (['image', 'bundle'] as const);
  if (given[other] !== undefined)
    throw place.error(other, `Expected ${wanted} with this runtime but received ${other}.`);
  const text = given[wanted];
  if (text === undefined) throw place.error(wanted, `Expected ${place.owner} to have ${wanted}.`);
  if (wanted === 'image') return { image: text };
  if (!isAbsolute(text) || !statSync(text, { throwIfNoEntry: false })?.isDirectory())
    throw place.expected('bundle', 'the absolute path of a folder with an OCI bundle');
  try {
    readBundle(text);
  } catch (error) {
    throw place.expected('bundle', 'an OCI bundle', messageOf(error));
  }
  return { bundle: text };
}

/** `/outside`, `/outside:/inside`, `/outside:/inside:rw`. */
function mountOf(place: Place, text: string): Mount {
  const [source = '', target = source, mode = 'ro', ...more] = text.split(':');
  const isPath = (path: string) => isAbsolute(path) && !path.split('/').includes('..') && unmountable(path) === null;
  if (!isPath(source) || !isPath(target) || target === '/' || more.length > 0 || !['ro', 'rw'].includes(mode))
    throw place.expected(
      'mounts',
      'absolute paths, /outside, /outside:/inside or /outside:/inside:rw,',
      `${quoted(text)} is none.`,
    );
  if (!existsSync(source)) throw place.expected('mounts', 'what is there', `${quoted(source)} is not.`);
  return { source, target, readOnly: mode === 'ro' };
}

/** Why it cannot be measured here, with what to do; null where its runtime is there. */
export function missingRuntime({ name, program }: ContainerOptions['runtime']): string | null {
  if (program !== null) return null;
  const packages: Readonly<Record<string, string>> = {
    podman: 'podman and runc',
    docker: 'docker.io, or Docker Engine',
    runc: 'runc',
    crun: 'crun',
  };
  const what = packages[name] ?? name;
  return `${name} is not installed: install ${what}, or give its path with runtime=`;
}

export const runtimeProgram = ({ kind, program, options }: ContainerOptions['runtime']): Runtime => ({
  kind,
  program: program ?? '',
  options,
});
