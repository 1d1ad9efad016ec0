// What this tool itself costs, beside an empty Node process of the same machine: import, commands that measure nothing,
// the report of the largest record in every format, the start of workers, and the coordinator while a worker measures.
// Usage: node bench/own-cost.js [--root DIR] [--runs N]   (DIR: another checkout or installed package; needs no GPU)
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { median, moduleText, ProcessCosts } from './process-cost.js';
import { isJsonRecord, recordNames, recordText } from './records.js';

const { values } = parseArgs({ options: { root: { type: 'string' }, runs: { type: 'string', default: '15' } } });
const root = resolve(values.root ?? fileURLToPath(new URL('..', import.meta.url)));
const runs = Number(values.runs);
const folder = mkdtempSync(join(tmpdir(), 'gvb-own-cost-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const command = (...args) => [join(root, 'dist/cli/main.js'), ...args];

/** The largest document that `report` reads, and its name. */
function largestDocument() {
  let largest = { name: '', text: '' };
  for (const name of recordNames().filter(isJsonRecord)) {
    const text = recordText(name);
    if (text.length > largest.text.length && /"kind": ?"(comparison|run)"/.test(text.slice(0, 400)))
      largest = { name, text };
  }
  return largest;
}

const { name, text } = largestDocument();
const document = join(folder, 'largest.json');
writeFileSync(document, text);
const formats = ['json', 'markdown', 'html', 'csv', 'junit', 'openmetrics', 'bencher'];

const empty = moduleText('');
const light = new ProcessCosts(folder).inTurn(
  {
    'an empty process': empty,
    'import of the library': moduleText(`await import(${JSON.stringify(join(root, 'dist/index.js'))})`),
    '--help': command('--help'),
    'run --help': command('run', '--help'),
    list: command('list'),
    'a worker, without a request': [join(root, 'dist/worker/main.js')],
  },
  runs,
);
const reports = new ProcessCosts(folder).inTurn(
  Object.fromEntries(formats.map((format) => [`report as ${format}`, command('report', document, '--format', format)])),
  Math.ceil(runs / 5),
);

/** Budgets on a machine whose empty process takes 40 ms; the import's are what it adds. */
const BUDGET = {
  'import of the library': { addedMs: 60, addedMb: 40 },
  '--help': { ms: 150 },
  list: { ms: 300 },
  ...Object.fromEntries(formats.map((format) => [`report as ${format}`, { ms: 2_000 }])),
};
const reference = light['an empty process'];
const number = (value, width = 8) => value.toFixed(0).padStart(width);
console.log(`${'medians'.padEnd(34)}  wall ms   CPU ms   added CPU  peak MB  added MB   budget`);
for (const [what, { ms, cpuMs, kib }] of Object.entries({ ...light, ...reports })) {
  const budget = Object.entries(BUDGET[what] ?? {}).map(([key, value]) => `${key} ${value}`);
  const added = [cpuMs - reference.cpuMs, (kib - reference.kib) * 1.024e-3];
  console.log(
    `${what.padEnd(34)} ${number(ms)} ${number(cpuMs)} ${number(added[0], 11)} ${number(kib * 1.024e-3)} ${number(added[1], 9)}   ${budget.join(', ')}`,
  );
}
console.log(`The largest record is ${name}, ${(text.length / 1e6).toFixed(1)} MB.`);

/** Processor time of all threads of a process so far. */
function cpuMsOf(pid) {
  const tasks = `/proc/${pid}/task`;
  const ns = (task) => Number(readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0]);
  return readdirSync(tasks).reduce((sum, task) => sum + ns(task), 0) / 1e6;
}

const MEASURED = 'OH-002';
const simulation = { PATH: process.env.PATH, HOME: folder, GVB_SIM: 'init_ms=0,context_ms=0' };

/** Processor time of a worker of its own until it has answered each request. */
async function workerCpuMs() {
  const child = spawn(process.execPath, [join(root, 'dist/worker/main.js')], {
    env: simulation,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = child.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
  let rest = '';
  const next = async (wanted) => {
    while (!rest.includes(wanted)) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The worker ended before it sent ${wanted}: ${rest}`);
      rest += value;
    }
  };
  try {
    await next('"ready"');
    const start = cpuMsOf(child.pid);
    const options = { simulate: true, iterations: 1, warmup: 0, tier: 'quick', seed: 1 };
    const params = { id: MEASURED, options, headlineOnly: true };
    child.stdin.write(`${JSON.stringify({ gvb: 'request', id: 1, method: 'measure', params })}\n`);
    await next('"result"');
    return { start, measure: cpuMsOf(child.pid) - start };
  } finally {
    const ended = new Promise((done) => child.once('close', done));
    child.stdin.end();
    await ended;
  }
}

const workers = [];
for (let run = 0; run < runs; run++) workers.push(await workerCpuMs());
console.log(
  `A worker: ${median(workers.map(({ start }) => start)).toFixed(0)} ms of CPU until it is ready, ${median(workers.map(({ measure }) => measure)).toFixed(0)} ms more for one sample of ${MEASURED}`,
);

const WARM_UP_MS = 4_000;
const LOOK_MS = 10_000;

/** The share of a core that the coordinator takes while one worker measures, in percent. */
async function coordinatorPercent() {
  const arguments_ = ['run', 'OH-001', '--simulate', '--iterations', '5000000', '--timeout', '120', '--json', '-'];
  const child = spawn(process.execPath, command(...arguments_), {
    env: simulation,
    stdio: 'ignore',
    detached: true,
  });
  const ended = new Promise((done) => child.once('close', done));
  try {
    await sleep(WARM_UP_MS);
    const [from, began] = [cpuMsOf(child.pid), performance.now()];
    await sleep(LOOK_MS);
    return (100 * (cpuMsOf(child.pid) - from)) / (performance.now() - began);
  } finally {
    child.kill('SIGINT');
    await ended;
  }
}
console.log(
  `The coordinator beside a worker that measures: ${(await coordinatorPercent()).toFixed(2)} % of a core (1)`,
);
console.log(`dist/: ${(size(join(root, 'dist')) / 1e6).toFixed(2)} MB`);

function size(path) {
  if (!statSync(path).isDirectory()) return statSync(path).size;
  return readdirSync(path).reduce((sum, entry) => sum + size(join(path, entry)), 0);
}
