import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { interposerLibrary, simulatedDriverFolder } from '../../lib/native/load.js';
import { LOG_BYTES } from '../../lib/workloads/program/run-file.js';
import { ServedLoad } from '../../lib/workloads/round/served-load.js';
import type { NotReady } from '../../lib/workloads/program/ready-look.js';
import { type Run, runOnce, type RunRequest } from '../../lib/workloads/program/run-once.js';
import { DEFAULTS, type Workload } from '../../lib/workloads/workload-type.js';
import { local } from '../../lib/workers/local.js';
import { loadsDriver } from '../cli/command.js';
import { WAIT_MS } from '../limits.js';
import { closedPort, openPort } from '../ports.js';
import { processesOf } from '../processes.js';
import { temporaryFolder } from '../temporary.js';

const native = { system: 'native', isBare: true, layer: null };
const node = process.execPath;

const workload = (argv: readonly string[], change: Partial<Workload> = {}): Workload => ({
  name: 'w',
  argv,
  cwd: temporaryFolder(),
  env: {},
  passEnv: [],
  setup: [],
  teardown: [],
  ...DEFAULTS,
  timeoutSeconds: WAIT_MS / 1_000,
  exitCodes: [0],
  ready: null,
  stopAfterSeconds: null,
  load: null,
  metrics: [],
  ...change,
});

const unwatched = {
  begin: () => {},
  end: () => {},
  listed: () => Promise.resolve(null),
  onProcesses: null,
  places: null,
};

/** Nothing of it is left when this resolves. */
async function run(own: Workload, change: Partial<RunRequest> = {}): Promise<Run> {
  const mark = randomUUID();
  const { environment, ...others } = change;
  const found = await runOnce({
    workload: own,
    launcher: local,
    argvPrefix: [],
    environment: { PATH: process.env.PATH, GVB_TEST_MARK: mark, ...environment },
    logs: null,
    expected: native,
    signal: new AbortController().signal,
    ...others,
  });
  expect(processesOf(mark)).toEqual([]);
  return found;
}

const sh = (script: string, change?: Partial<Workload>) => workload(['bash', '-c', script], change);

