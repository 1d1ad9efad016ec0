// Cases of broken files and options, which run inside one process: nothing is measured.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonRecord, recordNames, recordText } from '../records.js';
import { brokenBytes, brokenDocument, ODD_TEXTS } from './mutations.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LARGEST_RECORD = 60_000;
const FORMATS = ['json', 'markdown', 'html', 'csv', 'junit', 'openmetrics', 'bencher'];
const DRY = ['OH-002', '--simulate', '--dry-run'];
const TWO = ['--system', 'native', '--system', 'native:name=again'];

const records = recordNames()
  .filter((name) => isJsonRecord(name) && statSync(join(root, 'bench/results', name)).size < LARGEST_RECORD)
  .map((name) => ({ name, text: null }));
const textOf = (record) => (record.text ??= recordText(record.name));
const read = (folder, extension) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(extension))
    .map((name) => readFileSync(join(root, folder, name), 'utf8'));
const yamls = read('examples', '.yaml');
const profiles = read('profiles', '.json');

function document(choices, cwd) {
  writeFileSync(join(cwd, 'x.json'), brokenDocument(textOf(choices.oneOf(records)), choices));
  const whole = ['report', 'x.json', '--format', choices.oneOf(FORMATS)];
  const second = () => {
    writeFileSync(join(cwd, 'y.json'), textOf(choices.oneOf(records)));
    return ['report', 'x.json', 'y.json', '--json', 'out.json'];
  };
  return choices.oneOf([
    () => whole,
    () => whole,
    second,
    () => ['report', 'x.json', '--brief'],
    () => ['report', 'x.json', '--json', 'out.json'],
    () => ['gate', 'x.json', '--json', '-'],
    () => ['baseline', 'save', 'b', 'x.json'],
  ])();
}

function yaml(choices, cwd) {
  writeFileSync(join(cwd, 'x.yaml'), brokenBytes(choices.oneOf(yamls), choices));
  return choices.oneOf([
    () => ['compare', ...DRY, '--config', 'x.yaml'],
    () => ['exec', '--simulate', '--dry-run', '--config', 'x.yaml'],
    () => ['compare', ...DRY, ...TWO, '--gate', 'x.yaml'],
    () => {
      writeFileSync(join(cwd, 'x.json'), textOf(choices.oneOf(records)));
      return choices.oneOf([
        ['gate', 'x.json', '--config', 'x.yaml'],
        ['report', 'x.json', '--prices', 'x.yaml'],
      ]);
    },
  ])();
}

function profile(choices, cwd) {
  writeFileSync(join(cwd, 'p.json'), brokenDocument(choices.oneOf(profiles), choices));
  return ['run', 'OH-005', '--simulate', '--dry-run', '--profile', 'p.json'];
}

/** A result directory in which one file is broken or missing. */
function directory(choices, cwd, { directories }) {
  cpSync(choices.oneOf(directories), join(cwd, 'results/r'), { recursive: true });
  const files = readdirSync(join(cwd, 'results/r'), { recursive: true })
    .map((name) => join(cwd, 'results/r', name))
    .filter((path) => statSync(path).isFile());
  const path = choices.oneOf(files);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, path.endsWith('.json') ? brokenDocument(text, choices) : brokenBytes(text, choices));
  return choices.oneOf([
    ['report', 'results/r', '--html', 'r.html'],
    ['report', 'results/r', '--json', 'out.json'],
    ['gate', 'results/r', '--junit', 'g.xml'],
    ['history'],
    ['compare', '--resume', 'results/r', '--dry-run'],
    ['exec', '--resume', 'results/r', '--dry-run'],
  ]);
}

const OPTIONS = {
  run: ['--for', '--device', '--profile', '--output', '--seed', '--tier', '--iterations', '--warmup', '--resolution'],
  compare: [
    '--for',
    '--system',
    '--config',
    '--profile',
    '--rounds',
    '--detect',
    '--max-rounds',
    '--budget',
    '--output',
  ],
  exec: ['--system', '--config', '--name', '--env', '--warmup', '--iterations', '--timeout', '--cool-down', '--rounds'],
  report: ['--profile', '--prices', '--json', '--markdown', '--html', '--csv', '--junit', '--format', '--bencher'],
  gate: ['--config', '--baseline', '--store', '--json', '--junit'],
  history: ['--results', '--store', '--limit'],
};
const MORE = ['--path', '--workload', '--model', '--timeout', '--json', '--format', '--baseline', '--gate', '--resume'];

function options(choices, cwd) {
  const command = choices.oneOf(Object.keys(OPTIONS));
  const measures = ['run', 'compare', 'exec'].includes(command);
  const names = measures ? [...OPTIONS[command], ...MORE] : OPTIONS[command];
  const given = choices.some(names, 3).flatMap((name) => [name, choices.oneOf(ODD_TEXTS)]);
  writeFileSync(join(cwd, 'x.json'), textOf(choices.oneOf(records)));
  const what = choices.chance(0.3)
    ? choices.some(ODD_TEXTS, 2)
    : command === 'report' || command === 'gate'
      ? ['x.json']
      : [];
  const dry = measures ? ['--simulate', '--dry-run'] : [];
  const program = command === 'exec' ? ['--', '/bin/true'] : [];
  return [command, ...what, ...given, ...dry, ...program];
}

const kinds = { document, yaml, profile, directory, options };
const SHARES = ['document', 'document', 'document', 'yaml', 'yaml', 'options', 'options', 'profile', 'directory'];

/** Writes the input into `cwd`: what is run on it, and how it may be described. */
export function inputCase(choices, cwd, given) {
  const kind = choices.oneOf(SHARES);
  mkdirSync(cwd, { recursive: true });
  const args = kinds[kind](choices, cwd, given);
  const input = readdirSync(cwd, { recursive: true })
    .map((name) => join(cwd, name))
    .filter((path) => existsSync(path) && statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
  return { kind, args, input: `${args.join(' ')}\n${input}`, documents: [join(cwd, 'out.json')] };
}
