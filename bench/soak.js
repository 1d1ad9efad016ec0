// A soak: hours of all metrics, comparisons, programs and monitors, in one process and in many, and what grew meanwhile.
// Watched: descriptors, threads, heap and resident memory of the process, files, shared memory, processes, GPU memory.
// Exits with 1 if something grew or failed, or if the soak was too short to exclude it; 130 if it was interrupted.
// Usage: node bench/soak.js --hours 24 --state soak.json [--turns N, at least] [--simulate] [--metrics 'OH-*,IS-005'] [--warm-up MINUTES]
//   [--heap MB] [--rss MB]          (MB an hour: the upper ends of the 95 % intervals of the slopes stay below)
// Killed and started again with the same state file, it goes on. With a bundle (npm run bundle), on a server without Node:
//        tar -xJf gpu-virt-bench-linux-x64.tar.xz && cp -r bench gpu-virt-bench-linux-x64/app/
//        gpu-virt-bench-linux-x64/node gpu-virt-bench-linux-x64/app/bench/soak.js --hours 24 --state soak.json
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import picomatch from 'picomatch';
import { listDevices, listMetrics } from '../dist/index.js';
import { answerOf } from './children.js';
import { commandTurn } from './soak/commands.js';
import { leftOnMachine, MARK } from './soak/machine.js';
import { hasPassed, judge, rowText } from './soak/verdict.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
/** A pass through all metrics takes so many turns, so that there are turns enough to compare in an hour. */
const TURNS_PER_PASS = 16;
/** A turn takes a minute: longer is a hang, which is a failure. */
const TURN_LIMIT_MS = 1_800_000;

function usage(message) {
  console.error(message);
  process.exit(2);
}

function options() {
  const text = { type: 'string' };
  const { values } = parseArgs({
    options: {
      hours: { ...text, default: '1' },
      turns: { ...text, default: '1' },
      state: text,
      simulate: { type: 'boolean', default: false },
      metrics: { ...text, default: '*' },
      'warm-up': text,
      heap: { ...text, default: '1' },
      rss: { ...text, default: '8' },
    },
  });
  const number = (name, value) => {
    const given = Number(value);
    if (!(given >= 0 && given < Infinity)) usage(`Expected --${name} to be a number from 0 but received ${value}.`);
    return given;
  };
  const hours = number('hours', values.hours);
  return {
    hours,
    leastTurns: number('turns', values.turns),
    file: values.state,
    simulate: values.simulate,
    metrics: values.metrics,
    limits: {
      // At most a quarter of a short soak.
      warmUpMinutes: number('warm-up', values['warm-up'] ?? Math.min(20, hours * 15)),
      heapMbPerHour: number('heap', values.heap),
      rssMbPerHour: number('rss', values.rss),
    },
  };
}

const { hours, leastTurns, file, simulate, metrics, limits } = options();
const ids = (await listMetrics()).map(({ id }) => id).filter(picomatch(metrics.split(',')));
if (ids.length === 0) usage(`Expected --metrics to name a metric but received ${metrics}.`);
const gpus = await listDevices({ simulate }).catch((error) =>
  usage(`${error.message} --simulate soaks the simulated GPU.`),
);

/** What a soak is of: it goes on only as the same one. */
const subject = { version, simulate, metrics, gpu: gpus.map(({ name }) => name).join(', ') };

function begun() {
  if (file === undefined || !existsSync(file)) return { subject, lives: [], failures: [] };
  const state = JSON.parse(readFileSync(file, 'utf8'));
  if (JSON.stringify(state.subject) !== JSON.stringify(subject))
    usage(
      `Expected ${file} to be of this soak, ${JSON.stringify(subject)}, but it is of ${JSON.stringify(state.subject)}.`,
    );
  // What the life before left behind when it was killed.
  if (state.folder) rmSync(state.folder, { recursive: true, force: true });
  return state;
}

const state = begun();
const id = randomUUID().slice(0, 8);
const folder = mkdtempSync(join(tmpdir(), 'gvb-soak-'));
const [temporary, results] = ['tmp', 'results'].map((name) => join(folder, name));
for (const each of [temporary, results]) mkdirSync(each);
state.turnsPerPass = Math.min(TURNS_PER_PASS, ids.length);
state.limits = limits;
state.folder = folder;

/** The file is complete at any moment. */
function save() {
  if (file === undefined) return;
  writeFileSync(`${file}.new`, `${JSON.stringify(state)}\n`);
  renameSync(`${file}.new`, file);
}

