import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonDocument, MetricResult } from '../../lib/results/document.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { onOneProcessor } from '../processors.js';
import { passing } from '../waiting.js';
import {
  addonFile,
  command,
  emptyFolder,
  loadsDriver,
  parseComparison,
  processesOf,
  root,
  simulatedFolder,
  start,
} from './command.js';
import { refused } from './refused.js';

const few = ['--simulate', '--rounds', '2', '--warmup', '1', '--iterations', '2', '--seed', '1'];
const once = ['--simulate', '--rounds', '1', '--warmup', '0', '--iterations', '1', '--seed', '1'];
const layer = interposerLibrary() as string;
const slow = {
  kind: 'custom',
  name: 'slow',
  env: { LD_PRELOAD: layer, GVB_INTERPOSE: 'cuLaunchKernel=+1us' },
  verify: [{ symbolOwner: { symbol: 'cuLaunchKernel', matches: 'libgvb-interpose' } }],
};

interface Done {
  document: ComparisonDocument;
  code: number | null;
  stderr: string;
  output: string;
  mark: string;
}

/** When this resolves, nothing of the program is left. */
async function exec(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Done> {
  const output = join(emptyFolder(), 'out');
  const split = args.indexOf('--');
  const [options, program] = split < 0 ? [args, []] : [args.slice(0, split), args.slice(split)];
  const running = start(['exec', ...options, '--output', output, '--json', '-', ...program], environment);
  const { code, stdout, stderr } = await running.done;
  expect(processesOf(running.mark)).toEqual([]);
  if (stdout === '') throw new Error(`It ended with ${code} and no document: ${stderr}`);
  return { document: parseComparison(stdout), code, stderr, output, mark: running.mark };
}

/** A program with this script, once it has created the file `up` in its folder. */
async function begun(script: string) {
  const folder = emptyFolder();
  const program = ['bash', '-c', `cd ${folder}; ${script}`];
  const running = start(['exec', ...once, '--output', join(folder, 'out'), '--', ...program]);
  await passing(() => expect(existsSync(join(folder, 'up'))).toBe(true));
  return running;
}

function configFile(workloads: readonly object[], systems?: readonly unknown[], prices?: object): string {
  const file = join(emptyFolder(), 'workloads.yaml');
  // JSON is YAML, and its numbers are texts there.
  writeFileSync(file, JSON.stringify({ workloads, ...(systems && { systems }), ...(prices && { prices }) }));
  return file;
}

const resultsOf = ({ document }: Done, id: string): MetricResult[][] =>
  document.systems.map((rounds) => rounds.flatMap(({ metrics }) => metrics.filter((result) => result.id === id)));
const statusOf = (done: Done, id: string) => resultsOf(done, id).map((rounds) => rounds.map(({ status }) => status));
const reasonOf = (done: Done, id: string) => resultsOf(done, id)[0]?.[0]?.reason;

describe('exec of one command', () => {
  it('measures it natively, in a document like that of compare', async () => {
    const done = await exec([...few, '--', '/bin/true']);
    const { document, output, code } = done;
    expect(code).toBe(0);
    expect(document.plan).toMatchObject({
      systems: ['native'],
      rounds: 2,
      metrics: expect.arrayContaining(['true/wall']),
    });
    expect(document.systems[0]?.[0]?.plan.options.workloads).toMatchObject([
      { name: 'true', argv: ['/bin/true'], warmup: 1, iterations: 2, program: { path: '/bin/true' } },
    ]);
    expect(statusOf(done, 'true/wall')).toEqual([['ok', 'ok']]);
    const [wall] = resultsOf(done, 'true/wall')[0] as [MetricResult];
    expect(wall).toMatchObject({ category: 'workload', unit: 's', direction: 'lower', ciScope: 'between-processes' });
    expect(wall.value).toBe(wall.stats?.p50);
    // Every run has a row, including warm-up runs.
    const runs = wall.details.runs as { warmup: boolean; wallSeconds: number }[];
    expect(runs.filter(({ warmup }) => warmup)).toHaveLength(1);
    expect(runs.filter(({ warmup }) => !warmup).map(({ wallSeconds }) => wallSeconds)).toHaveLength(wall.processes);
    expect(reasonOf(done, 'true/energy')).toMatch(/^a run of less than 2 s/);
    expect(readdirSync(output).sort()).toEqual(
      ['logs', 'raw', 'report.html', 'report.md', 'request.json', 'summary.json', 'systems.yaml'].sort(),
    );
    expect(readFileSync(join(output, 'report.md'), 'utf8')).toMatch(/npx gpu-virt-bench exec --config .*systems\.yaml/);
  });

  it('proves every process of it, and says so in counts', async () => {
    const done = await exec([...once, '--', 'sh', '-c', '/bin/true; /bin/true']);
    expect(done.document.systems[0]?.[0]?.system.processes).toMatchObject({ proven: 1, of: 1 });
    expect(resultsOf(done, 'sh/cpu')[0]?.[0]?.checks).toContainEqual({
      name: 'processes of the program under the system',
      passed: true,
      detail: 'no layer is mapped in any of 3 processes (1 of 1 runs)',
    });
  });

  it('passes the named variables, and those of the system', async () => {
    const script = 'echo "v=$SET,$PASSED,$OTHER,${LD_PRELOAD##*/},$HOME"';
    const home = emptyFolder();
    const done = await exec([...once, '--env', 'SET=a b', '--env', 'PASSED', '--', 'sh', '-c', script], {
      PASSED: 'p',
      OTHER: 'o',
      HOME: home,
    });
    const log = join(done.output, 'logs/round-0001-system-1/sh/run-0001.stdout');
    expect(readFileSync(log, 'utf8')).toBe(`v=a b,p,,libgvb-witness.so,${home}\n`);
  });

  it('records what commands print, once, and not in the digest of the program', async () => {
    const record = { packages: ['sh', '-c', 'echo torch==2.5; echo $$; echo not kept >&2'], missing: ['false'] };
    const config = configFile([{ name: 'a', argv: ['/bin/true'], record }]);
    const of = async () => (await exec([...once, '--config', config])).document.systems[0]?.[0]?.plan.options.workloads;
    const [first, second] = [await of(), await of()] as { sha256: string; recorded: Record<string, string | null> }[][];
    expect(first?.[0]?.recorded).toEqual({ packages: expect.stringMatching(/^torch==2\.5\n\d+$/), missing: null });
    expect(first?.[0]?.recorded.packages).not.toBe(second?.[0]?.recorded.packages);
    expect(first?.[0]?.sha256).toBe(second?.[0]?.sha256);
  });

  it('repeats varying runs by the recorded rule', async () => {
    const script = 'sleep 0.$(($(date +%N | sed "s/^0*//") % 9))';
    const done = await exec([...once, '--iterations', '3', '--', 'sh', '-c', script]);
    const [wall] = resultsOf(done, 'sh/wall')[0] as [MetricResult];
    const { rule } = wall.details as { rule: { cvs: number[]; repeats: number } };
    expect(rule).toMatchObject({ largestCv: 0.05, mostRepeats: 2 });
    expect(rule.cvs).toHaveLength(rule.repeats + 1);
    expect(wall.processes).toBe(3 * (rule.repeats + 1));
    const isSteady = rule.cvs.map((cv) => cv <= 0.05);
    // It continues exactly while they vary.
    expect(isSteady.slice(0, -1)).not.toContain(true);
    expect(isSteady.at(-1) || rule.repeats === 2).toBe(true);
  });
});

describe('exec of a file', () => {
  it('compares systems, extracts metrics, and has a verdict for each', async () => {
    const script = 'case $LD_PRELOAD in *interpose*) tps=50 ;; *) tps=100 ;; esac; echo "{\\"tps\\": $tps}"';
    const config = configFile(
      [
        {
          name: 'decode',
          argv: ['sh', '-c', script],
          metrics: { tps: { jsonl: '/tps', unit: 'tokens/s', direction: 'higher' } },
        },
      ],
      ['native', slow],
    );
    const done = await exec([...few, '--config', config]);
    expect(done.document.plan.systems).toEqual(['native', 'slow']);
    expect(done.document.effects.find(({ metric }) => metric === 'decode/tps')).toMatchObject({
      system: 'slow',
      baseline: 'native',
      ratio: expect.closeTo(2, 9) as number,
      verdict: 'slower',
    });
    expect(done.document.systems[1]?.[0]?.system.processes).toMatchObject({ proven: expect.any(Number) });
    expect(resultsOf(done, 'decode/wall')[1]?.[0]?.checks[0]).toMatchObject({
      passed: true,
      detail: expect.stringContaining(`${layer} is mapped in 1 of 1 processes`),
    });
  });

  it('has no number of a program in which the layer intercepts nothing, nor a plain name without a look', async () => {
    const folder = emptyFolder();
    const file = join(folder, 'opens.c');
    writeFileSync(
      file,
      `#include <dlfcn.h>
      #include <unistd.h>
      int main(int count) {
        if (!dlopen("libcuda.so.1", RTLD_NOW)) return 1;
        if (count > 1) sleep(1), _exit(0);
        return 0;
      }`,
    );
    const program = join(folder, 'opens');
    execFileSync('cc', ['-o', program, file, '-ldl']);
    const run = (name: string, ...argv: string[]) =>
      exec([...once, '--config', configFile([{ name, argv }], ['native', slow])]);

    const good = await run('intercepted', program);
    expect(good.document.plan.systems).toEqual(['native', 'slow']);
    expect(resultsOf(good, 'intercepted/wall')[1]?.[0]?.checks[0]).toMatchObject({
      passed: true,
      detail: expect.stringContaining('where it intercepts as in a worker'),
    });

    const idle = await run('idle', 'sh', '-c', 'GVB_INTERPOSE= exec "$0"', program);
    expect(idle.code).toBe(5);
    expect(statusOf(idle, 'idle/wall')).toEqual([['ok'], ['invalid']]);
    expect(resultsOf(idle, 'idle/wall')[1]?.[0]?.reason).toContain(
      "cuLaunchKernel on the path runtime is the driver's own, which the layer owns in a worker",
    );

    // Long enough to be seen from outside with the driver.
    const unseen = await run('unseen', program, '_exit');
    expect(unseen.document.plan.systems).toEqual(['native', 'slow (unverified)']);
    expect(unseen.document.warnings[0]).toMatch(/could not be seen: its main thread did not end it by exit\(\)\.$/);
  });

  it('cannot prove a program that removes the records of its witness, and ends as usual', async () => {
    const argv = ['sh', '-c', 'rm -r "$GVB_WITNESS"'];
    const removed = await exec([...once, '--config', configFile([{ name: 'removes', argv }], ['native'])]);
    expect(removed.code).toBe(0);
    expect(removed.document.plan.systems).toEqual(['native (unverified)']);
    expect(removed.document.warnings[0]).toMatch(
      /not checked: the folder of the records of its processes cannot be read/,
    );
    // The plan has a line for each of its sentences.
    expect(removed.stderr).toMatch(/^Plan: 1 system \(native\) .*, seed \d+\nTime: /m);
  });

  it('prices what the program generates, and keeps the prices for the next time', async () => {
    const workload = {
      name: 'decode',
      // Long enough for its energy.
      argv: ['sh', '-c', 'echo tokens=100 rate=50; exec sleep 2.1'],
      metrics: {
        tokens: { regex: 'tokens=(\\d+)', unit: 'tokens', direction: 'none' },
        rate: { regex: 'rate=(\\d+)', unit: 'tokens/s', direction: 'higher' },
      },
    };
    const prices = { currency: 'EUR', cards: '3.6', systems: { slow: { share: '25%' } } };
    const done = await exec([...once, '--config', configFile([workload], ['native', slow], prices)]);
    expect(done.document.prices).toEqual({
      currency: 'EUR',
      perGpuHour: 3.6,
      systems: [
        { system: 'native', sharePercent: 100, from: 'whole card', perHour: 3.6 },
        { system: 'slow', sharePercent: 25, from: 'prices', perHour: 0.9 },
      ],
    });
    const costs = resultsOf(done, 'decode/cost-per-million-tokens').flat();
    expect(costs.map(({ value }) => value)).toEqual([20, 5].map((cost) => expect.closeTo(cost, 9)));
    for (const round of done.document.systems.flat()) {
      const valueOf = (id: string) => round.metrics.find((result) => result.id === id)?.value ?? Number.NaN;
      expect(valueOf('decode/energy-per-token')).toBeCloseTo(valueOf('decode/energy') / 100, 9);
      expect(valueOf('decode/gpu-throttled')).toBe(0);
    }
    expect(readFileSync(join(done.output, 'systems.yaml'), 'utf8')).toContain('\nprices:\n  currency: EUR\n');
    expect(JSON.parse(readFileSync(join(done.output, 'request.json'), 'utf8'))).toMatchObject({ prices });
    expect(readFileSync(join(done.output, 'report.md'), 'utf8')).toContain(
      'slow: 0.9 EUR an hour for 25 % of the card',
    );
  });

  it('measures the memory that a program has on the GPU', async () => {
    const hold = `require('${addonFile}')`;
    const script = `const a = ${hold}; const t = { simulatedDriver: '${simulatedFolder}', device: null, path: 'runtime' };
      a.openSession(t).then(() => setTimeout(() => process.exit(0), 1500));`;
    const done = await exec([...once, '--name', 'gpu', '--', process.execPath, '-e', script]);
    expect(done.stderr).not.toContain('TypeError');
    expect(resultsOf(done, 'gpu/gpu-memory')[0]?.[0]).toMatchObject({ status: 'ok', unit: 'bytes' });
    expect(resultsOf(done, 'gpu/gpu-memory')[0]?.[0]?.value).toBeGreaterThan(1e6);
    expect(resultsOf(done, 'gpu/wall')[0]?.[0]?.checks[0]).toMatchObject({ passed: true });
  });
});

const oneProcessor = onOneProcessor(
  'the programs of the examples, which map the clock of a device that runs meanwhile',
);

it.skipIf(oneProcessor)('measures the six programs of the examples', async () => {
  const done = await exec([...once, '--config', join(root, 'examples/workloads.yaml')]);
  expect(done.document.warnings.filter((warning) => warning.includes('failed'))).toEqual([]);
  const ids = [
    ...['T1-short-compute/rate', 'T2-long-compute/speedup', 'T3-memory/allocation', 'T4-transfer/efficiency'],
    ...['T5-inference/token-latency', 'T6-cold-start/wall', 'T2-long-compute/gpu-memory'],
  ];
  for (const id of ids) expect([id, statusOf(done, id)[0]?.[0], reasonOf(done, id)]).toEqual([id, 'ok', undefined]);
});

describe('programs of one file', () => {
  const folder = emptyFolder();
  let done: Done;
  beforeAll(async () => {
    const shell = (name: string, script: string, more: object = {}) => ({ name, argv: ['sh', '-c', script], ...more });
    const config = configFile([
      shell('m', 'echo run-{n} >> log; echo "v={n}"', {
        folder,
        setup: ['sh', '-c', 'echo setup-{n} >> log'],
        teardown: ['sh', '-c', 'echo teardown-{n} >> log'],
        matrix: { n: ['1', '2'] },
        metrics: { v: { regex: 'v=(.)', unit: 'x', direction: 'none' } },
      }),
      shell('server', 'trap "exit 0" TERM; echo listening; while true; do sleep 0.05; done', {
        ...{ ready: { line: 'listening' }, stopAfter: '0' },
      }),
      shell('forks', 'setsid sleep 1000 > /dev/null 2>&1 & exit 0'),
      shell('ignores', 'trap "" TERM; while true; do sleep 0.1; done', { timeout: '5' }),
      shell('prints', 'head -c 100000000 /dev/zero'),
      { name: 's', argv: ['sleep', '1000'], ready: { port: '1' }, timeout: '0.5' },
      { name: 'w', argv: ['echo', 'nothing'], metrics: { tps: { regex: '(\\d+)', unit: 'x', direction: 'higher' } } },
    ]);
    done = await exec([...once, '--config', config]);
  });

  it('runs every combination of a matrix between set-up and tear-down', () => {
    expect([1, 2].map((n) => resultsOf(done, `m@n=${n}/v`)[0]?.[0]?.value)).toEqual([1, 2]);
    const lines = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    for (const n of [1, 2])
      expect(lines.filter((line) => line.endsWith(`-${n}`))).toEqual([`setup-${n}`, `run-${n}`, `teardown-${n}`]);
  });

  it('measures the time until a server is ready', () => {
    expect(statusOf(done, 'server/ready')).toEqual([['ok']]);
    expect(resultsOf(done, 'server/wall')).toEqual([[]]);
  });

  it.each([
    ['forks away', 'forks', /left 1 process running \(\d+:sleep\), which was killed/],
    ['ignores SIGTERM', 'ignores', /after 5 s and was stopped \(it was killed by signal 9\)/],
  ])('%s: it failed, with exit code 1', (_, name, reason) => {
    expect(done.code).toBe(1);
    expect(statusOf(done, `${name}/wall`)).toEqual([['failed']]);
    expect(reasonOf(done, `${name}/wall`)).toMatch(reason);
  });

  it('prints a hundred megabytes: its numbers count, and the logs stay small', () => {
    expect(statusOf(done, 'prints/wall')).toEqual([['ok']]);
    expect(done.document.warnings).toContainEqual(expect.stringMatching(/holds the first 16 MiB of 100000000 bytes$/));
  });

  it('never becomes ready', () =>
    expect(reasonOf(done, 's/ready')).toMatch(
      /it was not ready \(port 1; last: connection refused: .*\) after 0\.5 s and was stopped/,
    ));

  it('lacks a metric: only that metric fails', () => {
    expect([statusOf(done, 'w/tps'), statusOf(done, 'w/wall')]).toEqual([[['failed']], [['ok']]]);
    expect(reasonOf(done, 'w/tps')).toBe('nothing matched (\\d+)');
  });
});

describe('a program that goes wrong', () => {
  it('ends with another exit code: it failed, with exit code 1', async () => {
    const done = await exec([...once, '--timeout', '5', '--', 'sh', '-c', 'echo why; exit 3']);
    expect(done.code).toBe(1);
    expect(reasonOf(done, 'sh/wall')).toMatch(
      /^run 1 of 1: it ended with exit code 3, expected 0\. It last printed: why$/,
    );
  });

  it('fails once: it does not run in further rounds, and earlier ones are kept', async () => {
    const folder = emptyFolder();
    const script = 'echo x >> runs; test $(wc -l < runs) -lt 3';
    const config = configFile([{ name: 'w', argv: ['sh', '-c', script], folder, warmup: '0', iterations: '2' }]);
    const done = await exec(['--simulate', '--rounds', '3', '--config', config]);
    expect(statusOf(done, 'w/wall')).toEqual([['ok', 'failed', 'failed']]);
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('x\nx\nx\n');
    expect(resultsOf(done, 'w/wall')[0]?.[2]?.reason).toMatch(
      /expected 0\. Not run again after a round in which it failed/,
    );
  });

  it('leaves the layer: its numbers are invalid, and the exit code is 5', async () => {
    const config = configFile(
      [{ name: 'w', argv: ['sh', '-c', `env -u LD_PRELOAD ${process.execPath} -e "${loadsDriver()}"`] }],
      [slow],
    );
    const done = await exec([...once, '--config', config]);
    expect(done.code).toBe(5);
    expect(reasonOf(done, 'w/wall')).toMatch(
      /^layer not active: process \d+ \(.*\) used the driver without .*interpose/,
    );
  });

  it('cannot be inspected: its system is labelled', async () => {
    const bare = {
      kind: 'custom',
      name: 'card',
      env: { LEVEL: '1' },
      verify: [{ env: { name: 'LEVEL', value: '1' } }],
    };
    const done = await exec([...once, '--config', configFile([{ name: 'w', argv: ['/bin/true'] }], ['native', bare])]);
    expect(done.document.plan.systems).toEqual(['native', 'card (unverified)']);
    expect(done.document.systems[1]?.[0]?.system).toMatchObject({ name: 'card (unverified)', verified: false });
    expect(done.document.warnings[0]).toBe(
      'card is shown as card (unverified): nothing of card shows in a process from outside.',
    );
  });

  it('sets a variable of the system: that is refused', async () => {
    const config = configFile([{ name: 'w', argv: ['/bin/true'], env: { GVB_LEVEL: 'x' } }], [slow]);
    expect((await refused(['exec', '--simulate', '--config', config])).stderr).toContain('GVB_LEVEL is set by it');
  });
});

describe('exec is refused with exit code 2', () => {
  it.each([
    [
      ['--', '/no/such'],
      "Expected such to be a program that can be started but received '/no/such': there is no such file.",
    ],
    [['--', 'no-such-program'], 'it is in no folder of PATH; install it, or give its path.'],
    [['--', '/etc/passwd'], 'it is not executable; chmod +x makes it so, or start it with its interpreter.'],
    [[], 'Expected a command after -- or --config FILE but received neither'],
    [['--name', '../x', '--', 'true'], "the first a letter or digit but received '../x'."],
    [
      ['--iterations', '0', '--', 'true'],
      'Expected iterations of true to be an integer from 1 to 100000 but received 0.',
    ],
    [['--timeout', 'x', '--', 'true'], "Expected --timeout to be a number but received 'x'."],
    [['--env', '=x', '--', 'true'], 'a map of variable names'],
    [
      ['--env', 'GVB_NOT_SET', '--', 'true'],
      "Expected --env to name a variable that is set here, or NAME=value, but received 'GVB_NOT_SET'.",
    ],
    [['--system', 'nativ', '--', 'true'], "Expected a kind of system but received 'nativ': did you mean native?"],
    [
      ['--config', '/no/such.yaml'],
      "Expected --config to be a YAML file but received '/no/such.yaml': there is no such file",
    ],
  ])('%j', async (args, message) => {
    const { code, stderr, stdout } = await refused(['exec', '--simulate', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('for a directory of compare, and vice versa', async () => {
    const output = join(emptyFolder(), 'out');
    await command(['exec', ...once, '--output', output, '--', '/bin/true']);
    const { code, stderr } = await refused(['compare', '--resume', output]);
    expect(code).toBe(2);
    expect(stderr).toContain('exec made it; continue it with exec --resume.');
  });
});

describe('exec, interrupted', () => {
  it('ends the program, keeps the rounds, and continues with --resume', async () => {
    const folder = emptyFolder();
    const output = join(folder, 'out');
    // Runs forever from the second round on, until it is allowed to end.
    const script = 'echo x >> runs; test $(wc -l < runs) -lt 3 || test -e may || { touch stuck; sleep 1000; }';
    const config = configFile([{ name: 'w', argv: ['sh', '-c', script], folder, warmup: '0', iterations: '2' }]);
    const running = start(['exec', '--simulate', '--rounds', '2', '--config', config, '--output', output]);
    await passing(() => expect(existsSync(join(folder, 'stuck'))).toBe(true));
    running.child.kill('SIGINT');
    const { code, stderr } = await running.done;
    expect(code).toBe(130);
    expect(processesOf(running.mark)).toEqual([]);
    expect(stderr).toContain(`npx gpu-virt-bench exec --resume ${output}`);
    writeFileSync(join(folder, 'may'), '');
    const resumed = await command(['exec', '--resume', output, '--json', '-']);
    expect(resumed.code).toBe(0);
    const document = parseComparison(resumed.stdout);
    expect(document.completed).toBe(true);
    expect(document.systems[0]?.map(({ reused }) => reused)).toEqual([true, undefined]);
  });

  it('kills a program that ignores all signals on a second Ctrl-C', async () => {
    const running = await begun('trap "" TERM; touch up; while true; do sleep 0.05; done');
    running.child.kill('SIGINT');
    await running.said('Interrupted: stopping');
    running.child.kill('SIGINT');
    expect((await running.done).code).toBe(130);
    expect(processesOf(running.mark)).toEqual([]);
  });

  it('leaves nothing of the program when it is killed itself', async () => {
    const running = await begun('touch up; setsid sleep 1000 & sleep 1000');
    running.child.kill('SIGKILL');
    await passing(() => expect(processesOf(running.mark)).toEqual([]));
  });
});

describe('results of exec', () => {
  it('are judged by a gate, shown in the history and merged by report', async () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, 'results'));
    const one = async (name: string) => {
      const args = ['exec', ...once, '--output', join(folder, 'results', name), '--', '/bin/true'];
      const { code } = await start(args, {}, '', folder).done;
      expect(code).toBe(0);
    };
    await one('a');
    await one('b');
    const thresholds = join(folder, 'thresholds.yaml');
    writeFileSync(thresholds, 'metrics: { true/wall: { limit: 1e-9, inconclusive: fail } }\n');
    const gate = await start(['gate', 'results/a', '--config', thresholds], {}, '', folder).done;
    expect({ code: gate.code, text: gate.stdout }).toMatchObject({
      code: 3,
      text: expect.stringContaining('true/wall'),
    });
    const history = await start(['history', 'true/wall', '--json'], {}, '', folder).done;
    expect(JSON.parse(history.stdout)).toMatchObject({ trends: [{ metric: 'true/wall', points: [{}, {}] }] });
    const merged = await start(['report', 'results/a', 'results/b', '--format', 'markdown'], {}, '', folder).done;
    expect(merged.code).toBe(0);
    expect(merged.stdout).toContain('true/wall');
  });
});
