/**
 * The system `mps` with a stand-in for the control program; the simulated driver recognises a client by the daemon's
 * pipe.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { RunDocument } from '../../lib/results/document.js';
import { ownServers } from '../../lib/environment/mps.js';
import { packageRoot } from '../../lib/package-root.js';
import { MpsSystem } from '../../lib/systems/kinds/mps/mps-system.js';
import { runState } from '../unit/systems/fixtures.js';
import { passing } from '../waiting.js';
import { command, emptyFolder, FIRST_CARD, parseComparison, processesOf, start } from './command.js';
import { control, pathWithLimits, pathWithMps } from './mps-control.js';

const sim = 'init_ms=1,context_ms=1';

/** process.env of Node is the environment of the C library, in which the driver looks. */
const LOSES_PIPES = 'delete process.env.CUDA_MPS_PIPE_DIRECTORY;';

const args = (system: string, output: string) => [
  ...['compare', 'OH-002', '--simulate', '--tier', 'quick', '--iterations', '20', '--rounds', '1', '--json', '-'],
  ...['--system', 'native', '--system', system, '--output', join(output, 'out')],
];

/** A folder that stands for the root of the cgroups. */
function cgroupRoot(capacity: string): string {
  const root = emptyFolder();
  writeFileSync(join(root, 'dmem.capacity'), `${capacity}\n`);
  return root;
}

/** Guardian, daemon and clients all have the pipe directory, which is in the run's own TMPDIR. */
function processesIn(temporary: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const isOurs = readFileSync(`/proc/${name}/environ`, 'utf8').includes(`CUDA_MPS_PIPE_DIRECTORY=${temporary}/`);
        return isOurs ? [readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')] : [];
      } catch {
        return [];
      }
    });
}

/** TMPDIR is the test's own, so that anything left behind is seen. */
async function compare(system: string, path: string, more: readonly string[] = []) {
  const temporary = emptyFolder();
  const run = start([...args(system, emptyFolder()), ...more], { PATH: path, TMPDIR: temporary }, sim);
  const outcome = await run.done;
  await passing(() => expect([...processesOf(run.mark), ...processesIn(temporary)]).toEqual([]));
  expect(readdirSync(temporary)).toEqual([]);
  return outcome;
}

