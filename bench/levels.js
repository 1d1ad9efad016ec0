// Where the level of a process comes from: why OH-001, OH-002, OH-003, OH-007 and START-004 (START-002 for comparison)
// differ between processes on one GPU. Starts fresh processes in random order under combinations of: place (free, pinned
// near the GPU, pinned far from it), address randomisation, a pause before the start, and another context that is alive
// on the GPU. Each process measures all metrics in several turns, then again on other processors, so that what belongs to
// the process, the processor and the moment can be told apart.
// Usage: node bench/levels.js --out DIR [--seconds 360] [--simulate]     measures, then prints the shares of variance
//        node bench/levels.js --analyse DIR/levels.jsonl                 prints them again
// With a bundle (npm run bundle), on a server without Node, from a checkout:
//        tar -xJf gpu-virt-bench-linux-x64.tar.xz -C /tmp && mkdir -p /tmp/gpu-virt-bench-linux-x64/app/bench
//        cp bench/levels.js /tmp/gpu-virt-bench-linux-x64/app/bench/
//        /tmp/gpu-virt-bench-linux-x64/node /tmp/gpu-virt-bench-linux-x64/app/bench/levels.js --out DIR --seconds 360
// Writes DIR/levels.jsonl (one line per process, as soon as it ends), DIR/machine.json and DIR/levels.txt.
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: given } = parseArgs({
  options: {
    out: { type: 'string' },
    seconds: { type: 'string', default: '360' },
    simulate: { type: 'boolean', default: false },
    analyse: { type: 'string' },
    child: { type: 'string' },
    cpus: { type: 'string', default: '' },
  },
});
const here = fileURLToPath(import.meta.url);
const simulatedDriver = given.simulate ? fileURLToPath(new URL('../build/Release/sim', import.meta.url)) : null;
const target = { simulatedDriver, device: null, path: 'runtime' };
const addon = given.analyse ? null : createRequire(here)('../build/Release/gpu_virt_bench.node');

const MIB = 2 ** 20;
/** Turns at the processor where the process started, and turns on others. */
const HOME_TURNS = 3;
const MOVED_TURNS = 3;
const GAP_SECONDS = 2;
/** One of so many processes starts after a pause. */
const GAP_EVERY = 4;
const CHILD_SECONDS = 60;