let cards = 0;
/** Every process has a card of its own, whose shared memory can be told from others'. */
function environment() {
  const sim = [`region=soak-${id}-${cards++}`, 'devices=2', process.env.GVB_SIM].filter(Boolean).join(',');
  return { ...process.env, TMPDIR: temporary, [MARK]: id, GVB_SIM: sim };
}

const running = new Set();
let interrupted = false;
function starting(child) {
  running.add(child);
  child.once('close', () => running.delete(child));
  if (interrupted) child.kill();
  return !interrupted;
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    interrupted = true;
    for (const child of running) child.kill('SIGTERM');
  });

const left = (known) => leftOnMachine({ id, temporary, results, known: [process.pid, ...known] });

/** The answer of the process to a turn; rejects if it ends or takes too long. */
async function turnOf(child, request) {
  const { answer, end } = await answerOf(child, request, TURN_LIMIT_MS);
  if (answer) return answer;
  throw new Error(
    `the process ended with ${end.signal ?? end.code} within a turn, after at most ${TURN_LIMIT_MS / 1_000} s`,
  );
}

const soakedS = () => state.lives.reduce((sum, { turns }) => sum + (turns.at(-1)?.atS ?? 0), 0);

async function live() {
  const before = await left([]);
  const life = { began: new Date().toISOString(), before, turns: [] };
  state.lives.push(life);
  const child = fork(fileURLToPath(new URL('soak/library.js', import.meta.url)), [], {
    execArgv: ['--expose-gc'],
    env: environment(),
    cwd: folder,
  });
  starting(child);
  const ended = once(child, 'exit');
  const from = performance.now();
  const fail = (what) => state.failures.push({ life: state.lives.length, turn: life.turns.length + 1, what });
  try {
    while (!interrupted && (soakedS() < hours * 3_600 || life.turns.length < Math.max(1, leastTurns))) {
      const some = ids.filter((_, i) => i % state.turnsPerPass === life.turns.length % state.turnsPerPass);
      const answer = await turnOf(child, { simulate, ids: some });
      const failed = await commandTurn({ simulate, ids: some, folder: results, environment, starting });
      if (interrupted) break;
      [...answer.failures, ...failed].forEach(fail);
      if (answer.state === null) break;
      const atS = (performance.now() - from) / 1_000;
      life.turns.push({ atS, ...answer.state, ...(await left([child.pid])) });
      save();
      tell(life.turns);
    }
  } catch (error) {
    if (!interrupted) fail(error.message);
  }
  if (child.connected) child.send('end');
  const [code, signal] = await ended;
  if (code !== 0 && !interrupted) fail(`the process ended with ${signal ?? code}`);
  life.after = await left([]);
  // What the commands wrote is theirs to keep; the rest has to be as it was.
  const more = ['temporaryFiles', 'sharedMemory', 'processes'].filter((name) => life.after[name] > before[name]);
  if (!interrupted) more.forEach((name) => fail(`${name}: ${life.after[name]} after the end, ${before[name]} before`));
}

function tell(turns) {
  const { atS, heapBytes, rssBytes, descriptors, threads, gpuUsedMib } = turns.at(-1);
  console.error(
    `turn ${turns.length}, ${(atS / 60).toFixed(1)} min: heap ${(heapBytes / 1e6).toFixed(2)} MB, RSS ${(rssBytes / 1e6).toFixed(1)} MB, ${descriptors} descriptors, ${threads} threads, GPU ${gpuUsedMib} MiB, ${state.failures.length} failures`,
  );
}

await live();
rmSync(folder, { recursive: true, force: true });
delete state.folder;
const rows = judge(state);
state.verdict = rows;
save();
const turns = state.lives.reduce((sum, life) => sum + life.turns.length, 0);
console.log(`${(soakedS() / 3_600).toFixed(2)} h of ${subject.gpu}, ${turns} turns in ${state.lives.length} lives:`);
for (const row of rows) console.log(`  ${rowText(row)}`);
for (const { life, turn, what } of state.failures) console.log(`  failed in turn ${turn} of life ${life}: ${what}`);
if (interrupted) {
  console.error(file === undefined ? 'Interrupted.' : 'Interrupted. The same command goes on.');
  process.exitCode = 130;
} else process.exitCode = hasPassed(rows) && state.failures.length === 0 ? 0 : 1;
