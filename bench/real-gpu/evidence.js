// Common code of the steps: options, starting the tool, documents, verdicts.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const text = { type: 'string' };
export const { values } = parseArgs({
  options: {
    tool: text,
    out: text,
    part: text,
    probe: text,
    ptx: text,
    hami: text,
    crippled: text,
    interposer: text,
    vgpu: text,
    patching: text,
    python: text,
    programs: text,
    rounds: text,
  },
});
if (!values.tool || !values.out) {
  console.error('Expected --tool FILE and --out DIR.');
  process.exit(2);
}
const tool = resolve(values.tool);
export const out = resolve(values.out);
mkdirSync(out, { recursive: true });

export const lines = [];
let failed = false;
export const hasFailed = () => failed;

export function verdict(what, passed, detail) {
  failed ||= !passed;
  lines.push(`${passed ? 'yes' : 'no '}  ${what}: ${detail}`);
}

export function start(command, args, env = {}, timeoutSeconds = 590) {
  const began = performance.now();
  const options = { encoding: 'utf8', env: { ...process.env, ...env }, timeout: 1_000 * timeoutSeconds };
  const result = spawnSync(command, args, options);
  return { ...result, seconds: (performance.now() - began) / 1_000 };
}

/** Runs any command of the tool; its output is kept as FILE.txt. */
export function command(name, args, env, timeoutSeconds) {
  const result = start(tool, args, env, timeoutSeconds);
  writeFileSync(join(out, `${name}.txt`), `${result.stdout}\n${result.stderr}`);
  return result;
}

export function run(name, args, env) {
  const path = join(out, `${name}.json`);
  const result = command(name, ['run', ...args, '--json', path], env);
  if (result.status !== 0)
    lines.push(`     ${name}: exit ${result.status}: ${result.stderr.trim().split('\n').at(-1)}`);
  return { document: JSON.parse(readFileSync(path, 'utf8')), seconds: result.seconds };
}

/** `args` selects the systems; the document is read on demand. */
export function compareWith(name, args, { timeoutSeconds } = {}) {
  const path = join(out, `${name}.json`);
  const directory = mkdtempSync(join(tmpdir(), 'gvb-'));
  const output = ['--output', join(directory, 'out'), '--json', path];
  const result = command(name, ['compare', ...args, ...output], {}, timeoutSeconds);
  rmSync(directory, { recursive: true, force: true });
  return { ...result, document: () => JSON.parse(readFileSync(path, 'utf8')) };
}

export const systemsOf = (specs) => specs.flatMap((spec) => ['--system', spec]);
export const compare = (name, systems, args) => compareWith(name, [...args, ...systemsOf(systems)]);

export const metric = (document, id) => document.metrics.find((result) => result.id === id);
/** One line about a result. */
export const describe = ({ id, status, reason }) => `${id} ${status}${reason ? `: ${reason}` : ''}`;
export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** The part of a document's details that a step needs. */
export const functionsOf = (document) =>
  new Map(metric(document, 'OH-005').details.functions.map((row) => [row.name, row]));
