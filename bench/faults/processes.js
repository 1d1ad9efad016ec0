// Cases of commands that measure, each in a process of its own: failing calls of the driver, signals at any moment, full
// and unwritable outputs, and odd environments.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ODD_TEXTS } from './mutations.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const namesIn = (file) =>
  [...readFileSync(join(root, 'native/driver', file), 'utf8').matchAll(/\b((?:cu|nvml|nccl)[A-Z]\w+)/g)].map(
    ([name]) => name,
  );
const functions = [...new Set(['cuda', 'nvml'].flatMap((name) => namesIn(`${name}_functions.inc`)))];
/** Of the driver and NVML: memory, not supported, faults, unknown, and one that is none. */
const CODES = [1, 2, 3, 4, 100, 101, 201, 400, 600, 700, 702, 719, 800, 801, 802, 999, 15, 12_345];
const SETTINGS = /^\|\s*`([^`]+)`/gm;
const settings = [...readFileSync(join(root, 'native/sim/README.md'), 'utf8').matchAll(SETTINGS)]
  .flatMap(([, text]) => text.split(' '))
  .map((setting) => setting.split('=')[0])
  // These would make it wait, or write elsewhere.
  .filter((key) => /^[a-z]/.test(key) && !['region', 'record', 'recorded', 'fail', 'nccl_hang'].includes(key));
/** Each takes a second or two. */
const METRICS = [
  'OH-002',
  'OH-003',
  'OH-005',
  'IS-005',
  'IS-010',
  'LLM-002',
  'SCHED-003',
  'START-002',
  'START-005',
  'FRAG-002',
];
const SHORT_WAIT = ['--timeout', '20'];
const few = ['--iterations', '5', '--warmup', '1', '--seed', '1', '--simulate'];
const TWO = ['--system', 'native', '--system', 'native:name=again'];

/** A command that measures; its document is x.json. */
function measuring(choices) {
  const document = ['--json', 'x.json'];
  const once = ['--rounds', '1', '--tier', 'quick'];
  return choices.oneOf([
    () => ['run', ...choices.some(METRICS, 2), ...few, ...SHORT_WAIT, ...document],
    () => ['run', ...choices.some(METRICS, 2), ...few, ...SHORT_WAIT, ...document],
    () => ['compare', 'OH-002', ...few, ...once, ...TWO, ...SHORT_WAIT, '--output', 'out', ...document],
    () => ['exec', '--simulate', ...once, '--iterations', '2', '--output', 'out', ...document, '--', '/bin/true'],
  ])();
}

const anyCommand = (choices) =>
  choices.oneOf([
    () => measuring(choices),
    () => measuring(choices),
    () => ['monitor', '--duration', '500ms', '--simulate', '--csv', choices.oneOf(['m.csv', '-'])],
    () => ['profile', '--', '/bin/true'],
    () => ['doctor'],
    () => ['list', '--json', '-'],
    () => ['calibrate', '--tier', 'quick', '--simulate', '--json', choices.oneOf(['rows.json', '-'])],
    // A server that refuses every request: nothing listens on the port.
    () => ['load', 'http://127.0.0.1:9/', '--requests', '5', '--json', choices.oneOf(['x.json', '-'])],
  ])();

const failingCalls = (choices) => ({
  args: measuring(choices),
  sim: `fail=${choices
    .some(functions, 2)
    .map((name) => `${name}:${choices.oneOf(CODES)}@${1 + choices.below(choices.oneOf([1, 10, 300]))}`)
    .join('+')}`,
});

const oddCard = (choices) => ({
  args: measuring(choices),
  sim: choices
    .some(settings, 2)
    .map(
      (key) =>
        `${key}${choices.chance(0.1) ? '@0' : ''}=${choices.oneOf(['0', '1', '2', '7', '100', '-1', 'x', '', '1e9', '4294967296'])}`,
    )
    .join(','),
});

const signalled = (choices) => ({
  args: anyCommand(choices),
  kill: {
    signals: choices.some(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'], 2),
    whom: choices.oneOf(['command', 'command', 'other']),
    afterMs: choices.below(choices.oneOf([300, 3_000])),
  },
});

function badOutput(choices, cwd, { full }) {
  const [command, ...args] = measuring(choices);
  writeFileSync(join(cwd, 'file'), 'kept');
  mkdirSync(join(cwd, 'folder'));
  const bad = ['/dev/full', 'file/x.json', 'folder', 'missing/x.json', ...(full === null ? [] : [join(full, 'x')])];
  const where = choices.oneOf(bad);
  const option = choices.oneOf(['--html', '--markdown', '--csv', '--junit', '--output', '--openmetrics']);
  const end = args.indexOf('--');
  const at = end < 0 ? args.length : end;
  return { args: [command, ...args.slice(0, at), option, where, ...args.slice(at)] };
}

const badStdout = (choices) => ({ args: anyCommand(choices), stdout: choices.oneOf(['closed', 'full', 'unread']) });

function oddEnvironment(choices, cwd) {
  const folder = join(cwd, 'unwritable');
  mkdirSync(folder);
  chmodSync(folder, 0o500);
  const names = [
    'HOME',
    'PATH',
    'LC_ALL',
    'COLUMNS',
    'TERM',
    'CUDA_VISIBLE_DEVICES',
    'CUDA_DEVICE_ORDER',
    'LD_LIBRARY_PATH',
  ];
  const more = [
    'GVB_INTERPOSE',
    'CUDA_MPS_PIPE_DIRECTORY',
    'CUDA_CACHE_PATH',
    'TZ',
    'NO_COLOR',
    'GVB_CHECK_DETAILS',
    'LANG',
  ];
  const env = Object.fromEntries(choices.some([...names, ...more], 4).map((name) => [name, choices.oneOf(ODD_TEXTS)]));
  const place = choices.chance(0.2) ? { TMPDIR: choices.oneOf(['/nonexistent', '/dev/null', folder]) } : {};
  const descriptors = choices.chance(0.3) ? choices.oneOf([20, 24, 30, 40, 64]) : null;
  return { args: anyCommand(choices), env: { ...env, ...place }, descriptors };
}

const kinds = { failingCalls, oddCard, signalled, badOutput, badStdout, oddEnvironment };

/** What is started, and what happens to it. */
export function processCase(choices, cwd, given) {
  mkdirSync(cwd, { recursive: true });
  const kind = choices.oneOf(Object.keys(kinds));
  const made = { env: {}, sim: '', kill: null, stdout: 'read', descriptors: null, ...kinds[kind](choices, cwd, given) };
  const { args, env, sim, kill, stdout, descriptors } = made;
  const described = JSON.stringify({ args, env, sim, kill, stdout, descriptors });
  return {
    kind,
    ...made,
    input: described,
    measured: true,
    documents: [join(cwd, 'x.json'), join(cwd, 'out/summary.json')],
  };
}
