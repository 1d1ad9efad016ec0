/** The settings of `kind: container`, checked before anything runs. */
import { existsSync, statSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';
import { isMap, type RawMap, type Values } from '../../config/values.js';
import { messageOf } from '../../errors/message-of.js';
import { quoted } from '../../errors/usage-error.js';
import type { ContainerSource, Mount, Runtime, RuntimeKind } from '../../workers/container/container-type.js';
import { readBundle } from '../../workers/container/container-launcher.js';
import { unmountable } from '../../workers/container/engine-command.js';
import { inPath } from '../in-path.js';
import type { System } from '../system.js';

export const containerKeys = {
  keys: [
    ...['name', 'runtime', 'image', 'bundle', 'gpu', 'device', 'devices', 'mounts', 'pid', 'ipc', 'network'],
    ...['runtimeOptions', 'args', 'layer'],
  ],
  maps: ['layer'],
  lists: ['devices', 'mounts', 'runtimeOptions', 'args'],
};

const gpuWays = ['cdi', 'hook', 'devices', 'none'] as const;
export type GpuWay = (typeof gpuWays)[number];

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

/** Layers whose state is in files that can be mounted. */
const layers = ['native', 'hami-core', 'fcsp', 'custom'];

/** Matches names of images in registries, and IDs of images; never text that could be an option. */
const imageName = /^[A-Za-z0-9][A-Za-z0-9._\-/:@+]{0,511}$/;
const cdiName = /^[A-Za-z][A-Za-z0-9_.-]*\/[A-Za-z][A-Za-z0-9_-]*=[A-Za-z0-9][A-Za-z0-9_.:-]*$/;

export type CreateLayer = (kind: string, settings: RawMap) => System;

export function containerOptions(
  values: Values,
  name: string,
  caller: NodeJS.ProcessEnv,
  createLayer: CreateLayer,
): ContainerOptions {
  const runtime = runtimeOf(values, caller);
  const by = values.choice('gpu', gpuWays) ?? null;
  const device = values.text('device') ?? null;
  if (device !== null && (by ?? 'cdi') !== 'cdi') throw values.error('device', 'Expected device only with gpu: cdi.');
  if (device !== null && !cdiName.test(device))
    throw values.expected('device', 'a CDI device such as nvidia.com/gpu=0');
  const nodes = values.strings('devices') ?? [];
  if (nodes.length > 0 && by !== 'devices') throw values.error('devices', 'Expected devices only with gpu: devices.');
  if (nodes.length === 0 && by === 'devices')
    throw values.error('devices', 'Expected devices of container to be a list of device nodes, e.g. /dev/nvidia0.');
  for (const node of nodes)
    if (!/^\/dev\/[A-Za-z0-9._/-]+$/.test(node) || node.split('/').includes('..'))
      throw values.expected('devices', 'device nodes below /dev', `${quoted(node)} is none.`);
  const args = values.strings('args') ?? [];
  checkOptions(values, 'args', args);
  return {
    runtime,
    from: sourceOf(values, runtime.kind),
    gpu: { by, device, nodes },
    mounts: (values.strings('mounts') ?? []).map((text) => mountOf(values, text)),
    pid: values.choice('pid', ['host', 'private']) ?? 'host',
    ipc: values.choice('ipc', ['host', 'private']) ?? 'host',
    network: values.choice('network', ['host', 'none']) ?? 'host',
    args,
    layer: layerOf(values, name, createLayer),
    caller,
  };
}

/** What is no option would be taken for the image or the program. */
function checkOptions(values: Values, key: string, options: readonly string[]): void {
  const wrong = options.find((option) => !option.startsWith('-') || option === '--' || option === '-');
  if (wrong !== undefined)
    throw values.expected(key, 'a list of options, each in one piece (--option=value)', `${quoted(wrong)} is none.`);
}

const kindOf = (name: string): RuntimeKind =>
  /^podman/.test(name) ? 'podman' : /^nerdctl/.test(name) ? 'nerdctl' : /^docker/.test(name) ? 'docker' : 'oci';

const known = /^(docker|podman|nerdctl|runc|crun|youki)/;

function runtimeOf(values: Values, caller: NodeJS.ProcessEnv): ContainerOptions['runtime'] {
  const text = values.required('runtime');
  const name = basename(text);
  if (!known.test(name) || (text.includes('/') && !isAbsolute(text)))
    throw values.expected('runtime', 'docker, podman, nerdctl, runc or crun, or the absolute path of one');
  const options = values.strings('runtimeOptions') ?? [];
  checkOptions(values, 'runtimeOptions', options);
  const program = text.includes('/') ? (existsSync(text) ? text : null) : inPath(text, caller.PATH ?? '');
  return { name, kind: kindOf(name), program, options };
}

function sourceOf(values: Values, kind: RuntimeKind): ContainerSource['from'] {
  const [wanted, other] = kind === 'oci' ? (['bundle', 'image'] as const) : (['image', 'bundle'] as const);
  if (values.has(other)) throw values.error(other, `Expected ${wanted} with this runtime but received ${other}.`);
  const text = values.required(wanted);
  if (wanted === 'image') {
    if (!imageName.test(text)) throw values.expected('image', 'the name or ID of an image');
    return { image: text };
  }
  if (!isAbsolute(text) || !statSync(text, { throwIfNoEntry: false })?.isDirectory())
    throw values.expected('bundle', 'the absolute path of a folder with an OCI bundle');
  try {
    readBundle(text);
  } catch (error) {
    throw values.expected('bundle', 'an OCI bundle', messageOf(error));
  }
  return { bundle: text };
}

/** `/outside`, `/outside:/inside`, `/outside:/inside:rw`. */
function mountOf(values: Values, text: string): Mount {
  const [source = '', target = source, mode = 'ro', ...more] = text.split(':');
  const isPath = (path: string) => isAbsolute(path) && !path.split('/').includes('..') && unmountable(path) === null;
  if (!isPath(source) || !isPath(target) || target === '/' || more.length > 0 || !['ro', 'rw'].includes(mode))
    throw values.expected(
      'mounts',
      'absolute paths, /outside, /outside:/inside or /outside:/inside:rw,',
      `${quoted(text)} is none.`,
    );
  if (!existsSync(source)) throw values.expected('mounts', 'what is there', `${quoted(source)} is not.`);
  return { source, target, readOnly: mode === 'ro' };
}

function layerOf(values: Values, name: string, createLayer: CreateLayer): System {
  const { kind = 'native', ...settings } = unfolded(values.map('layer') ?? {});
  if (typeof kind !== 'string' || !layers.includes(kind))
    throw values.expected(
      'layer',
      `a system of kind ${layers.join(', ')}`,
      'others need daemons or files of the host.',
    );
  if (Object.hasOwn(settings, 'name')) throw values.error('layer', 'Expected name of container, not of its layer.');
  for (const path of pathsOf(settings))
    if (!isAbsolute(path)) throw values.expected('layer', 'given with absolute paths', `${quoted(path)} is relative.`);
  return values.within('layer', () => createLayer(kind, { ...settings, name }));
}

/** The command line writes entries of maps `layer.env.NAME=value`. */
function unfolded(settings: RawMap): RawMap {
  const result: RawMap = Object.create(null) as RawMap;
  for (const [key, value] of Object.entries(settings)) {
    const dot = key.indexOf('.');
    const [outer, inner] = dot < 0 ? [key, null] : [key.slice(0, dot), key.slice(dot + 1)];
    const map = result[outer];
    if (inner === null) result[outer] = value;
    else result[outer] = { ...(map !== undefined && isMap(map) && map), [inner]: value };
  }
  return result;
}

function pathsOf({ library, env }: RawMap): string[] {
  const preload = env !== undefined && isMap(env) ? env.LD_PRELOAD : undefined;
  const preloads = typeof preload === 'string' ? preload.split(/[\s:]+/).filter((path) => path.includes('/')) : [];
  return [...(typeof library === 'string' ? [library] : []), ...preloads];
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