describe('a run', () => {
  it('has in its time what processes do that it left to themselves and that end soon after it', async () => {
    const cwd = temporaryFolder();
    const script = 'setsid bash -c "sleep 0.4; date +%s%N > ended" >/dev/null 2>&1 & date +%s%N > began; exit 0';
    const { failure, wallSeconds, notes } = await run(sh(script, { cwd }));
    const [began, ended] = ['began', 'ended'].map((name) => Number(readFileSync(join(cwd, name), 'utf8')));
    expect(failure).toBeNull();
    expect(wallSeconds).toBeGreaterThanOrEqual(((ended as number) - (began as number)) / 1e9);
    expect(notes).toEqual([
      expect.stringMatching(
        /^processes that it started ran for \d+\.\d\d s after its first one had ended: the wall time/,
      ),
    ]);
  });

  it('is timed from its start to its end', async () => {
    const before = Number(process.hrtime.bigint());
    const found = await run(sh('sleep 0.2'));
    const passed = (Number(process.hrtime.bigint()) - before) / 1e9;
    expect(found).toMatchObject({ failure: null, readySeconds: null, notes: [] });
    expect(found.wallSeconds).toBeGreaterThanOrEqual(0.2);
    expect(found.wallSeconds).toBeLessThan(passed);
    expect(found.used?.cpuUserUs).toBeGreaterThanOrEqual(0);
  });

  it('gives its metrics', async () => {
    const pick = { by: 'regex', pattern: /v=(\d+)/gm } as const;
    const metric = {
      from: 'stdout',
      pick,
      take: 'last',
      unit: 'x',
      direction: 'lower',
      delta: { relative: 0.1 },
    } as const;
    const own = sh('echo v=3; echo v=4 >&2', {
      metrics: [
        { key: 'out', ...metric },
        { key: 'err', ...metric, from: 'stderr' },
        { key: 'none', ...metric, from: { file: 'none.txt' } },
      ],
    });
    const { failure, extracted } = await run(own);
    expect(failure).toBeNull();
    expect(Object.fromEntries(extracted)).toEqual({
      out: { value: 3, numbers: 1, notes: [] },
      err: { value: 4, numbers: 1, notes: [] },
      none: { missing: expect.stringContaining('did not write') },
    });
  });

  it('keeps what it printed in log files, up to a cap that it names', async () => {
    const logs = join(temporaryFolder(), 'deep/run');
    const { notes } = await run(sh(`head -c ${2 * LOG_BYTES} /dev/zero; echo oh >&2`), { logs });
    expect(statSync(`${logs}.stdout`).size).toBe(LOG_BYTES);
    expect(readFileSync(`${logs}.stderr`, 'utf8')).toBe('oh\n');
    expect(notes).toEqual([expect.stringMatching(/run\.stdout' holds the first 16 MiB of 33554432 bytes$/)]);
  });

  it('writes over no file and through no link', async () => {
    const logs = join(temporaryFolder(), 'run');
    writeFileSync(`${logs}.stdout`, 'kept');
    const { notes, failure } = await run(sh('echo new'), { logs });
    expect(failure).toBeNull();
    expect(notes).toEqual([expect.stringMatching(/could not be written: EEXIST/)]);
    expect(readFileSync(`${logs}.stdout`, 'utf8')).toBe('kept');
  });

  it('makes no log of nothing', async () => {
    const logs = join(temporaryFolder(), 'run');
    await run(sh('true'), { logs });
    expect(existsSync(`${logs}.stdout`)).toBe(false);
  });

  it.each([
    [sh('echo why >&2; exit 3'), 'it ended with exit code 3, expected 0. It last printed: why'],
    [sh('kill -9 $$'), 'it was killed by signal 9, expected 0.'],
    [workload(['/no/such']), 'it could not be started: no such file or directory'],
  ])('fails: %#', async (own, failure) => {
    expect(await run(own)).toMatchObject({ failure, extracted: new Map() });
  });

  it('fails where it leaves a process, and says nothing of a time that includes it', async () => {
    const { failure, notes } = await run(sh('setsid sleep 1000 >/dev/null 2>&1 & exit 0'));
    expect(failure).toMatch(/^it ended with exit code 0 and left 1 process running \(\d+:sleep\), which was killed: /);
    expect(notes).toEqual([]);
  });

  it('may end with another exit code where that is said', async () => {
    expect(await run(sh('exit 3', { exitCodes: [0, 3] }))).toMatchObject({ failure: null });
  });

  it('is stopped at its time limit', async () => {
    const { failure, wallSeconds } = await run(sh('echo begun; sleep 1000', { timeoutSeconds: 5 }));
    expect(failure).toBe(
      'it had not ended after 5 s and was stopped (it was killed by signal 15): if it only needs longer, raise timeout. It last printed: begun',
    );
    expect(wallSeconds).toBeNull();
  });

  it('ends with the signal, and leaves nothing', async () => {
    const stop = new AbortController();
    const mark = randomUUID();
    const running = run(sh('echo x; sleep 1000'), {
      signal: stop.signal,
      environment: { GVB_TEST_MARK: mark },
      gpu: {
        ...unwatched,
        begin: () => stop.abort(new Error('enough')),
      },
    });
    await expect(running).rejects.toThrow('enough');
    expect(processesOf(mark)).toEqual([]);
  });

  it('is watched: its processes and their memory, from its beginning to its end', async () => {
    const script = 'const all = Buffer.alloc(100e6, 1); setTimeout(() => console.log(all.length), 1000)';
    const times: number[] = [];
    const { watched, used, phases } = await run(workload([node, '-e', script]), {
      gpu: { ...unwatched, begin: (atNs) => times.push(atNs), end: (atNs) => times.push(atNs) },
    });
    expect(phases).toEqual([{ name: 'run', fromNs: times[0], toNs: times[1] }]);
    expect(watched.pids.size).toBe(1);
    expect(watched.processes).toMatchObject([{ files: expect.arrayContaining([node]), isElsewhere: false }]);
    expect(watched.residentBytes).toBeGreaterThan(100e6);
    expect(used?.largestProcessBytes).toBeGreaterThan(100e6);
  });
});

describe('a program that serves', () => {
  const forever = { stopAfterSeconds: 0 };
  const ready = (found: Run) => {
    expect(found).toMatchObject({ failure: null, wallSeconds: null });
    expect(found.readySeconds).toBeGreaterThan(0.1);
  };

  it('is ready with a line, and then stopped', async () => {
    ready(
      await run(
        sh('sleep 0.2; echo it listens now >&2; sleep 1000', { ready: { by: 'line', text: 'listens' }, ...forever }),
      ),
    );
  });

  it('is ready with a port', async () => {
    const port = await closedPort();
    const script = `setTimeout(() => require('net').createServer().listen(${port}, '127.0.0.1'), 200)`;
    ready(await run(workload([node, '-e', script], { ready: { by: 'port', port }, ...forever })));
  });

  it('is ready with an answer, not before it is 200', async () => {
    const port = await closedPort();
    const script = `let n = 0; setTimeout(() => require('http').createServer((q, s) => { s.statusCode = n++ < 3 ? 503 : 200; s.end(); }).listen(${port}), 200)`;
    const url = `http://127.0.0.1:${port}/health`;
    ready(await run(workload([node, '-e', script], { ready: { by: 'http', url }, ...forever })));
  });

  it('is ready with a file, and may go on to its end', async () => {
    const found = await run(sh('sleep 0.2; touch up; sleep 0.2', { ready: { by: 'file', path: 'up' } }));
    expect(found.failure).toBeNull();
    expect(found.readySeconds).toBeGreaterThan(0.1);
    expect(found.wallSeconds).toBeGreaterThan(found.readySeconds as number);
  });

  it('is busy while it is ready, until what it is busy with is done', async () => {
    let wasAlive = false;
    const own = sh('trap "rm alive; exit 0" TERM; touch alive; echo up; while true; do sleep 0.05; done', {
      ready: { by: 'line', text: 'up' },
      ...forever,
    });
    const found = await run(own, {
      whileReady: async () => {
        await setTimeout(200);
        wasAlive = existsSync(join(own.cwd, 'alive'));
      },
    });
    expect(found.failure).toBeNull();
    expect([wasAlive, existsSync(join(own.cwd, 'alive'))]).toEqual([true, false]);
  });

  it('dies under its load: what it said last is kept, and the requests that were answered', async () => {
    const port = await closedPort();
    const requests = join(temporaryFolder(), 'requests.jsonl');
    const load = {
      ...({ api: 'http', url: new URL(`http://127.0.0.1:${port}/`), method: 'GET', headers: {}, body: null } as const),
      ...{ requests: 50, warmup: 0, arrivals: { loop: 'closed', concurrency: 1 } as const, timeoutMs: WAIT_MS },
    };
    const served = new ServedLoad(load, requests);
    const own = workload([node, join(import.meta.dirname, 'fixtures/served.mjs'), `${port}`, 'mortal'], {
      ...{ load, ready: { by: 'line', text: 'listening' } as const, ...forever },
    });
    const found = await run(own, { whileReady: (signal, fromNs) => served.run(signal, fromNs) });
    expect(found.failure).toBe(
      'it ended with exit code 3 under its load, before all requests were answered. It last printed: out of memory',
    );
    await served.finish();
    const errors = readFileSync(requests, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { error: unknown }).error);
    expect(errors.slice(0, 2)).toEqual([null, null]);
    expect(errors.slice(2)).not.toContain(null);
    expect(found.phases.map(({ name }) => name)).toEqual(['start', 'ready']);
  });

  it('is stopped at its time limit under its load, which ends with it', async () => {
    const load = { requests: 1 } as Workload['load'];
    const own = sh('echo up; sleep 1000', { load, ready: { by: 'line', text: 'up' }, timeoutSeconds: 1, ...forever });
    const found = await run(own, {
      whileReady: (signal) => new Promise((ended) => signal.addEventListener('abort', () => ended())),
    });
    expect(found.failure).toMatch(/^its load was not over after 1 s and was stopped/);
  });

  it.each([
    [
      sh('echo nearly; exit 0'),
      /^it ended with exit code 0 before it was ready \(a line with 'up'\)\. It last printed: nearly$/,
    ],
    [sh('sleep 1000', { timeoutSeconds: 0.3 }), /^it was not ready \(a line with 'up'\) after 0\.3 s and was stopped/],
    [
      sh('trap "exit 5" TERM; echo up; while true; do sleep 0.05; done'),
      /^when it was stopped it ended with exit code 5\./,
    ],
  ])('fails: %#', async (own, failure) => {
    const served = { ...own, ready: { by: 'line', text: 'up' } as const, ...forever };
    expect(await run(served)).toMatchObject({ failure: expect.stringMatching(failure) });
  });

  it('says why it was not ready at the last look, and while it waits', async () => {
    const port = await closedPort();
    const script = `require('http').createServer((q, s) => { s.statusCode = 404; s.end(); }).listen(${port}, '127.0.0.1')`;
    const said: NotReady[] = [];
    // It ends once that was said, however long its start takes.
    const marker = join(temporaryFolder(), 'said');
    const own = workload(
      [node, '-e', `${script}; setInterval(() => fs.existsSync(${JSON.stringify(marker)}) && process.exit(3), 10)`],
      {
        ready: { by: 'http', url: `http://127.0.0.1:${port}/health` },
        ...forever,
      },
    );
    const onWaiting = (notReady: NotReady) => {
      said.push(notReady);
      if (notReady.reason === 'status 404') writeFileSync(marker, '');
    };
    const { failure } = await run(own, { onWaiting });
    expect(said).toContainEqual({ reason: 'status 404', isOfStart: false });
    // Only what is new: not once more with each look.
    expect(said.filter(({ reason }, index) => reason === said[index - 1]?.reason)).toEqual([]);
    expect(failure).toMatch(
      /^it ended with exit code 3 before it was ready \(an answer of http:\S+; last: (status 404|connection \w+: .*)\)/,
    );
  });

  it('is not started where it would seem ready at once', async () => {
    const { port, server } = await openPort();
    const marker = sh('touch started', { ready: { by: 'port', port } });
    expect((await run(marker)).failure).toMatch(
      /^the time to ready cannot be measured: something else listens at port/,
    );
    expect(existsSync(join(marker.cwd, 'started'))).toBe(false);
    server.close();
  });
});

describe('the processes of a run', () => {
  const layer = interposerLibrary() as string;
  const mine = { system: 'mine', layer };
  const uses = { LD_LIBRARY_PATH: simulatedDriverFolder() ?? '', GVB_SIM: 'region=run-once' };
  const loads = loadsDriver();

  it('are native, however short they live', async () => {
    expect(await run(workload(['true']))).toMatchObject({ proof: { state: 'proven' } });
  });

  it('are under a layer that the environment preloads', async () => {
    const found = await run(workload(['true']), { environment: { LD_PRELOAD: layer }, expected: mine });
    expect(found.proof).toMatchObject({ state: 'proven' });
  });

  it('are not native with a layer in them', async () => {
    const found = await run(sh(`LD_PRELOAD="$LD_PRELOAD:${layer}" /bin/true`));
    expect(found.proof).toMatchObject({ state: 'outside', detail: expect.stringContaining(layer) });
  });

  it('are outside where one takes the layer out and uses the driver', async () => {
    const found = await run(sh(`env -u LD_PRELOAD ${node} -e "${loads}"`), {
      environment: { ...uses, LD_PRELOAD: layer },
      expected: mine,
    });
    expect(found.failure).toBeNull();
    expect(found.proof).toMatchObject({ state: 'outside', detail: expect.stringContaining('used the driver without') });
  });
});
