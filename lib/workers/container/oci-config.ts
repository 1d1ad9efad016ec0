/** The configuration of an OCI bundle (config.json of the OCI runtime specification) for one container. */
import type { ContainerRequest, ContainerSource } from './container-type.js';
import { hookVariables } from './engine-command.js';
import { deviceOf, type OciDevice, type OciEdits } from './oci-edits.js';

interface OciMount {
  destination: string;
  type?: string;
  source?: string;
  options?: string[];
}

/** What is changed of it; everything else stays as the bundle has it. */
export interface OciConfig {
  ociVersion: string;
  root: { path: string; readonly?: boolean };
  hostname?: string;
  process: {
    terminal?: boolean;
    user?: object;
    args: string[];
    env?: string[];
    cwd: string;
    [key: string]: unknown;
  };
  mounts?: OciMount[];
  hooks?: Record<string, { path: string; args?: string[]; env?: string[] }[]>;
  linux?: {
    namespaces?: { type: string; path?: string }[];
    devices?: OciDevice[];
    resources?: { devices?: object[]; [key: string]: unknown };
    [key: string]: unknown;
  };
  [key: string]: unknown;
}

/** The default capabilities of podman. */
const capabilities = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
].map((name) => `CAP_${name}`);

const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The configuration of a bundle that has a root file system but no config.json. */
export function defaultConfig(rootfs: string): OciConfig {
  const nothing = ['nosuid', 'noexec', 'nodev'];
  return {
    ociVersion: '1.0.2',
    root: { path: rootfs },
    process: {
      user: { uid: 0, gid: 0 },
      args: [],
      env: [PATH, 'HOME=/root'],
      cwd: '/',
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      noNewPrivileges: true,
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'strictatime', 'mode=755'] },
      { destination: '/dev/pts', type: 'devpts', source: 'devpts', options: ['nosuid', 'noexec', 'newinstance'] },
      { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: [...nothing, 'mode=1777'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] },
    ],
    linux: {
      namespaces: ['mount', 'uts', 'pid', 'ipc', 'network'].map((type) => ({ type })),
      resources: { devices: [{ allow: false, access: 'rwm' }] },
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'],
      readonlyPaths: ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus'],
    },
  };
}

/** `base`: config.json of the bundle, with an absolute root. */
export function ociConfig(source: ContainerSource, request: ContainerRequest, base: OciConfig): OciConfig {
  const { gpu } = source;
  const edits: OciEdits[] = [
    ...(gpu.by === 'cdi' ? gpu.edits : []),
    ...(gpu.by === 'devices' ? [{ deviceNodes: gpu.nodes.map((path) => ({ path })) }] : []),
    ...(gpu.by === 'hook' ? [hookEdits(gpu)] : []),
  ];
  const nodes = edits.flatMap(({ deviceNodes = [] }) => deviceNodes);
  const devices = nodes.map(({ path, hostPath }) => deviceOf(path, hostPath));
  const { resources, ...linux } = base.linux ?? {};
  return {
    ...base,
    process: {
      ...base.process,
      terminal: false,
      args: [...request.command],
      env: environmentOf(base, edits, request),
      cwd: request.cwd,
    },
    mounts: [...mountsOf(base, source), ...edits.flatMap(editedMounts), ...request.mounts.map(bindMount)],
    hooks: hooksOf(base, edits),
    linux: {
      ...linux,
      namespaces: namespacesOf(base, source),
      devices: [...(linux.devices ?? []), ...devices],
      resources: {
        ...resources,
        devices: [
          ...(resources?.devices ?? []),
          ...devices.map(({ type, major, minor }, index) => ({
            allow: true,
            type,
            major,
            minor,
            access: nodes[index]?.permissions ?? 'rw',
          })),
        ],
      },
    },
  };
}

function hookEdits({ gpu, program }: { gpu: string; program: string | null }): OciEdits {
  if (program === null) throw new Error('the hook of the NVIDIA container toolkit is not there');
  return {
    env: Object.entries(hookVariables(gpu)).map(([name, value]) => `${name}=${value}`),
    hooks: [{ hookName: 'prestart', path: program, args: [program, 'prestart'] }],
  };
}

/** What stands later wins. */
function environmentOf(base: OciConfig, edits: readonly OciEdits[], { environment }: ContainerRequest): string[] {
  const own = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const all = [...(base.process.env ?? []), ...edits.flatMap(({ env = [] }) => env), ...own];
  const byName = new Map(all.map((text) => [text.split('=')[0], text]));
  return [...byName.values()];
}

const bindMount = ({ source, target, readOnly }: ContainerRequest['mounts'][number]): OciMount => ({
  destination: target,
  type: 'bind',
  source,
  options: ['rbind', readOnly ? 'ro' : 'rw'],
});

const editedMounts = ({ mounts = [] }: OciEdits): OciMount[] =>
  mounts.map(({ hostPath, containerPath, options = ['ro', 'nosuid', 'nodev', 'rbind'] }) => ({
    destination: containerPath,
    type: 'bind',
    source: hostPath,
    // Runtimes take a mount for a bind mount by its options.
    options: options.some((option) => /^r?bind$/.test(option)) ? options : [...options, 'rbind'],
  }));

/** Shared memory of the host is at its /dev/shm. */
const mountsOf = ({ mounts = [] }: OciConfig, { ipc }: ContainerSource): OciMount[] =>
  ipc === 'private'
    ? mounts
    : mounts.map((mount) =>
        mount.destination === '/dev/shm'
          ? bindMount({ source: '/dev/shm', target: '/dev/shm', readOnly: false })
          : mount,
      );

function hooksOf({ hooks = {} }: OciConfig, edits: readonly OciEdits[]): NonNullable<OciConfig['hooks']> {
  const all = Object.fromEntries(Object.entries(hooks).map(([name, list]) => [name, [...list]]));
  for (const { hookName, ...hook } of edits.flatMap(({ hooks: added = [] }) => added))
    (all[hookName] ??= []).push(hook);
  return all;
}

function namespacesOf({ linux }: OciConfig, { pid, ipc, network }: ContainerSource): { type: string }[] {
  const shared = new Set([
    ...(pid === 'host' ? ['pid'] : []),
    ...(ipc === 'host' ? ['ipc'] : []),
    ...(network === 'host' ? ['network'] : []),
  ]);
  const own = ['mount', 'uts', 'pid', 'ipc', 'network'].filter((type) => !shared.has(type));
  const given = (linux?.namespaces ?? []).filter(({ type }) => !shared.has(type));
  return [...given, ...own.filter((type) => !given.some((each) => each.type === type)).map((type) => ({ type }))];
}
