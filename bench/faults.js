// A campaign of seeded faults and broken inputs: whatever is broken, a command ends in time with a documented exit code and
// a message, leaves no process and no file, and writes no half of a document and no number for a failed metric.
// Most cases are broken files and options, read within one process; every eighth is a process that measures.
// Usage: node bench/faults.js [--seed 1] [--cases 10000] [--seconds N]      ends with what comes first; exit 1 after a fault
//        node bench/faults.js --seed S --only N [--keep]                    repeats one case, and prints and keeps its files
import { fork, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { answerOf } from './children.js';
import { faultsOf } from './faults/checks.js';
import { choicesOf } from './faults/choices.js';
import { inputCase } from './faults/inputs.js';
import { processCase } from './faults/processes.js';
import { runCase, sharedOf } from './faults/running.js';

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    seed: { ...text, default: '1' },
    cases: { ...text, default: '10000' },
    seconds: text,
    only: text,
    keep: { type: 'boolean' },
  },
});
const [seed, cases] = [Number(values.seed), Number(values.cases)];
const seconds = values.seconds === undefined ? Infinity : Number(values.seconds);
const only = values.only === undefined ? null : Number(values.only);
for (const [name, value] of Object.entries({ seed, cases, seconds, only: only ?? 1 }))
  if (!(value >= 0)) {
    console.error(`Expected --${name} to be a number from 0 but received ${values[name]}.`);
    process.exit(2);
  }

const ONE_PROCESS_IN = 8;
/** A command that reads files takes milliseconds. */
const INSIDE_DEADLINE_MS = 60_000;
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gvb-faults-'));
const path = (...names) => join(folder, ...names);
const home = path('home');
mkdirSync(home);

/** What cases break copies of: a result directory of each command. */
function prepared() {
  const few = ['--simulate', '--rounds', '1', '--tier', 'quick', '--iterations', '3', '--seed', '1'];
  const made = {
    compared: ['compare', 'OH-002', ...few, '--system', 'native', '--system', 'native:name=again'],
    executed: ['exec', ...few, '--', '/bin/true'],
  };
  return Object.entries(made).map(([name, args]) => {
    const [command, ...rest] = args;
    const { status, stderr } = spawnSync(process.execPath, [main, command, '--output', path(name), ...rest], {
      encoding: 'utf8',
    });
    if (status === 0 || status === 1) return path(name);
    throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  });
}

/** A file system without space; null without permission. */
function fullFolder() {
  mkdirSync(path('full'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', path('full')]).status !== 0) return null;
  writeFileSync(path('full', 'filler'), 'x'.repeat(4_096));
  return path('full');
}

/** The process that runs commands in itself; another one takes its place after a crash or a hang. */
class Inside {
  #child = null;
  temporary;

  constructor(temporary) {
    mkdirSync(temporary);
    this.temporary = temporary;
  }

  async run(request) {
    this.#child ??= fork(fileURLToPath(new URL('faults/inside.js', import.meta.url)), [], {
      env: { PATH: process.env.PATH, HOME: home, LC_ALL: 'C.UTF-8', TMPDIR: this.temporary, GVB_SIM: 'init_ms=1' },
      execArgv: ['--max-old-space-size=1024'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const child = this.#child;
    let stderr = '';
    const hear = (chunk) => (stderr += chunk);
    child.stderr.on('data', hear);
    try {
      const { answer, end, timedOut = false } = await answerOf(child, request, INSIDE_DEADLINE_MS);
      if (answer) return answer;
      this.#child = null;
      return { ...end, stdout: '', stderr, escaped: timedOut ? [] : ['the process ended'], timedOut };
    } finally {
      child.stderr.off('data', hear);
    }
  }

  close() {
    this.#child?.disconnect();
  }
}

const counts = {};
/** How commands ended: most have to be refused, and many not. */
const ends = {};
const failures = [];

function report(number, { kind, args, input }, outcome, faults) {
  counts[kind] = (counts[kind] ?? 0) + 1;
  const ending = outcome.signal ?? outcome.code;
  ends[ending] = (ends[ending] ?? 0) + 1;
  if (faults.length === 0 && only === null) return;
  const printable = (given) => JSON.stringify(given.length > 2_000 ? `${given.slice(0, 2_000)}…` : given);
  if (faults.length > 0) failures.push(number);
  console.log(
    [
      `${faults.length > 0 ? 'FAULT' : 'no fault'} in case ${number} (${kind}): node bench/faults.js --seed ${seed} --only ${number}`,
      ...faults.map((fault) => `  ${fault}`),
      `  command: ${args.join(' ')}`,
      `  exit ${outcome.signal ?? outcome.code}, stderr ${printable(outcome.stderr)}`,
      `  input ${printable(input)}`,
    ].join('\n'),
  );
}

async function oneCase(number, inside, given) {
  const choices = choicesOf(seed, number);
  const cwd = path(`case-${number}`);
  const temporary = path(`tmp-${number}`);
  mkdirSync(temporary, { recursive: true });
  if (!choices.chance(1 / ONE_PROCESS_IN)) {
    const made = inputCase(choices, cwd, given);
    const outcome = await inside.run({ args: made.args, cwd });
    report(number, made, outcome, faultsOf(outcome, { ...made, temporary: inside.temporary }));
    for (const name of readdirSync(inside.temporary)) rmSync(join(inside.temporary, name), { recursive: true });
  } else {
    const made = processCase(choices, cwd, given);
    const mark = `faults-${randomUUID().slice(0, 12)}`;
    const outcome = await runCase(made, { cwd, temporary, home, mark });
    const mayLeave = outcome.sent.includes('SIGKILL') || outcome.timedOut;
    const faults = faultsOf(outcome, { ...made, killed: outcome.sent, temporary, mayLeave });
    const shared = sharedOf(mark);
    // A killed process leaves the card to the next one.
    if (shared.length > 0 && made.kill === null) faults.push(`left in shared memory: ${shared.join(', ')}`);
    for (const each of shared) rmSync(each, { force: true });
    report(number, made, outcome, faults);
  }
  if (!values.keep) for (const each of [cwd, temporary]) rmSync(each, { recursive: true, force: true });
}

const began = performance.now();
const elapsed = () => (performance.now() - began) / 1_000;
let next = 1;
async function lane(given, index) {
  const inside = new Inside(path(`inside-${index}`));
  while (only === null && next <= cases && elapsed() < seconds) await oneCase(next++, inside, given);
  inside.close();
}

const given = { directories: prepared(), full: fullFolder() };
if (given.full === null) console.log('No full disk: this user must not mount one.');
try {
  if (only !== null) {
    const inside = new Inside(path('inside'));
    await oneCase(only, inside, given);
    inside.close();
  } else
    await Promise.all(
      Array.from({ length: Math.min(4, 2 * availableParallelism()) }, (_, index) => lane(given, index)),
    );
} finally {
  if (given.full !== null) spawnSync('umount', [given.full]);
  if (!values.keep) rmSync(folder, { recursive: true, force: true });
}
const tally = (all) =>
  Object.entries(all)
    .map(([name, count]) => `${name} ${count}`)
    .sort()
    .join(', ');
const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
console.log(`${all} cases of seed ${seed} in ${elapsed().toFixed(0)} s: ${tally(counts)}`);
console.log(`Exit codes: ${tally(ends)}`);
console.log(failures.length === 0 ? 'No faults.' : `${failures.length} with faults: ${failures.join(', ')}`);
process.exitCode = failures.length > 0 ? 1 : 0;
