// Part 5: what follows a comparison: its directory and formats, a baseline, gates that must pass and gates that must
// fail.
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { command, out, values, verdict } from './evidence.js';

const METRICS = ['OH-001', 'OH-003', 'OH-005', 'OH-007', '--rounds', '3', '--tier', 'quick'];
const FORMATS = ['markdown', 'html', 'csv', 'junit', 'openmetrics', 'bencher'];

function layered() {
  const directory = mkdtempSync(join(tmpdir(), 'gvb-'));
  try {
    judged(directory, ['--system', 'native', '--system', `hami-core:library=${resolve(values.hami)},memory=10GiB`]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function judged(directory, systems) {
  const first = join(directory, 'results', 'first');
  const second = join(directory, 'results', 'second');
  const store = ['--store', join(directory, 'baselines')];
  const thresholds = join(directory, 'thresholds.yaml');
  writeFileSync(thresholds, 'maxRegression: 25\nmetrics:\n  OH-005: { maxDifference: 50 }\n');

  const files = FORMATS.flatMap((format) => [`--${format}`, join(out, `reported.${format}`)]);
  const compared = command('reported', ['compare', ...METRICS, ...systems, '--output', first, ...files]);
  const sizes = FORMATS.map((format) => `${format} ${statSync(join(out, `reported.${format}`)).size}`);
  verdict(
    'compare writes every format beside its directory',
    compared.status === 0,
    `exit ${compared.status}; ${sizes.join(', ')} bytes`,
  );
  const names = readdirSync(first).sort().join(' ');
  verdict('its directory', names === 'logs raw report.html report.md summary.json', names);
  cpSync(join(first, 'summary.json'), join(out, 'reported.json'));

  const gate = command('reported-gate', ['gate', first, '--config', thresholds]);
  verdict('a gate of 25 % fails under HAMi-core', gate.status === 3, `exit ${gate.status}`);

  const saved = command('reported-baseline', ['baseline', 'save', 'first', first, ...store]);
  verdict('the baseline is saved', saved.status === 0, `exit ${saved.status}`);
  const against = ['--baseline', 'first', ...store, '--gate', thresholds, '--output', second];
  const again = command('reported-again', ['compare', ...METRICS, ...systems, ...against]);
  verdict('against itself of a minute ago the same gate passes', again.status === 0, `exit ${again.status}`);

  const history = command('reported-history', ['history', '--results', join(directory, 'results'), ...store]);
  verdict(
    'history lists both',
    /first/u.test(history.stdout) && /second/u.test(history.stdout),
    `exit ${history.status}`,
  );
  const merged = command('reported-merged', ['report', first, second]);
  verdict('both sessions merge into one report', merged.status === 0, `exit ${merged.status}`);
}

export const reporting = [[values.hami, layered]];
