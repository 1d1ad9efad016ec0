/** What `load` proves of a server that already runs, on this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { closedPort } from '../ports.js';
import { ownRegion } from '../temporary.js';
import { addonFile, cardIn, command, emptyFolder, parseDocument, root, simulatedFolder } from './command.js';
import { cannotUnshare } from './containers.js';

interface Served {
  url: string;
  port: number;
  sim: string;
  pid: number;
}

const layer = interposerLibrary() as string;

/** A server with a context on the simulated GPU; `before` is what becomes it. */
async function served(environment: NodeJS.ProcessEnv = {}, before: readonly string[] = []): Promise<Served> {
  const port = await closedPort();
  const sim = cardIn(ownRegion('cli'));
  const program = [process.execPath, join(root, 'test/workers/fixtures/served.mjs'), `${port}`, 'steady'];
  const [first, ...rest] = [...before, ...program] as [string, ...string[]];
  const child: ChildProcess = spawn(first, rest, {
    env: { PATH: process.env.PATH, ADDON: addonFile, DRIVER: simulatedFolder, GVB_SIM: sim, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(createInterface(child.stdout as NodeJS.ReadableStream), 'line');
  return { url: `http://127.0.0.1:${port}/`, port, sim, pid: child.pid as number };
}

async function loaded({ url, sim }: Served, options: readonly string[]) {
  const few = ['--requests', '2', '--warmup', '0', '--json', '-', '--simulate'];
  const { code, stdout, stderr } = await command(['load', url, ...few, ...options], {}, sim);
  const { system, metrics } = parseDocument(stdout);
  return { code, stderr, system, reason: metrics[0]?.reason };
}

/** The folder of a daemon's pipes: the simulated driver takes a process that finds its pipe there for a client. */
function daemonPipes(): string {
  const pipes = join(emptyFolder(), 'p');
  mkdirSync(pipes);
  writeFileSync(join(pipes, 'control'), '');
  return pipes;
}

describe('load of a server under MPS', () => {
  it('is proven where NVML lists it as a client', async () => {
    const pipes = daemonPipes();
    const server = await served({ CUDA_MPS_PIPE_DIRECTORY: pipes });
    const { system } = await loaded(server, ['--under', 'mps-50', '--mps']);
    expect(system).toMatchObject({
      name: 'mps-50',
      attestation: [{ passed: true, detail: expect.stringContaining(`names the daemon at ${pipes}`) as string }],
    });
  });

  it.each<[string, () => NodeJS.ProcessEnv, string[], RegExp]>([
    ['is no client', () => ({}), ['--under', 'mps', '--mps'], /not as a client of MPS/],
    ['found no daemon', () => ({ CUDA_MPS_PIPE_DIRECTORY: emptyFolder() }), ['--mps'], /not as a client of MPS/],
    [
      'is called native, and is a client',
      () => ({ CUDA_MPS_PIPE_DIRECTORY: daemonPipes() }),
      ['--under', 'native'],
      /as a client of MPS$/,
    ],
    [
      'is a client, without the layer that it should have too',
      () => ({ CUDA_MPS_PIPE_DIRECTORY: daemonPipes() }),
      ['--mps', '--layer', layer],
      /used the driver without/,
    ],
  ])('has no number where it %s', async (_, environment, options, why) => {
    const { code, reason } = await loaded(await served(environment()), options);
    expect(code).toBe(5);
    expect(reason).toMatch(/^layer not active: /);
    expect(reason).toMatch(why);
  });
});

/** A root folder of its own, as a container has: every folder of this machine, mounted in a new one. */
const CONTAINED = `
  set -e
  mount -t tmpfs tmpfs "$1"
  for each in /*; do
    [ -d "$each" ] && [ "$each" != /proc ] || continue
    mkdir -p "$1$each" && mount --rbind "$each" "$1$each"
  done
  mkdir -p "$1/proc" "$1/before" && mount --rbind /proc "$1/proc"
  cd "$1"; shift
  pivot_root . before
  umount -l /before
  exec "$@"`;

/** Passes connections on, as the proxy of a published port does; a process of its own, which did not start the server. */
const PROXY = `
  const { connect, createServer } = require('node:net');
  const proxy = createServer((socket) => {
    const inner = connect(Number(process.argv[1]), '127.0.0.1');
    for (const each of [socket, inner]) each.on('error', () => undefined);
    socket.pipe(inner).pipe(socket);
  });
  proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port));`;

describe.skipIf(cannotUnshare('load of a server in a container'))('load of a server in a container', () => {
  const inContainer = (environment: NodeJS.ProcessEnv = {}) =>
    served(environment, ['unshare', '--mount', 'bash', '-c', CONTAINED, '-', emptyFolder()]);

  it('is proven by a root folder of its own', async () => {
    const { system } = await loaded(await inContainer(), ['--under', 'podman', '--container']);
    expect(system).toMatchObject({ name: 'podman', attestation: [{ passed: true }] });
  });

  it('is proven with its layer', async () => {
    const server = await inContainer({ LD_PRELOAD: layer, GVB_INTERPOSE: 'cuLaunchKernel=+1us' });
    const { system } = await loaded(server, ['--under', 'podman', '--container', '--layer', layer]);
    expect(system).toMatchObject({ name: 'podman', attestation: [{ passed: true }] });
    const without = await loaded(await inContainer(), ['--container', '--layer', layer]);
    expect(without).toMatchObject({ code: 5, reason: expect.stringContaining('used the driver without') as string });
  });

  it('has no number where it only has mounts of its own, as a service of systemd', async () => {
    const { code, reason } = await loaded(await served({}, ['unshare', '--mount']), ['--container']);
    expect(code).toBe(5);
    expect(reason).toMatch(/^layer not active: process \d+ \(.*\) has the root folder of this machine$/);
  });

  it('is found by its PID behind a proxy', async () => {
    const server = await inContainer();
    const proxy = spawn(process.execPath, ['-e', PROXY, `${server.port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void proxy.kill());
    const [port] = (await once(createInterface(proxy.stdout), 'line')) as [string];
    const published = { ...server, url: `http://127.0.0.1:${port}/` };
    const unnamed = await loaded(published, ['--container']);
    expect(unnamed.system.name).toBe('running (unverified)');
    expect(unnamed.stderr).toMatch(/it may be a proxy, name the server itself with --pid/);
    const named = await loaded(published, ['--container', '--pid', `${server.pid}`]);
    expect(named.system).toMatchObject({ name: 'running', attestation: [{ passed: true }] });
    const other = spawn('sleep', ['60']);
    onTestFinished(() => void other.kill());
    const wrong = await loaded(published, ['--container', '--pid', `${other.pid}`]);
    expect(wrong.stderr).toMatch(/neither process \d+ nor one that it started uses the driver/);
  });
});

it.each([
  [['--under', 'native', '--mps'], /Expected --under native without --layer, --mps and --container/],
  [['--pid', 'x'], /Expected --pid to be the number of a process but received 'x'/],
])('refuses %j', async (options, why) => {
  const { code, stderr } = await command(['load', 'http://127.0.0.1:1/', ...options]);
  expect(code).toBe(2);
  expect(stderr).toMatch(why);
});