// These tests run in parallel, because they wait for daemons.
describe.concurrent('mps', () => {
  it('measures proven clients of a private daemon, and makes it quit', async () => {
    const { code, stdout, stderr } = await compare('mps:sm=25', pathWithMps());
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('mps') as string });
    const { systems } = parseComparison(stdout);
    const { system, metrics, gpu } = systems[1]?.[0] ?? {};
    expect(metrics?.[0]?.status).toBe('ok');
    expect(gpu?.[0]).toMatchObject({ mpsClient: true, multiprocessors: 33 });
    expect(system?.settings).toMatchObject({ CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: '25' });
    expect(system?.attestation.every(({ passed }) => passed)).toBe(true);
    expect(system?.attestation.map(({ proof }) => proof)).toContain('MPS attribute (CU_DEVICE_ATTRIBUTE_MPS_ENABLED)');
    expect(systems[0]?.[0]?.gpu[0]?.mpsClient).toBe(false);
  });

  it('shows a program only the GPU that CUDA_VISIBLE_DEVICES names: a client would see all of the machine', async () => {
    const says = ['exec', '--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1', '--json', '-'];
    const program = [
      '--output',
      join(emptyFolder(), 'out'),
      '--',
      'sh',
      '-c',
      'echo "sees $CUDA_VISIBLE_DEVICES"; exit 7',
    ];
    const environment = { PATH: pathWithMps(), TMPDIR: emptyFolder(), CUDA_VISIBLE_DEVICES: '1' };
    const { done } = start([...says, '--system', 'mps', ...program], environment, `${sim},devices=2`);
    const [document] = parseComparison((await done).stdout).systems[0] ?? [];
    const second = `${FIRST_CARD.slice(0, -1)}1`;
    expect(document?.gpu.map(({ uuid }) => uuid)).toEqual([second]);
    expect(document?.metrics[0]?.reason).toContain(`sees ${second}`);
  });

  it('proves a pinned limit by free memory, and by an allocation over it', async () => {
    const { code, stdout } = await compare('mps:memory=10GiB', pathWithMps());
    expect(code).toBe(0);
    const { system } = parseComparison(stdout).systems[1]?.[0] ?? {};
    expect(system?.settings).toMatchObject({ CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: '0=10240M' });
    expect(system?.attestation).toContainEqual({
      proof: 'free memory in the tenant against its pinned limit',
      passed: true,
      detail: expect.stringMatching(/is shown .* free, the limit is 10240 MiB$/),
    });
    expect(system?.attestation.map(({ proof }) => proof)).toContain('allocation of 10496 MiB is refused');
  });

  it('gives every tenant its own partition with -S, and proves its size', async () => {
    const { code, stdout } = await compare('mps:partition=4', pathWithMps());
    expect(code).toBe(0);
    const { system, metrics, gpu } = parseComparison(stdout).systems[1]?.[0] ?? {};
    expect(metrics?.[0]?.status).toBe('ok');
    expect(gpu?.[0]).toMatchObject({ mpsClient: true, multiprocessors: 32 });
    expect(system?.attestation).toContainEqual({
      proof: 'multiprocessors in the partition',
      passed: true,
      detail: 'the tenant has 32 of 132 in a partition of 4 chunks',
    });
  });

  it('publishes nothing if a client sees the whole card in its partition', async () => {
    const { code, stdout } = await compare('mps:partition=4', pathWithMps('fault-unpartitioned'));
    expect(code).toBe(5);
    expect(parseComparison(stdout).systems[1]?.[0]?.metrics[0]?.reason).toMatch(
      /^layer not active: multiprocessors in the partition: the tenant has 132 of 132/,
    );
  });

  it.each<[string, string | null, number, RegExp]>([
    ['is not mounted', null, 2, /no cgroup from .* up has dmem\.capacity: .*kernel from 6\.14/],
    ['has no memory of the driver', 'drm/0000:01:00.0/vram0 1024', 2, /lists no memory of the NVIDIA driver: .*R615/],
    ['has another GPU', 'nvidia/0000:09:00.0/vidmem 1024', 5, /no region of the GPU at 0000:01:00\.0/],
    [
      'has limits that the driver ignores',
      'nvidia/0000:01:00.0/vidmem 1024',
      5,
      /allocation of 10496 MiB is refused: /,
    ],
  ])('publishes nothing under a limit by cgroup if dmem %s', async (_, capacity, exit, says) => {
    const root = capacity === null ? emptyFolder() : cgroupRoot(capacity);
    const { code, stdout, stderr } = await compare(`mps:memory=10GiB,enforcer=cgroup,cgroup=${root}`, pathWithMps());
    expect(code).toBe(exit);
    expect(exit === 2 ? stderr : parseComparison(stdout).systems[1]?.[0]?.metrics[0]?.reason).toMatch(says);
  });

  it('proves limits by cgroup, and says who loses memory on a full card', async () => {
    const root = cgroupRoot(`nvidia/0000:01:00.0/vidmem ${2 ** 33}`);
    const system = `mps:memory=6GiB,soft=4GiB,enforcer=cgroup,cgroup=${root}`;
    const limits = ['compare', 'IS-001', ...args(system, emptyFolder()).slice(2)];
    const card = `${sim},memory_mib=8192,dmem=${root},dmem_evicts=0`;
    const run = start(limits, { PATH: pathWithMps(), TMPDIR: emptyFolder() }, card);
    const { code, stdout, stderr } = await run.done;
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining('does not keep soft memory limits') as string,
    });
    const { system: described, metrics } = parseComparison(stdout).systems[1]?.[0] as RunDocument;
    expect(described.settings).toMatchObject({ 'mps.enforcer': `cgroup below ${root}, dmem` });
    const proofs = described.attestation.map(({ proof }) => proof);
    for (const file of ['dmem.max', 'dmem.min']) expect(proofs).toContain(`${file} of the cgroup`);
    expect(proofs).toContain('the process is in the cgroup of its tenant');
    expect(metrics[0]).toMatchObject({ status: 'ok', details: { evictions: [{ passed: false }, { passed: true }] } });
    expect(readdirSync(root)).toEqual(['dmem.capacity']);
    await passing(() => expect(processesOf(run.mark)).toEqual([]));
  });

  /** Kills a run whose tenant has a process in a cgroup below `root` with that name. */
  async function killInCgroup(system: string, root: string, path: string, members: RegExp): Promise<void> {
    const temporary = emptyFolder();
    const left = readdirSync(root);
    const limited = `${system},enforcer=cgroup,cgroup=${root}`;
    const more = ['--iterations', '100000', '--system', limited, '--system', 'native'];
    const run = start(
      ['compare', 'OH-001', '--simulate', ...more, '--output', join(emptyFolder(), 'out')],
      { PATH: path, TMPDIR: temporary },
      `${sim},memory_mib=8192,dmem=${root}`,
    );
    await passing(() => expect(readdirSync(root, { recursive: true })).toContainEqual(expect.stringMatching(members)));
    run.child.kill('SIGKILL');
    await run.done;
    await passing(() => expect(readdirSync(root)).toEqual(left));
    await passing(() => expect([...processesOf(run.mark), ...processesIn(temporary)]).toEqual([]));
  }

  it('removes the cgroups of its tenants when the run is killed', async () => {
    const root = cgroupRoot(`nvidia/0000:01:00.0/vidmem ${2 ** 33}`);
    await killInCgroup('mps:memory=6GiB', root, pathWithMps(), /^gvb-\w+-mps-\d+\.\d+\/cgroup\.procs$/);
    expect(readdirSync(root)).toEqual(['dmem.capacity']);
  });

  it('proves limits by nvidia-smi where the kernel has no dmem, and clears soft ones before their cgroups go', async () => {
    const root = emptyFolder();
    const { path, calls } = pathWithLimits();
    const system = `mps:memory=6GiB,soft=4GiB,enforcer=cgroup,cgroup=${root}`;
    const limits = ['compare', 'IS-001', ...args(system, emptyFolder()).slice(2)];
    const run = start(
      limits,
      { PATH: path, TMPDIR: emptyFolder() },
      `${sim},memory_mib=8192,dmem=${root},dmem_evicts=1`,
    );
    const { code, stdout, stderr } = await run.done;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { system: described, metrics } = parseComparison(stdout).systems[1]?.[0] as RunDocument;
    expect(described.settings).toMatchObject({ 'mps.enforcer': `cgroup below ${root}, nvidia-smi memory-limits` });
    const proofs = described.attestation.filter(({ proof }) => proof.endsWith('that the driver reports'));
    expect(proofs).toMatchObject([
      { proof: 'hard limit that the driver reports', passed: true, detail: '6144 MiB, 6144 MiB was set' },
      { proof: 'soft limit that the driver reports', passed: true, detail: '4096 MiB, 4096 MiB was set' },
    ]);
    expect(metrics[0]).toMatchObject({ status: 'ok', details: { evictions: [{ passed: true }, { passed: true }] } });
    expect(readdirSync(root)).toEqual([]);
    // Hard and soft limit in MiB, and the group.
    const groups = calls().map((call) => call.split(' '));
    expect(groups[0]?.slice(0, 2)).toEqual(['6144', '4096']);
    const made = new Set(groups.map(([, , name]) => name));
    for (const own of made) expect(groups.findLast(([, , name]) => name === own)?.slice(0, 2)).toEqual(['max', '0']);
    await passing(() => expect(processesOf(run.mark)).toEqual([]));
  });

  it.each([
    ['refuses', 'fault-refused', /memory-limits --set .*ended with exit code 3: .*Not Supported/],
    ['forgets', 'fault-forgotten', /hard limit that the driver reports: max, 10240 MiB was set/],
    ['ignores', 'fault-ignored', /hard limit that the driver reports: max, 10240 MiB was set/],
  ])('publishes nothing under a limit that nvidia-smi %s', async (_, fault, says) => {
    const root = emptyFolder();
    const { path } = pathWithLimits(fault);
    const { code, stdout } = await compare(`mps:memory=10GiB,enforcer=cgroup,cgroup=${root}`, path);
    expect(code).toBe(5);
    expect(parseComparison(stdout).systems[1]?.[0]?.metrics[0]?.reason).toMatch(says);
    expect(readdirSync(root)).toEqual([]);
  });

  it('clears the soft limits of a run that was killed', async () => {
    const root = emptyFolder();
    const { path, calls } = pathWithLimits();
    await killInCgroup('mps:memory=6GiB,soft=4GiB', root, path, /^gvb-\w+-mps-\d+\.\d+\.\d+\/cgroup\.procs$/);
    expect(readdirSync(root)).toEqual([]);
    expect(calls().at(-1)).toMatch(/^max 0 gvb-/);
  });

  it('waits for the processes of a cgroup, and leaves those of other systems alone', async () => {
    const root = emptyFolder();
    const others = ['gvb-1-mps-2-0.4096', 'gvb-2-mps-0.4096'];
    for (const name of ['gvb-1-mps-0.4096', 'gvb-1-mps-1.4096.1024', ...others]) mkdirSync(join(root, name));
    const ofCgroup = join(root, 'gvb-1-mps-0.4096/cgroup.controllers');
    writeFileSync(ofCgroup, '');
    const program = join(packageRoot, 'dist/systems/kinds/mps/group-guardian.js');
    const guardian = spawn(process.execPath, [program, root, 'gvb-1-mps-'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const ended = once(guardian, 'exit');
    guardian.stdin.end();
    // It removes them in the order of their names, and has failed with the first.
    await passing(() => expect(readdirSync(root)).toEqual(['gvb-1-mps-0.4096', ...others]));
    rmSync(ofCgroup);
    expect(await ended).toEqual([0, null]);
    expect(readdirSync(root)).toEqual(others);
  });

  it("reports the daemon's answer if it grants no partition", async () => {
    const { code, stdout } = await compare('mps:partition=4', pathWithMps('fault-partition'));
    expect(code).toBe(1);
    expect(parseComparison(stdout).systems[1]?.[0]?.metrics[0]?.reason).toMatch(
      /^The MPS daemon of mps gave no partition of 4 chunks: Failed to create a partition: not enough chunks/,
    );
  });

  it.each([
    ['mps', /^several GPUs are needed; the process sees one GPU, .* \(gpus=visible of mps shows it all of them\)$/],
    ['mps:gpus=visible', null],
  ] as const)('serves the measured GPU alone or all: %s', async (system, reason) => {
    const output = join(emptyFolder(), 'out');
    const path = pathWithMps();
    const run = start(
      [
        ...['compare', 'NCCL-003', 'OH-001', '--simulate', '--device', '1', '--tier', 'quick', '--iterations', '6'],
        ...['--rounds', '1', '--json', '-', '--system', 'native', '--system', system, '--output', output],
      ],
      { PATH: path },
      `${sim},devices=3`,
    );
    const { code, stdout } = await run.done;
    expect(code).toBe(0);
    const [native, mps] = parseComparison(stdout).systems.map(([round]) => round);
    const copies = mps?.metrics.find(({ id }) => id === 'NCCL-003');
    expect(mps?.gpu).toMatchObject([{ mpsClient: true, index: 1, uuid: native?.gpu[0]?.uuid }]);
    if (reason === null) expect(copies).toMatchObject({ status: 'ok', details: { pairsWithAccess: 6 } });
    else expect(copies).toMatchObject({ status: 'unsupported', reason: expect.stringMatching(reason) as string });
  });

  it('refuses a partition if the control program has no such command', async () => {
    const path = pathWithMps();
    writeFileSync(join(path.split(':')[0] as string, control), '#!/bin/sh\nexit 1\n');
    const { code, stderr } = await compare('mps:partition=4', path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/has no command sm_partition: .*13\.1 or newer \(driver R590\)/);
  });

  it('publishes nothing if its clients run without the daemon', async () => {
    const { code, stdout } = await compare('mps', pathWithMps('fault-lost'));
    expect(code).toBe(5);
    const metric = parseComparison(stdout).systems[1]?.[0]?.metrics[0];
    expect(metric).toMatchObject({ status: 'invalid', value: null });
    expect(metric?.reason).toMatch(/^layer not active: MPS attribute .*0: it runs without MPS/);
  });

  describe('of programs of exec', () => {
    const script = 'cuda.openSession(target).then(() => setTimeout(() => process.exit(0), 2_000))';
    const addon = fileURLToPath(new URL('../../build/Release/gpu_virt_bench.node', import.meta.url));
    const session = `{ simulatedDriver: process.env.LD_LIBRARY_PATH.split(':')[0], device: null, path: 'runtime' }`;
    const user = ['-e', `const cuda = require(${JSON.stringify(addon)}); const target = ${session}; ${script}`];
    const under = async (program: readonly string[]) => {
      const given = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '2', '--json', '-', '--name', 'p'];
      const output = join(emptyFolder(), 'out');
      const run = start(
        ['exec', ...given, '--system', 'mps', '--output', output, '--', ...program],
        { PATH: pathWithMps(), TMPDIR: emptyFolder() },
        sim,
      );
      const { code, stdout, stderr } = await run.done;
      const { systems } = parseComparison(stdout);
      const [document] = systems[0] as [RunDocument];
      const wall = document.metrics.find(({ id }) => id === 'p/wall');
      const check = wall?.checks.find(({ name }) => name === 'processes of the program under the system');
      return { code, stderr, system: document.system, wall, check };
    };

    it('proves from outside that they are clients of its daemon', async () => {
      const { code, stderr, system, wall, check } = await under([process.execPath, ...user]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('unverified') as string });
      expect([system.name, system.processes]).toMatchObject(['mps', { proven: 2, of: 2 }]);
      expect(wall?.status).toBe('ok');
      expect(check).toMatchObject({
        passed: true,
        detail: expect.stringMatching(
          /^NVML listed 1 of 1 processes that used the driver as clients of MPS, and the environment of each names the daemon of mps \(2 of 2 runs\)$/,
        ) as string,
      });
    });

    it.each([
      ['a variable that env takes out', ['env', '-u', 'CUDA_MPS_PIPE_DIRECTORY', process.execPath, ...user]],
      // As it changes what the driver reads, but not what others see of its environment.
      ['a variable cleared at run time', [process.execPath, '-e', `${LOSES_PIPES} ${user[1]}`]],
    ])('disowns one that evades its daemon: %s', async (_, program) => {
      const { code, wall } = await under(program);
      expect(code).toBe(5);
      expect(wall).toMatchObject({ status: 'invalid', value: null });
      expect(wall?.reason).toMatch(
        /^layer not active: NVML lists process \d+ \(.*\) on the GPU, but not as a client of MPS/,
      );
    });

    it('says that it could not prove one that does not use the GPU', async () => {
      const { code, stderr, wall, check } = await under(['/bin/true']);
      expect([code, wall?.status]).toEqual([0, 'ok']);
      expect(check).toMatchObject({ passed: 'not checked' });
      expect(stderr).toContain('mps is shown as mps (unverified): no process of the program was seen to use the GPU.');
    });
  });

  it('reports faults that reach all clients, and recovers with a new daemon', async () => {
    const wanted = ['compare', 'IS-010', ...args('mps', emptyFolder()).slice(1)];
    const run = start(wanted, { PATH: pathWithMps(), TMPDIR: emptyFolder() }, sim);
    const { code, stdout } = await run.done;
    expect(code).toBe(4);
    const [native, mps] = parseComparison(stdout).systems.map(([document]) => document) as [RunDocument, RunDocument];
    expect(native.metrics.find(({ id }) => id === 'IS-010')).toMatchObject({ status: 'ok', value: 1 });
    expect(mps.plan.metrics).toEqual(['OH-002', 'IS-010']);
    expect(mps.system.attestation.every(({ passed }) => passed)).toBe(true);
    const [allocation, faults] = mps.metrics;
    expect(allocation?.status).toBe('ok');
    expect(faults).toMatchObject({ status: 'ok', value: 0 });
    const rows = faults?.details.faults as { victim: string; newTenant: string; passed: boolean }[];
    expect(rows.map(({ passed }) => passed)).toEqual([false, false, false, false, true, true, true, true]);
    for (const { newTenant } of rows.slice(0, 4)) expect(newTenant).toMatch(/CUDA_ERROR_MPS_SERVER_NOT_READY/);
    expect(faults?.violations).toHaveLength(4);
    await passing(() => expect(processesOf(run.mark)).toEqual([]));
  });

  it('is refused if the control program is not installed', async () => {
    const { code, stderr } = await compare('mps', dirname(process.execPath));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*mps: nvidia-cuda-mps-control is not in PATH.*--allow-missing\.$/m);
  });

  it('is unsupported with --allow-missing if it is not installed', async () => {
    const { code, stdout } = await compare('mps', dirname(process.execPath), ['--allow-missing']);
    expect(code).toBe(0);
    const metric = parseComparison(stdout).systems[1]?.[0]?.metrics[0];
    expect(metric).toMatchObject({ status: 'unsupported', reason: `${control} is not in PATH` });
  });

  it('reports why a daemon does not start, and measures the other systems', async () => {
    const { code, stdout } = await compare('mps', pathWithMps('fault-start'));
    expect(code).toBe(1);
    const [native, mps] = parseComparison(stdout).systems.map((rounds) => rounds[0]?.metrics[0]);
    expect(native?.status).toBe('ok');
    expect(mps).toMatchObject({ status: 'failed', value: null });
    expect(mps?.reason).toMatch(/^The MPS daemon of mps ended at once: .*exit code 1/);
  });

  it('ends a daemon whose server fails to start before another system is measured', async () => {
    const temporary = emptyFolder();
    const mps = new MpsSystem({
      ...{ name: 'mps', caller: { PATH: pathWithMps('fault-server') }, memory: undefined, sm: undefined },
      startTimeoutMs: 10_000,
    });
    await mps.prepare({ ...runState(temporary), directory: temporary });
    const daemons = () => processesIn(temporary).filter((line) => line.includes(`${control} -f`));
    const starting = mps.prepareTenant({ id: 0 });
    const failed = expect(starting).rejects.toThrow(
      /^Timed out after 10 s: the MPS daemon of mps has no active server/,
    );
    await passing(() => expect(daemons()).toHaveLength(1));
    await failed;
    await passing(() => expect(daemons()).toEqual([]));
    await mps.teardown();
  });

  it('tells its clients the PID of its server, which NVML lists as a user of the GPU', async () => {
    const temporary = emptyFolder();
    const mps = new MpsSystem({ name: 'mps', caller: { PATH: pathWithMps() }, memory: undefined, sm: undefined });
    await mps.prepare({ ...runState(temporary), directory: temporary });
    await mps.prepareTenant({ id: 0 });
    try {
      expect(ownServers(mps.environment({ id: 0 }))).toEqual([4711]);
      expect(ownServers({ CUDA_MPS_PIPE_DIRECTORY: join(emptyFolder(), 'p') })).toEqual([]);
      expect(ownServers({})).toEqual([]);
      const other = emptyFolder();
      mkdirSync(join(other, 'servers'));
      expect(ownServers({ CUDA_MPS_PIPE_DIRECTORY: join(other, 'p') })).toEqual([]);
    } finally {
      await mps.teardown();
    }
  });

  it('kills a daemon that does not quit', async () => {
    expect((await compare('mps', pathWithMps('fault-quit'))).code).toBe(0);
  });

  it.each([
    { signals: ['SIGINT'], code: 130 },
    { signals: ['SIGINT', 'SIGINT'], code: 130 },
    { signals: ['SIGKILL'], code: null },
  ] as const)('makes the daemon quit after $signals', async ({ signals, code: expected }) => {
    const temporary = emptyFolder();
    const systems = ['--system', 'mps', '--system', 'native', '--output', join(emptyFolder(), 'out')];
    const run = start(
      ['compare', 'OH-001', '--simulate', '--iterations', '100000', ...systems],
      { PATH: pathWithMps(), TMPDIR: temporary },
      sim,
    );
    await run.said('Device 0');
    // Its round is the first; before and after it there is no daemon.
    const daemons = () => processesIn(temporary).filter((line) => line.includes(`${control} -f`)).length;
    await passing(() => expect(daemons()).toBeGreaterThan(0));
    for (const signal of signals) {
      run.child.kill(signal);
      if (signal === 'SIGINT') await run.said('Interrupted: stopping');
    }
    const { code } = await run.done;
    expect(code).toBe(expected);
    if (code !== null) expect(readdirSync(temporary)).toEqual([]);
    await passing(() => expect([...processesOf(run.mark), ...processesIn(temporary)]).toEqual([]));
  });

  it('leaves no daemon to the next start if the coordinator and the guardian are killed together', async () => {
    const temporary = emptyFolder();
    const path = pathWithMps();
    const systems = ['--system', 'mps', '--system', 'native', '--output', join(emptyFolder(), 'out')];
    const run = start(
      ['compare', 'OH-001', '--simulate', '--iterations', '100000', ...systems],
      { PATH: path, TMPDIR: temporary },
      sim,
    );
    await run.said('Device 0');
    const running = () => processesIn(temporary).join('\n');
    await passing(() => expect(running()).toContain(`${control} -f`));
    await passing(() =>
      expect(readdirSync(temporary, { recursive: true })).toContainEqual(expect.stringMatching(/daemon\.json$/)),
    );
    const { pid } = run.child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    const isGuardian = (child: number) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('mps-guardian');
    const guardian = children.find(isGuardian) as number;
    run.child.kill('SIGKILL');
    process.kill(guardian, 'SIGKILL');
    await run.done;
    await passing(() => expect(running()).toMatch(/-f/));
    await command(['run', 'OH-002', '--simulate', '--iterations', '20'], { TMPDIR: temporary }, sim);
    await passing(() => expect(running()).toBe(''));
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('works with a relative TMPDIR', async () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, 't'));
    const outcome = await start(args('mps', folder), { PATH: pathWithMps(), TMPDIR: 't' }, sim, folder).done;
    expect(outcome.stderr).not.toMatch(/^error/m);
    expect(outcome.code).toBe(0);
    expect(readdirSync(join(folder, 't'))).toEqual([]);
  });

  it('refuses unknown limits', async () => {
    const { code, stderr } = await command(args('mps:sm=0', emptyFolder()), { PATH: pathWithMps() }, sim);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: Expected sm .*1 to 100/m);
  });
});