const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => sum(values) / values.length;
const median = (values) => {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? null : (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};
const variance = (values) => sum(values.map((value) => (value - mean(values)) ** 2)) / (values.length - 1);
const sd = (values) => Math.sqrt(variance(values));
const below = (count) => Math.floor(Math.random() * count);
const shuffled = (values) => {
  const all = [...values];
  for (let i = all.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all;
};
/** One processor, at random. The simulated card is a thread of the process and needs another one: there it is all. */
const oneOf = (cpus) => (given.simulate ? cpus.join(',') : `${cpus[below(cpus.length)]}`);
const attempt = (read, otherwise = null) => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};
const text = (path) => attempt(() => readFileSync(path, 'utf8').trim());
/** `0-3,8` as numbers. */
const numbers = (list) =>
  (list ?? '')
    .split(',')
    .filter(Boolean)
    .flatMap((part) => {
      const [from, to = from] = part.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    });

// The measured processes.

/** What the kernel says of the threads of this process: time on a processor in ns, and the processor. */
function threads() {
  return new Map(
    (attempt(() => readdirSync('/proc/self/task')) ?? []).map((id) => [
      id,
      {
        ranNs: Number((text(`/proc/self/task/${id}/schedstat`) ?? '0').split(' ')[0]),
        cpu: Number(text(`/proc/self/task/${id}/stat`)?.split(') ')[1]?.split(' ')[36] ?? NaN),
      },
    ]),
  );
}

/** Times of the same arithmetic and of the same system calls: how fast this processor is at this moment. */
function probe() {
  let at = process.hrtime.bigint();
  let state = 1;
  for (let i = 0; i < 200_000; i++) state = Math.imul(state ^ (state >>> 15), 1 | i);
  const arithmeticNs = Number(process.hrtime.bigint() - at);
  at = process.hrtime.bigint();
  for (let i = 0; i < 100; i++) fstatSync(1);
  return { arithmeticNs, callNs: Number(process.hrtime.bigint() - at) / 100, sink: state & 1 };
}

const blocks = {
  async 'OH-001'(session) {
    const visits = [];
    const core = below(1_000);
    for (let i = 0; i < 8; i++)
      visits.push(
        await addon.launchBlock(session, {
          call: 'cuLaunchKernel',
          count: 20,
          warmup: 10,
          seed: below(1e9),
          core: core + i,
        }),
      );
    const of = (name) => median(visits.map((visit) => median(visit[name])));
    return { ns: of('startNs'), submitNs: of('submitNs'), roundTripNs: of('roundTripNs') };
  },
  async 'OH-002'(session) {
    const request = { api: 'cuMemAlloc', bytes: 2 * MIB, live: 32, count: 50, warmup: 2, bare: false };
    const { allocNs } = await addon.allocationBlock(session, request);
    return { ns: median(allocNs), halves: [median(allocNs.subarray(0, 25)), median(allocNs.subarray(25))] };
  },
  async 'OH-003'(session) {
    const request = { bytes: 2 * MIB, live: 1_024, order: 'fifo', count: 50, warmup: 2, seed: below(1e9) };
    const { freeNs } = await addon.freeBlock(session, request);
    return { ns: median(freeNs), halves: [median(freeNs.subarray(0, 25)), median(freeNs.subarray(25))] };
  },
  async 'OH-007'(session) {
    const request = { bytes: MIB / 16, lives: [1_024], count: 60, warmup: 10, queries: 0 };
    const [cell] = await addon.liveSets(session, { ...request, seed: below(1e9), core: below(1_000) });
    return { ns: median(cell.allocNs.map((ns, i) => ns + cell.freeNs[i])) };
  },
};

async function inSession(cpus) {
  const turns = [];
  const first = new Set(threads().keys());
  const began = performance.now();
  const session = await addon.openSession(target);
  const openMs = performance.now() - began;
  for (let turn = 0; turn < HOME_TURNS + MOVED_TURNS; turn++) {
    const movedTo = turn < HOME_TURNS || cpus.length < 2 ? null : oneOf(cpus);
    if (movedTo !== null && spawnSync('taskset', ['-a', '-p', '-c', movedTo, `${process.pid}`]).status !== 0) break;
    let previous = null;
    for (const [position, metric] of shuffled(Object.keys(blocks)).entries()) {
      const speed = probe();
      const before = threads();
      const measured = await blocks[metric](session);
      const after = threads();
      // The addon's own thread: the one of the new threads that ran most.
      const ran = ([id, { ranNs }]) => ranNs - (before.get(id)?.ranNs ?? 0);
      const [worker] = [...after].filter(([id]) => !first.has(id)).sort((a, b) => ran(b) - ran(a));
      const where = worker
        ? { cpuBefore: before.get(worker[0])?.cpu ?? null, cpuAfter: worker[1].cpu, ranNs: ran(worker) }
        : {};
      turns.push({ metric, turn, position, previous, movedTo, ...measured, ...where, ...speed });
      previous = metric;
    }
  }
  await addon.closeSession(session);
  return { openMs, turns };
}

async function startUp() {
  const speed = probe();
  const request = { contextApi: 'cuDevicePrimaryCtxRetain', recreations: 0, startAtNs: null, keep: false };
  const { initNs, contextNs, moduleNs, firstLaunchNs, totalNs } = await addon.startUp({ ...target, ...request });
  return { ...speed, initNs, contextNs, moduleNs, firstLaunchNs, totalNs };
}

const ownCpu = () => threads().get(`${process.pid}`)?.cpu ?? null;

async function child(kind) {
  if (kind === 'hold') {
    await addon.openSession(target);
    console.log('{}');
    process.stdin.resume().once('end', () => process.exit(0));
    return;
  }
  const cpuBefore = ownCpu();
  const answer = kind === 'start' ? await startUp() : await inSession(numbers(given.cpus));
  const device = kind === 'inspect' ? await addon.inspect(target) : undefined;
  console.log(JSON.stringify({ cpuBefore, cpuAfter: ownCpu(), ...answer, device }));
}

// The experiment.

function lookAround() {
  const cpus = numbers(/^Cpus_allowed_list:\s*(.*)$/m.exec(text('/proc/self/status') ?? '')?.[1]);
  const works = (command, ...args) => spawnSync(command, [...args, 'true']).status === 0;
  const nodes = (attempt(() => readdirSync('/sys/devices/system/node')) ?? []).filter((name) => /^node\d+$/.test(name));
  const pci = '/sys/bus/pci/devices';
  const gpus = (attempt(() => readdirSync(pci)) ?? []).filter(
    (name) => text(`${pci}/${name}/vendor`) === '0x10de' && text(`${pci}/${name}/class`)?.startsWith('0x03'),
  );
  return {
    cpus,
    taskset: cpus.length > 0 && works('taskset', '-c', `${cpus[0]}`),
    setarch: works('setarch', '-R'),
    nodes: Object.fromEntries(
      nodes.map((name) => [name.slice(4), numbers(text(`/sys/devices/system/node/${name}/cpulist`))]),
    ),
    gpuNodes: gpus.map((name) => Number(text(`${pci}/${name}/numa_node`))),
    siblings: [...new Set(cpus.map((cpu) => text(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`)))],
    kernel: text('/proc/version'),
    cpu: /^model name\s*:\s*(.*)$/m.exec(text('/proc/cpuinfo') ?? '')?.[1] ?? null,
    randomisation: text('/proc/sys/kernel/randomize_va_space'),
  };
}

/** The processors of each place; the machine may not have them all. */
function placesOf({ cpus, taskset, nodes, gpuNodes: [gpuNode = -1] }) {
  if (!taskset) return { free: [] };
  const near = cpus.filter((cpu) => nodes[gpuNode]?.includes(cpu));
  const far = cpus.filter((cpu) => !near.includes(cpu));
  if (near.length > 0 && far.length > 0) return { free: [], near, far };
  return { free: [], pinned: cpus };
}

/** Time that the host took from this machine, and all time, in ticks. */
function processorTime() {
  const ticks = (text('/proc/stat') ?? '').split('\n')[0].split(/\s+/).slice(1).map(Number);
  return { busy: sum(ticks) - (ticks[3] ?? 0) - (ticks[4] ?? 0), steal: ticks[7] ?? 0 };
}

function started(kind, { pin = null, randomised = true, environment = {}, cpus = [] } = {}) {
  const argv = [
    ...(pin === null ? [] : ['taskset', '-c', pin]),
    ...(randomised ? [] : ['setarch', '-R']),
    process.execPath,
    here,
    '--child',
    kind,
    '--cpus',
    cpus.join(','),
    ...(given.simulate ? ['--simulate'] : []),
  ];
  const [command, ...args] = argv;
  const process_ = spawn(command, args, {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const killer = globalThis.setTimeout(() => process_.kill('SIGKILL'), kind === 'hold' ? 1e9 : 1e3 * CHILD_SECONDS);
  let output = '';
  const firstLine = new Promise((resolve, reject) => {
    process_.once('error', reject);
    process_.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('\n')) resolve(JSON.parse(output.split('\n')[0]));
    });
    process_.once('close', () => reject(new Error(`${kind} ended without a result.`)));
  });
  const ended = new Promise((resolve) => process_.once('close', resolve)).finally(() =>
    globalThis.clearTimeout(killer),
  );
  return {
    answer: firstLine.finally(() => kind === 'hold' || process_.stdin.end()),
    ended,
    end: () => process_.stdin.end(),
  };
}

async function experiment() {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1e3;
  mkdirSync(given.out, { recursive: true });
  const file = join(given.out, 'levels.jsonl');
  writeFileSync(file, '');
  const machine = lookAround();
  const places = placesOf(machine);
  const warm = started('inspect', { cpus: [] });
  const { device } = await warm.answer;
  await warm.ended;
  const [gpu] = device.devices;
  writeFileSync(join(given.out, 'machine.json'), JSON.stringify({ ...machine, places, gpu }, null, 1));
  const cells = Object.keys(places).flatMap((place) =>
    (machine.setarch ? [true, false] : [true]).map((randomised) => ({ place, randomised })),
  );
  let stopped = false;
  process.once('SIGINT', () => (stopped = true));
  let number = 0;
  let longest = 0;
  const isOver = () => stopped || seconds() + longest > Number(given.seconds);

  async function one(kind, cell, held) {
    if (isOver()) return;
    const cpus = places[cell.place];
    const pin = cpus.length > 0 ? oneOf(cpus) : null;
    const gap = number++ % GAP_EVERY === 0 ? GAP_SECONDS : 0;
    const cache = mkdtempSync(join(tmpdir(), 'gvb-levels-'));
    const from = seconds();
    try {
      if (gap > 0) await setTimeout(1e3 * gap);
      const state = await addon.gpuState({ simulatedDriver, uuid: gpu.uuid, detail: 'readings' });
      const time = processorTime();
      const environment = kind === 'start' ? { CUDA_CACHE_PATH: cache } : {};
      const process_ = started(kind, {
        pin,
        randomised: cell.randomised,
        environment,
        cpus: machine.taskset ? machine.cpus : [],
      });
      const answer = await process_.answer.catch((error) => ({ error: String(error) }));
      await process_.ended;
      const after = processorTime();
      const { smClockMhz, memoryClockMhz, performanceState, temperatureC, powerW } = state ?? {};
      const condition = { kind, ...cell, pin, gap, held, atSeconds: from, tookSeconds: seconds() - from };
      const gpuBefore = { smClockMhz, memoryClockMhz, performanceState, temperatureC, powerW };
      const host = { steal: after.steal - time.steal, busy: after.busy - time.busy };
      appendFileSync(file, `${JSON.stringify({ number, ...condition, gpuBefore, host, ...answer })}\n`);
    } finally {
      rmSync(cache, { recursive: true, force: true });
      longest = Math.max(longest, seconds() - from);
    }
  }

  while (!isOver())
    for (const held of shuffled([true, false])) {
      if (isOver()) break;
      const holder = held ? started('hold') : null;
      await holder?.answer;
      for (const cell of shuffled(cells))
        for (const kind of shuffled(['session', 'start'])) await one(kind, cell, held);
      holder?.end();
      await holder?.ended;
    }
  console.error(`${number} processes in ${seconds().toFixed(0)} s`);
  const result = analysis(file);
  writeFileSync(join(given.out, 'levels.txt'), result);
  console.log(result);
}

// The shares of variance. All values are logarithms, so that a standard deviation of 0.05 is 5 %.

const percent = (value) => (Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : '–');

/** Omega squared: the share of variance that the groups explain, less what they explain by chance. */
function share(rows, groupOf) {
  const groups = grouped(rows, groupOf);
  if (groups.size < 2 || rows.length <= groups.size) return null;
  const all = mean(rows.map(({ log }) => log));
  const between = sum([...groups.values()].map((its) => its.length * (mean(its.map(({ log }) => log)) - all) ** 2));
  const total = sum(rows.map(({ log }) => (log - all) ** 2));
  const within = (total - between) / (rows.length - groups.size);
  return (between - (groups.size - 1) * within) / (total + within);
}

function grouped(rows, groupOf) {
  const groups = new Map();
  for (const row of rows) groups.set(groupOf(row), [...(groups.get(groupOf(row)) ?? []), row]);
  return groups;
}

function levels(rows, groupOf) {
  const all = mean(rows.map(({ log }) => log));
  return [...grouped(rows, groupOf)]
    .sort(([a], [b]) => String(a).localeCompare(String(b), 'en', { numeric: true }))
    .map(([level, its]) => {
      const logs = its.map(({ log }) => log);
      const error = its.length > 1 ? sd(logs) / Math.sqrt(its.length) : NaN;
      return `${level}: × ${Math.exp(mean(logs) - all).toFixed(3)} ± ${error.toFixed(3)}, sd ${percent(its.length > 1 ? sd(logs) : NaN)} (${its.length})`;
    })
    .join('; ');
}

function correlation(pairs) {
  const known = pairs.filter((pair) => pair.every(Number.isFinite));
  if (known.length < 4) return null;
  const [x, y] = [known.map(([a]) => a), known.map(([, b]) => b)];
  const [mx, my] = [mean(x), mean(y)];
  const spread = Math.sqrt(sum(x.map((a) => (a - mx) ** 2)) * sum(y.map((b) => (b - my) ** 2)));
  return spread === 0 ? null : sum(known.map(([a, b]) => (a - mx) * (b - my))) / spread;
}

/** Standard deviations of processes and of turns within a process, by analysis of variance. */
function components(turns) {
  const groups = [...grouped(turns, ({ number }) => number).values()].filter((its) => its.length > 1);
  if (groups.length < 3) return null;
  const perGroup = mean(groups.map((its) => its.length));
  const within = mean(groups.map((its) => variance(its.map(({ log }) => log))));
  const between = variance(groups.map((its) => mean(its.map(({ log }) => log)))) - within / perGroup;
  return { process: Math.sqrt(Math.max(0, between)), turn: Math.sqrt(within), processes: groups.length };
}

const FACTORS = {
  place: ({ place }) => place,
  'address randomisation': ({ randomised }) => (randomised ? 'on' : 'off'),
  'another context alive': ({ held }) => (held ? 'yes' : 'no'),
  'pause before the start': ({ gap }) => `${gap} s`,
  'SM clock before the start': ({ gpuBefore }) => `${gpuBefore.smClockMhz} MHz`,
  'tenth of the time': ({ tenth }) => `${tenth}`,
};
const COVARIATES = {
  'arithmetic in the process': ({ arithmeticNs }) => Math.log(arithmeticNs),
  'system calls in the process': ({ callNs }) => Math.log(callNs),
  'time taken by the host (steal)': ({ host }) => host.steal,
  'processors busy': ({ host }) => host.busy,
  'temperature before': ({ gpuBefore }) => gpuBefore.temperatureC,
};

function table(name, rows) {
  const lines = [
    `  between processes, ${name}: sd ${percent(sd(rows.map(({ log }) => log)))} (${rows.length} processes)`,
  ];
  for (const [factor, of] of Object.entries(FACTORS)) {
    const explained = share(rows, of);
    if (explained !== null)
      lines.push(`    ${factor}: explains ${percent(Math.max(0, explained))}. ${levels(rows, of)}`);
  }
  const pinned = rows.filter(({ pin }) => pin !== null);
  const byCpu = pinned.length > 0 ? share(pinned, ({ pin }) => pin) : null;
  if (byCpu !== null)
    lines.push(
      `    which processor it is pinned to: explains ${percent(Math.max(0, byCpu))} (${pinned.length} processes)`,
    );
  for (const [covariate, of] of Object.entries(COVARIATES)) {
    const r = correlation(rows.map((row) => [of(row), row.log]));
    if (r !== null) lines.push(`    ${covariate}: correlation ${r.toFixed(2)}`);
  }
  const next = correlation(rows.slice(1).map(({ log }, i) => [rows[i].log, log]));
  if (next !== null) lines.push(`    the process before it: correlation ${next.toFixed(2)}`);
  return lines;
}

function ofTurns(metric, processes) {
  const turns = processes.flatMap(({ turns: its, ...rest }) =>
    its
      .filter((turn) => turn.metric === metric && turn.ns > 0)
      .map((turn) => ({ ...rest, ...turn, log: Math.log(turn.ns) })),
  );
  const home = turns.filter(({ movedTo }) => movedTo === null);
  const moved = turns.filter(({ movedTo }) => movedTo !== null);
  const lines = [`${metric}: median ${(median(home.map(({ ns }) => ns)) / 1e3).toFixed(3)} us`];
  const first = home.filter(({ turn }) => turn === 0);
  if (first.length < 4) return { lines: [...lines, '  too few processes'], rows: [] };
  lines.push(...table('the first turn of each', first));
  const means = [...grouped(home, ({ number }) => number).values()].map((its) => ({
    ...its[0],
    log: mean(its.map(({ log }) => log)),
    arithmeticNs: mean(its.map(({ arithmeticNs }) => arithmeticNs)),
    callNs: mean(its.map(({ callNs }) => callNs)),
  }));
  lines.push(...table(`mean of ${HOME_TURNS} turns`, means));
  for (const [name, some] of Object.entries({ 'where it started': home, 'on a random processor each': moved })) {
    for (const [place, its] of [['all', some], ...grouped(some, ({ place }) => place)]) {
      const found = components(its);
      if (!found) continue;
      lines.push(
        `  turns ${name}, place ${place}: sd between processes ${percent(found.process)}, between turns of a process ${percent(found.turn)} (${found.processes} processes)`,
      );
    }
  }
  lines.push(`  turn: ${levels(turns, ({ turn }) => turn)}`);
  lines.push(`  position in its turn: ${levels(turns, ({ position }) => position)}`);
  lines.push(`  metric before it: ${levels(turns, ({ previous }) => previous ?? 'none')}`);
  const onOne = turns.filter(({ cpuBefore, cpuAfter }) => cpuBefore === cpuAfter && Number.isFinite(cpuAfter));
  const byCpu = onOne.length > 0 ? share(onOne, ({ cpuAfter }) => cpuAfter) : null;
  if (byCpu !== null)
    lines.push(
      `  processor of the turn: explains ${percent(Math.max(0, byCpu))} of ${onOne.length} turns. ${levels(onOne, ({ cpuAfter }) => cpuAfter)}`,
    );
  for (const [covariate, of] of Object.entries({ arithmetic: 'arithmeticNs', 'system calls': 'callNs' })) {
    const r = correlation(turns.map((turn) => [Math.log(turn[of]), turn.log]));
    if (r !== null) lines.push(`  ${covariate} just before the turn: correlation ${r.toFixed(2)}`);
  }
  return { lines, rows: means };
}

function ofStarts(metric, field, processes) {
  const rows = processes
    .filter((process_) => process_[field] > 0)
    .map((process_) => ({ ...process_, log: Math.log(process_[field]) }));
  if (rows.length < 4) return { lines: [`${metric}: too few processes`], rows: [] };
  return {
    lines: [
      `${metric}: median ${(median(rows.map((row) => row[field])) / 1e6).toFixed(3)} ms`,
      ...table('one start each', rows),
    ],
    rows,
  };
}

function analysis(file) {
  const all = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const last = Math.max(...all.map(({ atSeconds }) => atSeconds));
  const usable = all
    .filter(({ error }) => error === undefined)
    .map((one) => ({ ...one, tenth: Math.floor((10 * one.atSeconds) / (last + 1)) }));
  const sessions = usable.filter(({ kind }) => kind === 'session');
  const starts = usable.filter(({ kind }) => kind === 'start');
  const parts = {
    ...Object.fromEntries(Object.keys(blocks).map((metric) => [metric, ofTurns(metric, sessions)])),
    'START-004': ofStarts('START-004', 'moduleNs', starts),
    'START-002': ofStarts('START-002', 'initNs', starts),
    'START-003': ofStarts('START-003', 'contextNs', starts),
  };
  const lines = [`${usable.length} of ${all.length} processes gave a result`];
  for (const { error } of all.filter(({ error: its }) => its !== undefined).slice(0, 5)) lines.push(`  ${error}`);
  lines.push(...Object.values(parts).flatMap((part) => ['', ...part.lines]));
  lines.push('', 'correlation between metrics of the same processes:');
  const ids = Object.keys(parts);
  for (const [i, one] of ids.entries())
    for (const other of ids.slice(i + 1)) {
      const by = new Map(parts[other].rows.map(({ number, log }) => [number, log]));
      const r = correlation(parts[one].rows.map(({ number, log }) => [log, by.get(number) ?? NaN]));
      if (r !== null) lines.push(`  ${one}, ${other}: ${r.toFixed(2)}`);
    }
  return `${lines.join('\n')}\n`;
}

if (given.child) await child(given.child);
else if (given.analyse) console.log(analysis(given.analyse));
else if (given.out) await experiment();
else {
  console.error('Expected --out DIR or --analyse FILE.');
  process.exitCode = 2;
}
