// Writes what the studies of containers need, from what this machine has, without a network: a CDI specification, a bundle for runc
// and crun and an image for podman, both with the folders of the host:
//   node studies/containers.mjs FOLDER [--share FOLDER]…
// FOLDER gets cdi/nvidia.yaml, bundle/, image.tar, which has little more than mount points, and containers.conf, which has podman mount
// the folders there and search programs where the host does. --share names further folders of the host that programs need, such as
// that of PyTorch.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    share: { type: 'string', multiple: true, default: [] },
  },
});
if (positionals.length !== 1) {
  console.error('Expected: containers.mjs FOLDER [--share FOLDER]…');
  process.exit(2);
}
const folder = resolve(positionals[0]);

/** Device nodes of the driver: all cards, control, unified memory, and MIG's capabilities. */
const nodesIn = (path, pattern) =>
  existsSync(path)
    ? readdirSync(path)
        .filter((name) => pattern.test(name))
        .sort()
        .map((name) => join(path, name))
    : [];
const cards = nodesIn('/dev', /^nvidia\d+$/);
const common = nodesIn('/dev', /^nvidia(ctl|-uvm|-uvm-tools|-modeset)$/);

/** Where the driver put its libraries; a machine in a container itself may have them mounted one by one. */
const places = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/local/nvidia/lib64'];
const wanted = /^lib(cuda|nvidia-ml|nvidia-ptxjitcompiler|nvidia-nvvm|cudadebugger|nvidia-gpucomp)\.so(\.\d+)*$/;
const libraries = places.flatMap((place) => nodesIn(place, wanted));
const programs = ['nvidia-smi', 'nvidia-cuda-mps-control', 'nvidia-cuda-mps-server']
  .map((name) => join('/usr/bin', name))
  .filter((path) => existsSync(path));

const readOnly = ['ro', 'nosuid', 'nodev', 'rbind', 'rprivate'];
const specification = {
  cdiVersion: '0.5.0',
  kind: 'nvidia.com/gpu',
  devices: [
    ...cards.map((path) => ({ name: /\d+$/.exec(path)[0], containerEdits: { deviceNodes: [{ path }] } })),
    ...(cards.length > 0 ? [{ name: 'all', containerEdits: { deviceNodes: cards.map((path) => ({ path })) } }] : []),
  ],
  containerEdits: {
    deviceNodes: common.map((path) => ({ path })),
    mounts: [...libraries, ...programs].map((path) => ({
      hostPath: realpathSync(path),
      containerPath: path,
      options: readOnly,
    })),
  },
};

/** This repository, whose programs the studies run. */
const own = dirname(dirname(fileURLToPath(import.meta.url)));

/** The folders of the host that a program needs, each as a mount: a link such as /lib becomes what it leads to. */
const shared = ['/usr', '/lib', '/lib64', '/bin', '/sbin', '/etc', '/opt', own, ...values.share]
  .filter((path) => existsSync(path))
  .map((path) => ({ destination: path, type: 'bind', source: realpathSync(path), options: ['rbind', 'ro'] }));
const nothing = ['nosuid', 'noexec', 'nodev'];
const capabilities = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_KILL', 'CAP_SETGID', 'CAP_SETUID'];
const configuration = {
  ociVersion: '1.0.2',
  root: { path: 'rootfs' },
  process: {
    user: { uid: 0, gid: 0 },
    args: [],
    env: [`PATH=${process.env.PATH}`, 'HOME=/root'],
    cwd: '/',
    capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
    noNewPrivileges: true,
  },
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'strictatime', 'mode=755'] },
    { destination: '/dev/pts', type: 'devpts', source: 'devpts', options: ['nosuid', 'noexec', 'newinstance'] },
    { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: [...nothing, 'mode=1777'] },
    { destination: '/sys', type: 'bind', source: '/sys', options: ['rbind', 'ro'] },
    { destination: '/tmp', type: 'bind', source: '/tmp', options: ['rbind', 'rw'] },
    ...shared,
  ],
  linux: {
    namespaces: ['mount', 'uts', 'pid', 'ipc', 'network'].map((type) => ({ type })),
    resources: { devices: [{ allow: false, access: 'rwm' }] },
  },
};

const bundle = join(folder, 'bundle');
// Mount points are made beforehand: what a runtime makes itself would be in the way of the next container.
for (const { destination } of configuration.mounts) mkdirSync(join(bundle, 'rootfs', destination), { recursive: true });
const write = (path, value) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
};
write(join(folder, 'cdi/nvidia.yaml'), specification);
write(join(bundle, 'config.json'), configuration);

/** The folders that podman mounts; it writes files of its own to /etc, and links lead to /usr. */
const volumes = [...new Set(['/usr', '/opt', own, ...values.share].filter((path) => existsSync(path)))];
const image = join(folder, 'image');
rmSync(image, { recursive: true, force: true });
for (const path of ['/dev', '/proc', '/sys', '/tmp', '/root', '/etc', ...volumes])
  mkdirSync(join(image, path), { recursive: true });
for (const path of ['/bin', '/lib', '/lib64', '/sbin'].filter((link) => existsSync(link)))
  cpSync(path, join(image, path), { verbatimSymlinks: true, recursive: true });
for (const path of ['/etc/group', '/etc/ld.so.cache', '/etc/nsswitch.conf', '/etc/passwd'].filter((file) =>
  existsSync(file),
))
  cpSync(path, join(image, path));
const { status, stderr } = spawnSync('tar', ['-cf', join(folder, 'image.tar'), '-C', image, '.'], { encoding: 'utf8' });
if (status !== 0) {
  console.error(`tar failed: ${stderr}`);
  process.exit(1);
}
rmSync(image, { recursive: true });
/** The limits of this process, at most what podman allows itself; of itself it asks for more, which not every machine allows. */
const limits = readFileSync('/proc/self/limits', 'utf8');
const hardLimit = (title) => Number(new RegExp(`^${title} +\\S+ +(\\d+) `, 'm').exec(limits)?.[1] ?? Infinity);
const mostProcesses = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'));
const ulimits = [
  ['nofile', Math.min(hardLimit('Max open files'), 1_048_576)],
  ['nproc', Math.min(hardLimit('Max processes'), mostProcesses)],
].map(([name, most]) => `${name}=${most}:${most}`);
writeFileSync(
  join(folder, 'containers.conf'),
  [
    '[containers]',
    `volumes = ${JSON.stringify(volumes.map((path) => `${path}:${path}:ro`))}`,
    `default_ulimits = ${JSON.stringify(ulimits)}`,
    `env = ${JSON.stringify(configuration.process.env)}`,
    '',
  ].join('\n'),
);
console.log(`${folder}: ${cards.length} cards, ${libraries.length} libraries of the driver`);
